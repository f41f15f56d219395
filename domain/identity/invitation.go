package identity

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
)

// InvitationID identifies an invitation without giving it away.
type InvitationID string

// Invitation allows signing up with its code. Only the code's hash is stored.
type Invitation struct {
	ID        InvitationID
	Hash      Hash
	Uses      int // that are left
	Note      string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// ErrUsedUp is the fault.Forbidden for an invitation that is unknown, used up, expired or revoked alike.
var ErrUsedUp = fault.New(fault.Forbidden, "The invitation is not valid any more. Ask for another one.")

// ValidAt reports whether a newcomer may still sign up with the invitation.
func (i Invitation) ValidAt(now time.Time) bool { return i.Uses > 0 && now.Before(i.ExpiresAt) }

// Inviter stores invitations.
type Inviter interface {
	// Invite stores an invitation. It fails with fault.Conflict when the id or the hash is taken, ident.ErrTaken being in the
	// error's chain when it is the id.
	Invite(ctx context.Context, entry auditlog.Entry, created Invitation) error
	// Revoke removes the invitation with that id. It fails with fault.NotFound when there is none.
	Revoke(ctx context.Context, entry auditlog.Entry, id InvitationID) error
}

// InvitationFinder finds invitations.
type InvitationFinder interface {
	// InvitationByHash returns the invitation with that hash, valid or not. It fails with fault.NotFound when there is none.
	InvitationByHash(ctx context.Context, hash Hash) (Invitation, error)
	// Invitations returns all invitations, the oldest first.
	Invitations(ctx context.Context) ([]Invitation, error)
}
