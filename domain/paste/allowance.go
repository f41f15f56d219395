package paste

import (
	"context"
	"errors"
	"fmt"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Allowance bounds what one user may store; 0 is no bound.
type Allowance struct {
	Pastes int   // active ones
	Bytes  int64 // of content and history of active pastes
	Rate   Quota // of new pastes
}

// Holding is what a user has stored that is active.
type Holding struct{ Pastes, Bytes int64 }

// ErrAllowance is in the chain of an error about what a user may store.
var ErrAllowance = errors.New("the user's quota is used up")

// Add fails with a fault.Forbidden and ErrAllowance in its chain when a user who has that much may not store as much more.
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

// AllowedCreator stores new pastes of those who may not have any number of them.
type AllowedCreator interface {
	// CreateAllowed does what DocumentCreator.CreateDocument does, if the allowance has room for the paste, and returns what is used of
	// its Rate then. Pastes and Bytes bound what the owner has, and nothing where there is none. Rate bounds how often a client
	// creates, which is to be the same in all calls, by the store's clock; of the client no more than a salted hash is kept. The zero
	// Allowance bounds nothing. However many calls of CreateAllowed and UpdateAllowed there are at once, nobody has more.
	//
	// It fails with fault.Forbidden as Allowance.Add does, and with fault.Exhausted as Quota.Take does, when there is no room.
	CreateAllowed(ctx context.Context, allowance Allowance, client Client, created Document) (Usage, error)
}

// AllowedUpdater changes pastes of users who may not have any number of bytes.
type AllowedUpdater interface {
	// UpdateAllowed does what DocumentUpdater.Update does on behalf of a user, if the Bytes of the allowance have room for what the
	// paste grows by; 0 bounds nothing. It fails as Allowance.Add does when they have not. Pastes of other users count for nothing.
	UpdateAllowed(ctx context.Context, allowance Allowance, editor user.ID, id ID, change func(stored Document) (Change, error)) (
		Document, error)
}
