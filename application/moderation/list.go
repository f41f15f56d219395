package moderation

import (
	"context"
	"fmt"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// page is how many rows one statement scans.
const page = 1000

// List finds pastes of all users.
type List struct{ *module }

// Do calls visit with at most limit pastes after a place that match the filter, newest first; 0 means no limit. owner
// names a user as for user.Find; when it is empty, the filter's Owner counts. The filter's Language can be as
// language.Find takes it. It fails as user.Find does, with fault.Invalid for a language that there is not, and with an
// error of visit.
func (l *List) Do(
	ctx context.Context, actor audit.Actor, owner string, filter moderation.Filter, after paste.Cursor, limit int,
	visit func(moderation.Paste) error,
) error {
	if err := actor.CheckAdministrator(); err != nil {
		return err
	}
	if owner != "" {
		account, err := user.Find(ctx, l.users, owner)
		if err != nil {
			return err
		}
		filter.Owner = account.ID
	}
	if filter.Language != "" {
		match, ok := language.Find(l.languages, filter.Language)
		if !ok {
			return fault.New(fault.Invalid, fmt.Sprintf("There is no language %q. Give a name, an alias or an extension.",
				filter.Language))
		}
		filter.Language = match.Name
	}
	more := func(after paste.Cursor) ([]moderation.Paste, paste.Cursor, error) {
		return l.store.Pastes(ctx, filter, after, page)
	}
	return batch.Each(after, limit, more, visit)
}

// ListAudit lists what operators and administrators have done.
type ListAudit struct{ *module }

// Do calls visit with at most limit entries after one, newest first; 0 means no limit. The zero Entry is before all of
// them.
func (l *ListAudit) Do(
	ctx context.Context, actor audit.Actor, after auditlog.Entry, limit int, visit func(auditlog.Entry) error,
) error {
	if err := actor.CheckAdministrator(); err != nil {
		return err
	}
	return batch.Each(after, limit, func(after auditlog.Entry) ([]auditlog.Entry, auditlog.Entry, error) {
		entries, err := l.store.Entries(ctx, after, page)
		return entries, batch.Last(entries, page), err
	}, visit)
}
