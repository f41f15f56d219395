package identity

import (
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// InvitationID identifies an invitation without giving it away.
type InvitationID string

// Invitation allows signing up with its code. Only the code's hash is stored.
type Invitation struct {
	ID        InvitationID
	Hash      Hash
	Uses      int // remaining
	Note      string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// ErrInvitation is the fault.Forbidden for an invitation that is unknown, used up, expired or revoked.
var ErrInvitation = fault.New(fault.Forbidden, "This invitation is no longer valid. Ask for a new one.")

// ValidAt reports whether a newcomer may still sign up with the invitation.
func (i Invitation) ValidAt(now time.Time) bool { return i.Uses > 0 && now.Before(i.ExpiresAt) }
