// Package notice is about events that operators want to hear of at once.
package notice

import (
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// Event says what happened. Its text is part of the interface to receivers.
type Event string

// The events.
const (
	NewReport        Event = "report.new"
	NewAdministrator Event = "administrator.new"
	StoreNearlyFull  Event = "store.nearly-full" // four fifths of the limit are used
	StoreFull        Event = "store.full"        // a write was refused for the first time
)

// Notice reports one event. It never quotes a paste.
type Notice struct {
	Event   Event
	At      time.Time
	Subject string // the id of a paste, or a user's name and id; empty for the store
	Text    string // a sentence for people
}

// Func notifies the operator. It returns at once, does not fail, and may be called concurrently. A nil Func does
// nothing.
type Func func(Notice)

// Tell calls f unless it is nil.
func (f Func) Tell(n Notice) {
	if f != nil {
		f(n)
	}
}

// Administrator returns the notice about a new administrator.
func Administrator(u user.User, at time.Time) Notice {
	text := u.Name.String() + " is now an administrator. Check that this was intended: gluepot audit list says who did it."
	return Notice{Event: NewAdministrator, At: at, Subject: u.NameAndID(), Text: text}
}
