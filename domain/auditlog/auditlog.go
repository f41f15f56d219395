// Package auditlog is about the record of what operators and administrators have done.
package auditlog

import "time"

// Entry is one act. It never quotes a paste. A store sets At, and records the entry in the transaction of the act. It
// does not record the zero Entry, which stands for what users do with their own data.
type Entry struct {
	ID     string
	At     time.Time
	Actor  string // the name of a user, or operator
	Act    string // such as "paste.remove"
	Target string // such as the id of a paste
	Reason string
}
