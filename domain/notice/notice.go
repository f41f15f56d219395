// Package notice is about events that an operator wants to be told of at once.
package notice

import (
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// Event is what has happened. Receivers know it by this text.
type Event string

// The events.
const (
	NewReport        Event = "report.new"
	NewAdministrator Event = "administrator.new"
	StoreNearlyFull  Event = "store.nearly-full" // four fifths of the limit
	StoreFull        Event = "store.full"        // the first write was refused
)

// Notice tells of one event. It has no content of pastes.
type Notice struct {
	Event   Event
	At      time.Time
	Subject string // the id of a paste, or a user's name with the id; empty for the store
	Text    string // a sentence for people
}

// Func tells the operator. It returns at once, does not fail, and may be called concurrently. A nil Func tells no one.
type Func func(Notice)

// Tell calls the function if there is one.
func (f Func) Tell(n Notice) {
	if f != nil {
		f(n)
	}
}

// Administrator returns the notice of a user who has become an administrator.
func Administrator(u user.User, at time.Time) Notice {
	text := u.Name.String() + " is an administrator now. Check that this was meant: gluepot audit list says who made one."
	return Notice{Event: NewAdministrator, At: at, Subject: u.NameAndID(), Text: text}
}
