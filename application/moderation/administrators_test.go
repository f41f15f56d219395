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

// errCalled is the error of every store here. A use case that returns it has allowed the actor.
var errCalled = errors.New("the store was called")

type calledStore struct{ moderation.Store }

func (calledStore) Pastes(context.Context, moderation.Filter,
	paste.Cursor, int) ([]moderation.Paste, paste.Cursor, error) {
	return nil, paste.Cursor{}, errCalled
}

func (calledStore) AccountOf(context.Context, user.ID) (moderation.Account, error) {
	return moderation.Account{}, errCalled
}

func (calledStore) Origin(context.Context, paste.ID) (netip.Addr, error) {
	return netip.Addr{}, errCalled
}

func (calledStore) Remove(context.Context, auditlog.Entry, paste.ID, string) error { return errCalled }

func (calledStore) Restore(context.Context, auditlog.Entry, paste.ID) error { return errCalled }

func (calledStore) Block(context.Context, auditlog.Entry, moderation.Block) error { return errCalled }

func (calledStore) Unblock(context.Context, auditlog.Entry, netip.Prefix) error { return errCalled }

func (calledStore) Blocks(context.Context) ([]moderation.Block, error) { return nil, errCalled }

func (calledStore) Reports(context.Context, moderation.Report, int) ([]moderation.Report, error) {
	return nil, errCalled
}

func (calledStore) CloseReport(context.Context, auditlog.Entry, string) error { return errCalled }

func (calledStore) Entries(context.Context, auditlog.Entry, int) ([]auditlog.Entry, error) {
	return nil, errCalled
}

func (calledStore) Accounts(
	context.Context, moderation.AccountFilter, moderation.Order, moderation.AccountCursor, int,
) ([]moderation.Account, error) {
	return nil, errCalled
}

type calledUsers struct{ user.Store }

func (calledUsers) ByName(context.Context, user.Name) (user.User, error) {
	return user.User{}, errCalled
}

func (calledUsers) ByID(context.Context, user.ID) (user.User, error) { return user.User{}, errCalled }

// TestAdministratorsOnly calls, as every kind of actor, what only the operator and administrators may call.
func TestAdministratorsOnly(t *testing.T) {
	t.Parallel()
	admin := token.Viewer{User: user.User{ID: "root", Admin: true}}
	readOnly, suspended := admin, admin
	readOnly.Token.Scope, suspended.User.Suspended = token.Read, true
	ofViewer := func(v token.Viewer) audit.Actor { return audit.By(v, netip.Addr{}) }
	for name, c := range map[string]struct {
		actor       audit.Actor
		see, change error // unless there is a kind
		kind        fault.Kind
	}{
		"nobody":  {actor: audit.Actor{}, kind: fault.Forbidden},
		"visitor": {actor: ofViewer(token.Viewer{}), see: token.ErrRejected, change: token.ErrRejected},
		"administrator without an id": {
			actor: ofViewer(token.Viewer{User: user.User{Admin: true}}), see: token.ErrRejected, change: token.ErrRejected,
		},
		"user":             {actor: ofViewer(token.Viewer{User: user.User{ID: "epoxy"}}), kind: fault.Forbidden},
		"suspended":        {actor: ofViewer(suspended), see: token.ErrSuspended, change: token.ErrSuspended},
		"read-only token":  {actor: ofViewer(readOnly), see: errCalled, change: readOnly.MayWrite()},
		"administrator":    {actor: ofViewer(admin), see: errCalled, change: errCalled},
		"operator's shell": {actor: audit.Operator(), see: errCalled, change: errCalled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := func(what string, err, target error) {
				t.Helper()
				if c.kind != fault.None && !fault.Is(err, c.kind) || c.kind == fault.None && !errors.Is(err, target) {
					t.Errorf("%s: got %v, want %v or the kind %v", what, err, target, c.kind)
				}
			}
			use := New(calledStore{}, calledUsers{}, nil, nil, nil, time.Now)
			for what, err := range readErrors(t.Context(), use, c.actor) {
				want(what, err, c.see)
			}
			for what, err := range changeErrors(t.Context(), use, c.actor) {
				want(what, err, c.change)
			}
		})
	}
}

// readErrors calls everything that reads for moderation, and returns the errors.
func readErrors(ctx context.Context, use *UseCases, actor audit.Actor) map[string]error {
	errs := map[string]error{
		"List":       use.List.Do(ctx, actor, "", moderation.Filter{}, paste.Cursor{}, 0, nil),
		"List.Of":    use.List.Do(ctx, actor, "epoxy", moderation.Filter{}, paste.Cursor{}, 0, nil),
		"ListAudit":  use.ListAudit.Do(ctx, actor, auditlog.Entry{}, 0, nil),
		"Report.All": use.Report.All(ctx, actor, 0, nil),
	}
	_, errs["Block.All"] = use.Block.All(ctx, actor)
	_, errs["Origin"] = use.Origin.Do(ctx, actor, "id")
	_, errs["ShowAccount"] = use.ShowAccount.Do(ctx, actor, "epoxy")
	_, errs["ListAccounts"] = use.ListAccounts.Do(
		ctx, actor, moderation.AccountFilter{}, moderation.ByName, moderation.AccountCursor{}, 1)
	return errs
}

// changeErrors calls everything that moderates, and returns the errors.
func changeErrors(ctx context.Context, use *UseCases, actor audit.Actor) map[string]error {
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

// TestAccountsByName checks that a name that no user can have is refused.
func TestAccountsByName(t *testing.T) {
	t.Parallel()
	use := New(nil, nil, nil, nil, nil, time.Now)
	filter := moderation.AccountFilter{Name: "\x00"}
	_, err := use.ListAccounts.Do(t.Context(), audit.Operator(), filter, moderation.ByName, moderation.AccountCursor{}, 1)
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want fault.Invalid", err)
	}
}
