package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// EditOwn changes a paste of a signed-in user.
type EditOwn struct {
	pastes paste.DocumentUpdater
	own    own
	rules  paste.Rules
}

// Do changes the paste with that id, which belongs to the secret's owner, and returns it: see paste.Rules.Edit.
//
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked; then with
// paste.ErrNotFound when there is no such paste, it has expired, is encrypted, or is not the owner's; then with a
// fault.Invalid that names the first field that breaks a rule; and with fault.Unavailable when the store does not answer.
func (e *EditOwn) Do(ctx context.Context, presented, id string, changes paste.Changes) (paste.Document, error) {
	return e.do(ctx, presented, id, func(stored paste.Document, at time.Time) (paste.Change, error) {
		return e.rules.Edit(stored, changes, at)
	})
}

// Refuse returns the error to answer a request with that holds no changes, because of cause: that of a secret or id
// with which Do would fail, otherwise cause.
func (e *EditOwn) Refuse(ctx context.Context, presented, id string, cause error) error {
	_, err := e.do(ctx, presented, id, func(paste.Document, time.Time) (paste.Change, error) { return paste.Change{}, cause })
	return err
}

func (e *EditOwn) do(
	ctx context.Context, presented, id string, change func(stored paste.Document, at time.Time) (paste.Change, error),
) (edited paste.Document, err error) {
	err = e.own.write(ctx, presented, id, func(hash token.Hash, at time.Time, admit func(token.Token) error) (err error) {
		edited, err = e.pastes.Update(ctx, paste.ID(id), hash, func(holder token.Token, stored paste.Document) (paste.Change, error) {
			if err := admit(holder); err != nil {
				return paste.Change{}, err
			}
			if err := stored.EditableBy(holder.Owner); err != nil {
				return paste.Change{}, err
			}
			return change(stored, at)
		})
		return err
	})
	return edited, err
}

// Edit changes any paste.
type Edit struct {
	pastes paste.DocumentUpdater
	rules  paste.Rules
	now    func() time.Time
}

// Do changes the paste with that id and returns it: see paste.Rules.Edit. It fails with paste.ErrNotFound when there is
// none or it has expired, with fault.Invalid when it is encrypted or a field breaks a rule, and with fault.Unavailable
// when the store does not answer.
func (e *Edit) Do(ctx context.Context, id string, changes paste.Changes) (paste.Document, error) {
	edited, err := e.pastes.Update(ctx, paste.ID(id), token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
		switch {
		case stored.ID == "":
			return paste.Change{}, paste.ErrNotFound
		case stored.Encrypted():
			return paste.Change{}, errEncrypted
		}
		return e.rules.Edit(stored, changes, e.now())
	})
	return edited, paste.Gone(err)
}

// errEncrypted is for operators, who may know that the paste is there.
var errEncrypted = fault.New(fault.Invalid, "The paste is encrypted: it can be deleted, but not edited.")
