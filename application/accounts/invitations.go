package accounts

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
)

// Invitations makes, shows and revokes invitations.
type Invitations struct{ *module }

// Limits of an invitation.
const (
	maxUses = 10_000
	maxNote = 256 // bytes
)

// Do returns a new invitation, and its code, which is not kept. It fails with fault.Forbidden unless the actor is the
// operator or an administrator, and with fault.Invalid when the uses, the time or the note are outside their bounds.
func (i *Invitations) Do(
	ctx context.Context, actor audit.Actor, uses int, expiresIn time.Duration, note string,
) (_ identity.Invitation, code string, err error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return identity.Invitation{}, "", err
	}
	switch {
	case uses < 1 || uses > maxUses:
		err = fault.New(fault.Invalid, "An invitation must allow 1 to 10000 uses.")
	case expiresIn <= 0:
		err = fault.New(fault.Invalid, "The invitation would already have expired. Choose a positive time.")
	case !ident.Printable(note, maxNote):
		err = fault.New(fault.Invalid, "The note must be printable text of at most 256 bytes.")
	}
	if err != nil {
		return identity.Invitation{}, "", err
	}
	code = rand.Text()
	now := i.now()
	invitation := identity.Invitation{Hash: identity.HashOf(code), Uses: uses, Note: note, CreatedAt: now,
		ExpiresAt: now.Add(expiresIn)}
	err = ident.Draw(func(id identity.InvitationID) error {
		invitation.ID = id
		return i.store.StoreInvitation(ctx, actor.Entry("invite.create", string(id), note), invitation)
	})
	return invitation, code, err
}

// Show returns the invitation with that code. It fails with identity.ErrInvitation when it is not valid.
func (i *Invitations) Show(ctx context.Context, code string) (identity.Invitation, error) {
	invitation, err := i.store.InvitationByHash(ctx, identity.HashOf(code))
	if fault.Is(err, fault.NotFound) || err == nil && !invitation.ValidAt(i.now()) {
		return identity.Invitation{}, identity.ErrInvitation
	}
	return invitation, err
}

// All returns all invitations, oldest first. It fails as audit.Actor.CheckAdministrator does.
func (i *Invitations) All(ctx context.Context, actor audit.Actor) ([]identity.Invitation, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return nil, err
	}
	return i.store.Invitations(ctx)
}

var errNoInvitation = fault.New(fault.NotFound, "There is no such invitation.")

// Revoke removes the invitation with that id or code, and returns its id. It fails with fault.Forbidden unless the
// actor is the operator or an administrator, and with fault.NotFound when there is none.
func (i *Invitations) Revoke(
	ctx context.Context, actor audit.Actor, reference string,
) (identity.InvitationID, error) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return "", err
	}
	id := identity.InvitationID(reference)
	invitation, err := i.store.InvitationByHash(ctx, identity.HashOf(reference))
	switch {
	case err == nil:
		id = invitation.ID
	case !fault.Is(err, fault.NotFound):
		return "", err
	}
	err = i.store.RemoveInvitation(ctx, actor.Entry("invite.revoke", string(id), ""), id)
	return id, fault.Replace(err, fault.NotFound, errNoInvitation)
}
