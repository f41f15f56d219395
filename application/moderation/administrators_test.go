package moderation

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// errAsked is the answer of a store that was asked, so the use case allowed the actor.
var errAsked = errors.New("asked")

type askedStore struct{ moderation.Store }

func (askedStore) Pastes(context.Context, moderation.Filter,
	paste.Cursor, int) ([]moderation.Paste, paste.Cursor, error) {
	return nil, paste.Cursor{}, errAsked
}

func (askedStore) UsageOf(context.Context, user.ID) (moderation.Usage, error) {
	return moderation.Usage{}, errAsked
}

func (askedStore) Origin(context.Context, paste.ID) (netip.Addr, error) {
	return netip.Addr{}, errAsked
}

func (askedStore) Remove(context.Context, auditlog.Entry, paste.ID, string) error { return errAsked }

func (askedStore) Restore(context.Context, auditlog.Entry, paste.ID) error { return errAsked }

func (askedStore) Block(context.Context, auditlog.Entry, moderation.Block) error { return errAsked }

func (askedStore) Unblock(context.Context, auditlog.Entry, netip.Prefix) error { return errAsked }

func (askedStore) Blocks(context.Context) ([]moderation.Block, error) { return nil, errAsked }

func (askedStore) Reports(context.Context, moderation.Report, int) ([]moderation.Report, error) {
	return nil, errAsked
}

func (askedStore) CloseReport(context.Context, auditlog.Entry, string) error { return errAsked }

func (askedStore) Entries(context.Context, auditlog.Entry, int) ([]auditlog.Entry, error) {
	return nil, errAsked
}

func (askedStore) Accounts(
	context.Context, moderation.AccountFilter, moderation.Order, moderation.AccountCursor, int,
) ([]moderation.Account, error) {
	return nil, errAsked
}

type askedUsers struct{ user.Store }

func (askedUsers) ByName(context.Context, user.Name) (user.User, error) { return user.User{}, errAsked }

func (askedUsers) ByID(context.Context, user.ID) (user.User, error) { return user.User{}, errAsked }

// TestAdministratorsOnly has every kind of actor ask for what only the operator and administrators may see and do.
func TestAdministratorsOnly(t *testing.T) {
	t.Parallel()
	admin := token.Viewer{User: user.User{ID: "root", Admin: true}}
	readOnly, suspended := admin, admin
	readOnly.Token.Scope, suspended.User.Suspended = token.Read, true
	ofViewer := func(v token.Viewer) audit.Actor { return audit.By(v, netip.Addr{}) }
	for name, c := range map[string]struct {
		actor       audit.Actor
		see, change error // nil: the store is asked
		kind        fault.Kind
	}{
		"nobody":  {actor: audit.Actor{}, kind: fault.Forbidden},
		"visitor": {actor: ofViewer(token.Viewer{}), see: token.ErrRejected, change: token.ErrRejected},
		"administrator without an id": {
			actor: ofViewer(token.Viewer{User: user.User{Admin: true}}), see: token.ErrRejected, change: token.ErrRejected,
		},
		"user":             {actor: ofViewer(token.Viewer{User: user.User{ID: "epoxy"}}), kind: fault.Forbidden},
		"suspended":        {actor: ofViewer(suspended), see: token.ErrSuspended, change: token.ErrSuspended},
		"read-only token":  {actor: ofViewer(readOnly), see: errAsked, change: readOnly.MayWrite()},
		"administrator":    {actor: ofViewer(admin), see: errAsked, change: errAsked},
		"operator's shell": {actor: audit.Operator(), see: errAsked, change: errAsked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := func(what string, err, wanted error) {
				t.Helper()
				if c.kind != fault.None && !fault.Is(err, c.kind) || c.kind == fault.None && !errors.Is(err, wanted) {
					t.Errorf("%s: got %v, want %v or the kind %v", what, err, wanted, c.kind)
				}
			}
			use := New(askedStore{}, askedUsers{}, nil, nil, nil, time.Now)
			for what, err := range seen(t.Context(), use, c.actor) {
				want(what, err, c.see)
			}
			for what, err := range changed(t.Context(), use, c.actor) {
				want(what, err, c.change)
			}
		})
	}
}

// seen returns the errors of all that is read for moderation.
func seen(ctx context.Context, use *UseCases, actor audit.Actor) map[string]error {
	errs := map[string]error{
		"List":       use.List.Do(ctx, actor, "", moderation.Filter{}, paste.Cursor{}, 0, nil),
		"List.Of":    use.List.Do(ctx, actor, "epoxy", moderation.Filter{}, paste.Cursor{}, 0, nil),
		"ListAudit":  use.ListAudit.Do(ctx, actor, auditlog.Entry{}, 0, nil),
		"Report.All": use.Report.All(ctx, actor, 0, nil),
	}
	_, errs["Block.All"] = use.Block.All(ctx, actor)
	_, errs["ShowUsage"] = use.ShowUsage.Do(ctx, actor, "epoxy")
	_, errs["Origin"] = use.Origin.Do(ctx, actor, "id")
	_, errs["ShowAccount"] = use.ShowAccount.Do(ctx, actor, "epoxy")
	_, errs["ListAccounts"] = use.ListAccounts.Do(
		ctx, actor, moderation.AccountFilter{}, moderation.ByName, moderation.AccountCursor{}, 1)
	return errs
}

// changed returns the errors of all that moderation changes.
func changed(ctx context.Context, use *UseCases, actor audit.Actor) map[string]error {
	errs := map[string]error{
		"Remove":       use.Remove.Do(ctx, actor, "id", "spam"),
		"Remove.Undo":  use.Remove.Undo(ctx, actor, "id"),
		"Report.Close": use.Report.Close(ctx, actor, "id"),
	}
	_, _, errs["Suspend"] = use.Suspend.Do(ctx, actor, "epoxy", "spam", true)
	_, _, errs["Suspend.Undo"] = use.Suspend.Undo(ctx, actor, "epoxy")
	_, errs["Block"] = use.Block.Do(ctx, actor, "192.0.2.0/24", "spam", 0)
	_, errs["Block.Undo"] = use.Block.Undo(ctx, actor, "192.0.2.0/24")
	return errs
}

// TestAccountsByName refuses a name that no user can have.
func TestAccountsByName(t *testing.T) {
	t.Parallel()
	use := New(nil, nil, nil, nil, nil, time.Now)
	filter := moderation.AccountFilter{Name: "\x00"}
	_, err := use.ListAccounts.Do(t.Context(), audit.Operator(), filter, moderation.ByName, moderation.AccountCursor{}, 1)
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want fault.Invalid", err)
	}
}
