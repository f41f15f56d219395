package paste

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Quota bounds how many pastes one client may create: Pastes at once, then one more in each Window/Pastes. This is the generic
// cell rate algorithm (ITU-T I.371), which stores one instant for each client. The zero Quota is no bound.
type Quota struct {
	Pastes int
	Window time.Duration // at least a microsecond for each of them
	Signed bool          // it is that of a signed-in user
}

// Interval is how long it takes until one more may be created. It is whole microseconds, which all stores keep.
func (q Quota) Interval() time.Duration {
	if q.Pastes == 0 {
		return 0
	}
	return (q.Window / time.Duration(q.Pastes)).Truncate(time.Microsecond)
}

// Take counts a paste of a client whose quota is whole again at full, if there is room, and returns the use afterwards. A full
// beyond one window is from before the clock was put back, and is ignored. It fails with fault.Exhausted and a *QuotaError in
// the chain when it has not.
func (q Quota) Take(full time.Duration) (Usage, error) {
	if full > 2*q.Window {
		full = 0
	}
	used := Usage{q, max(full, 0)}
	if used.Left() == 0 {
		return Usage{}, used.Refused()
	}
	used.Full += q.Interval()
	return used, nil
}

// Usage is what a client has used of its quota. The zero Usage is of a client that is not limited.
type Usage struct {
	Quota
	Full time.Duration // until the client has the whole quota again
}

// Left returns how many pastes the client may create now, which is math.MaxInt without a quota.
func (u Usage) Left() int {
	if u.Interval() == 0 {
		return math.MaxInt
	}
	return max(u.Pastes-int((u.Full+u.Interval()-1)/u.Interval()), 0)
}

// Retry returns how long it takes until the client may create one, which is 0 when it may now.
func (u Usage) Retry() time.Duration {
	return max(u.Full-time.Duration(u.Pastes-1)*u.Interval(), 0)
}

// Refused is the error for a client that has nothing left.
func (u Usage) Refused() error {
	message := "You have created as many pastes without an access token as you may. Try again later, or with a token."
	if u.Signed {
		message = "You have created as many pastes in an hour as you may. Try again later."
	}
	return fault.Wrap(fault.Exhausted, message, &QuotaError{u})
}

// QuotaError is the error for a paste beyond the quota.
type QuotaError struct{ Usage Usage }

// Error implements error.
func (e *QuotaError) Error() string { return "one more is allowed in " + e.Usage.Retry().String() }

// Client says whose quota a paste counts for, such as an address.
type Client string

// ClientOf is a signed-in user as a client.
func ClientOf(id user.ID) Client { return Client("user " + id) }

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
