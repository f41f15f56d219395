// Package moderation has the use cases of the operators of a public service. Each fails with fault.Unavailable when the
// store does not answer.
package moderation

import (
	"context"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what operators and administrators can ask for.
type UseCases struct {
	List      *List
	Remove    *Remove
	Suspend   *Suspend
	Block     *Block
	Report    *Report
	Origin    *Origin
	ListAudit *ListAudit

	ListAccounts *ListAccounts
	ShowAccount  *ShowAccount
}

// module is what the use cases share.
type module struct {
	store     moderation.Store
	users     user.Store
	sessions  token.Store
	languages language.Catalogue
	notify    notice.Func // of new reports
	now       func() time.Time
}

// New returns the use cases over their ports.
func New(
	store moderation.Store, users user.Store, sessions token.Store, languages language.Catalogue, notify notice.Func,
	now func() time.Time,
) *UseCases {
	m := &module{store: store, users: users, sessions: sessions, languages: languages, notify: notify, now: now}
	return &UseCases{
		List:      &List{m},
		Remove:    &Remove{m},
		Suspend:   &Suspend{m},
		Block:     &Block{m},
		Report:    &Report{m},
		Origin:    &Origin{m},
		ListAudit: &ListAudit{m},

		ListAccounts: &ListAccounts{m},
		ShowAccount:  &ShowAccount{m},
	}
}

var (
	errNotRemoved = fault.New(fault.NotFound, "There is no removed paste with that id, or its content is gone. Pastes "+
		"hidden by a suspension return when it ends.")
	errNoOrigin = fault.New(fault.NotFound, "No address is stored for that paste. GLUEPOT_ORIGIN_RETENTION says how "+
		"long addresses are kept.")
)

// Remove removes pastes for moderation, and restores them.
type Remove struct{ *module }

// Do removes the paste with that id: see moderation.Store.Remove. It fails with fault.Invalid without a reason, and
// with paste.ErrNotFound when no such paste is active.
func (r *Remove) Do(ctx context.Context, actor audit.Actor, id, reason string) error {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return err
	}
	if err := moderation.ValidateReason(reason); err != nil {
		return err
	}
	return paste.ReplaceNotFound(r.store.Remove(ctx, actor.Entry("paste.remove", id, reason), paste.ID(id), reason))
}

// Undo restores the paste with that id. It fails with fault.NotFound when there is none that was removed and is still
// kept.
func (r *Remove) Undo(ctx context.Context, actor audit.Actor, id string) error {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return err
	}
	err := r.store.Restore(ctx, actor.Entry("paste.restore", id, ""), paste.ID(id))
	return fault.Replace(err, fault.NotFound, errNotRemoved)
}

// Origin tells where a paste came from.
type Origin struct{ *module }

// Do returns the address that the paste with that id was created from, also when the paste is gone. It fails with
// fault.NotFound when none is kept.
func (o *Origin) Do(ctx context.Context, actor audit.Actor, id string) (netip.Addr, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return netip.Addr{}, err
	}
	address, err := o.store.Origin(ctx, paste.ID(id))
	return address, fault.Replace(err, fault.NotFound, errNoOrigin)
}
