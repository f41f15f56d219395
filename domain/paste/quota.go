package paste

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Quota bounds how many pastes one client may create: Pastes at once, then one more every Window/Pastes. This is the
// generic cell rate algorithm (ITU-T I.371), which stores one time for each client. The zero Quota sets no bound.
type Quota struct {
	Pastes int
	Window time.Duration // at least a microsecond for each paste
	Signed bool          // whether it is the quota of a signed-in user
}

// Interval returns how long it takes until one more may be created, in whole microseconds, which all stores keep.
func (q Quota) Interval() time.Duration {
	if q.Pastes == 0 {
		return 0
	}
	return (q.Window / time.Duration(q.Pastes)).Truncate(time.Microsecond)
}

// Take counts a paste. full is how long it takes until the client has the whole quota again; Take returns its new
// value. It ignores a full beyond two windows, which is from before the clock was set back. It fails with a
// fault.Exhausted that wraps a *QuotaError when the quota is used up.
func (q Quota) Take(full time.Duration) (time.Duration, error) {
	if full < 0 || full > 2*q.Window {
		full = 0
	}
	if retry := full - time.Duration(q.Pastes-1)*q.Interval(); retry > 0 {
		message := "You have reached the limit for anonymous pastes. Try again later, or use an access token."
		if q.Signed {
			message = "You have reached the limit for pastes in an hour. Try again later."
		}
		return 0, fault.Wrap(fault.Exhausted, message, &QuotaError{q, retry})
	}
	return full + q.Interval(), nil
}

// Usage is how much of a quota a client has used. The zero Usage stands for no quota.
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

// QuotaError is the cause of the error for a paste beyond the quota.
type QuotaError struct {
	Quota Quota
	Retry time.Duration // until one more may be created
}

// Usage returns the client's usage.
func (e *QuotaError) Usage() Usage {
	return Usage{e.Quota, e.Retry + time.Duration(e.Quota.Pastes-1)*e.Quota.Interval()}
}

// Error implements error.
func (e *QuotaError) Error() string { return "one more is allowed in " + e.Retry.String() }

// Client is who a quota is for: an address or a user.
type Client string

// ClientAt returns the client for visitors at an address. All visitors without an address are one client.
func ClientAt(address netip.Addr) Client {
	if !address.IsValid() {
		return ""
	}
	return Client(ClientNetwork(address).String())
}

// ClientNetwork returns the part of an address that its client cannot choose: the first 64 bits of IPv6.
func ClientNetwork(address netip.Addr) netip.Addr {
	if address = address.Unmap(); address.Is6() {
		network, _ := address.WithZone("").Prefix(64) // cannot fail for IPv6
		address = network.Addr()
	}
	return address
}

// ClientOf returns the client for a signed-in user.
func ClientOf(id user.ID) Client { return Client("user " + id) }

// Allowance bounds what one user may store; 0 is unlimited.
type Allowance struct {
	Pastes int   // active pastes
	Bytes  int64 // of their content and history
	Rate   Quota // of new pastes
}

// Holding is the number of a user's active pastes, and their size.
type Holding struct{ Pastes, Bytes int64 }

// ErrAllowance is wrapped by the errors of Allowance.Add.
var ErrAllowance = errors.New("the user's quota is used up")

// Add returns a fault.Forbidden that wraps ErrAllowance when the addition exceeds the allowance.
func (a Allowance) Add(current, addition Holding) error {
	var message string
	switch {
	case a.Pastes > 0 && addition.Pastes > 0 && current.Pastes+addition.Pastes > int64(a.Pastes):
		const format = "You have reached your limit of %d pastes. Delete some, or wait until some expire."
		message = fmt.Sprintf(format, a.Pastes)
	case a.Bytes > 0 && addition.Bytes > 0 && current.Bytes+addition.Bytes > a.Bytes:
		const format = "Your pastes and their history would exceed your limit of %d bytes. Delete some pastes."
		message = fmt.Sprintf(format, a.Bytes)
	default:
		return nil
	}
	return fault.Wrap(fault.Forbidden, message, ErrAllowance)
}
