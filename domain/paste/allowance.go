package paste

import (
	"context"
	"errors"
	"fmt"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Allowance bounds what one user may store; 0 is unlimited.
type Allowance struct {
	Pastes int   // active ones
	Bytes  int64 // of content and history of active pastes
	Rate   Quota // of new pastes
}

// Holding is a user's active pastes and their size.
type Holding struct{ Pastes, Bytes int64 }

// ErrAllowance is in the chain of an error about what a user may store.
var ErrAllowance = errors.New("the user's quota is used up")

// Add returns a fault.Forbidden with ErrAllowance in its chain when the allowance has no room for the addition.
func (a Allowance) Add(has, more Holding) error {
	var message string
	switch {
	case a.Pastes > 0 && more.Pastes > 0 && has.Pastes+more.Pastes > int64(a.Pastes):
		message = fmt.Sprintf("You have as many pastes as you may, %d. Delete some, or wait until some have expired.", a.Pastes)
	case a.Bytes > 0 && more.Bytes > 0 && has.Bytes+more.Bytes > a.Bytes:
		message = fmt.Sprintf("With this, your pastes and their history would have more than the %d bytes that they may. Delete some of them.",
			a.Bytes)
	default:
		return nil
	}
	return fault.Wrap(fault.Forbidden, message, ErrAllowance)
}

// Bytes returns how many bytes the content and the history have.
func (c Content) Bytes() int64 { return c.ContentBytes() + c.HistoryBytes() }

// AllowedCreator stores new pastes within an allowance.
type AllowedCreator interface {
	// CreateAllowed is DocumentCreator.CreateDocument within an allowance, and returns the use of its Rate afterwards. Pastes and
	// Bytes bound what the owner has; they do not apply to anonymous pastes. Rate bounds how often a client creates, by the store's
	// clock; it must be the same in all calls, and only a salted hash of the client is kept. Concurrent calls of CreateAllowed and
	// UpdateAllowed cannot exceed the allowance together.
	//
	// It fails with fault.Forbidden as Allowance.Add does, and with fault.Exhausted as Quota.Take does, when there is no room.
	CreateAllowed(ctx context.Context, allowance Allowance, client Client, created Document) (Usage, error)
}

// AllowedUpdater changes pastes within an allowance.
type AllowedUpdater interface {
	// UpdateAllowed is DocumentUpdater.Update on behalf of a user. It fails as Allowance.Add does when the Bytes of the allowance
	// have no room for the paste's growth; 0 is unlimited. It does not limit pastes of other users.
	UpdateAllowed(ctx context.Context, allowance Allowance, editor user.ID, id ID, change func(stored Document) (Change, error)) (
		Document, error)
}
