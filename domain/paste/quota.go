package paste

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Quota bounds how many pastes one client may create: Pastes at once, then one more in each Window/Pastes. This is the
// generic cell rate algorithm (ITU-T I.371), which stores one instant for each client. The zero Quota is no bound.
type Quota struct {
	Pastes int
	Window time.Duration // at least a microsecond for each of them
	Signed bool          // it is the quota of a signed-in user
}

// Interval is how long it takes until one more may be created. It is whole microseconds, which all stores keep.
func (q Quota) Interval() time.Duration {
	if q.Pastes == 0 {
		return 0
	}
	return (q.Window / time.Duration(q.Pastes)).Truncate(time.Microsecond)
}

// Take counts a paste if there is room. full is how long it takes until the client's quota is whole again, and Take
// returns that time as it is afterwards. A full beyond two windows is from before the clock was put back, and is
// ignored. Take fails with fault.Exhausted and a *QuotaError in the chain when there is no room.
func (q Quota) Take(full time.Duration) (time.Duration, error) {
	if full < 0 || full > 2*q.Window {
		full = 0
	}
	if retry := full - time.Duration(q.Pastes-1)*q.Interval(); retry > 0 {
		message := "You have made as many anonymous pastes as you may. Try again later, or create one with an access token."
		if q.Signed {
			message = "You have created as many pastes in an hour as you may. Try again later."
		}
		return 0, fault.Wrap(fault.Exhausted, message, &QuotaError{q, retry})
	}
	return full + q.Interval(), nil
}

// Usage is how much of a quota a client has used. The zero Usage is that of no quota.
type Usage struct {
	Quota
	Full time.Duration // until the client has the whole quota again
}

// Left returns how many pastes the client may create now.
func (u Usage) Left() int {
	if u.Interval() == 0 {
		return 0
	}
	return max(u.Pastes-int((u.Full+u.Interval()-1)/u.Interval()), 0)
}

// QuotaError is the error for a paste beyond the quota.
type QuotaError struct {
	Quota Quota
	Retry time.Duration // until one more may be created
}

// Usage returns what the client has used.
func (e *QuotaError) Usage() Usage {
	return Usage{e.Quota, e.Retry + time.Duration(e.Quota.Pastes-1)*e.Quota.Interval()}
}

// Error implements error.
func (e *QuotaError) Error() string { return "one more is allowed in " + e.Retry.String() }

// Client says whose quota a paste counts for, such as an address.
type Client string

// ClientAt is a visitor at an address as a client. All visitors without an address are one.
func ClientAt(address netip.Addr) Client {
	if !address.IsValid() {
		return ""
	}
	return Client(ClientNetwork(address).String())
}

// ClientNetwork returns the part of an address that a client cannot choose: of IPv6, the first 64 bits.
func ClientNetwork(address netip.Addr) netip.Addr {
	if address = address.Unmap(); address.Is6() {
		network, _ := address.WithZone("").Prefix(64) // which every such address has
		address = network.Addr()
	}
	return address
}

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
		message = fmt.Sprintf("You have as many pastes as you may, %d. Delete some, or wait until some have expired.",
			a.Pastes)
	case a.Bytes > 0 && more.Bytes > 0 && has.Bytes+more.Bytes > a.Bytes:
		message = fmt.Sprintf(
			"With this, your pastes and their history would have more than the %d bytes that they may. Delete some of them.",
			a.Bytes)
	default:
		return nil
	}
	return fault.Wrap(fault.Forbidden, message, ErrAllowance)
}
