package moderation

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// page is how many rows one statement scans.
const page = 1000

// List finds pastes of all users.
type List struct{ *module }

// Do calls visit with at most limit pastes after a place that match the filter, newest first; 0 is no limit. Owner names a user
// as for user.Find; empty: the filter's. Nothing in the store waits for visit, whose error ends the list and is returned. It also
// fails as user.Find does.
func (l *List) Do(
	ctx context.Context, owner string, filter moderation.Filter, after paste.Place, limit int, visit func(moderation.Found) error,
) error {
	if owner != "" {
		found, err := user.Find(ctx, l.users, owner)
		if err != nil {
			return err
		}
		filter.Owner = found.ID
	}
	for shown := 0; ; {
		found, last, err := l.store.Pastes(ctx, filter, after, page)
		if err != nil {
			return err
		}
		for _, one := range found {
			if err := visit(one); err != nil {
				return err
			}
			if shown++; shown == limit {
				return nil
			}
		}
		if last == (paste.Place{}) {
			return nil
		}
		after = last
	}
}

// ListAudit lists what operators and administrators have done.
type ListAudit struct{ *module }

// Do calls visit with the first entries after one, newest first, at most limit of them; 0 is no limit. The zero Entry is before all
// of them.
func (l *ListAudit) Do(ctx context.Context, after audit.Entry, limit int, visit func(audit.Entry) error) error {
	return each(func(after audit.Entry) ([]audit.Entry, error) { return l.store.Entries(ctx, after, page) }, after, limit, visit)
}

// each calls visit with at most limit entries, which more returns page by page; 0 is no limit.
func each[T any](more func(after T) ([]T, error), after T, limit int, visit func(T) error) error {
	for shown := 0; ; {
		found, err := more(after)
		if err != nil {
			return err
		}
		for _, after = range found {
			if err := visit(after); err != nil {
				return err
			}
			if shown++; shown == limit {
				return nil
			}
		}
		if len(found) < page {
			return nil
		}
	}
}
