// Package auditlog is about the record of what operators and administrators have done.
package auditlog

import (
	"time"
)

// Entry is one act. It has no content of pastes. A store records an entry that it is given in the transaction that does
// the act, and sets its At. The zero Entry is not recorded: it stands for what users do with their own.
type Entry struct {
	ID     string
	At     time.Time
	Actor  string // the name of a user, or operator
	Act    string // such as "paste.remove"
	Target string // what it was done to
	Reason string
}
