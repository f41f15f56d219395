// Package auditlog is about the record of what operators and administrators have done.
package auditlog

import (
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// Entry is one act. It never quotes a paste. A store sets At, and records the entry in the transaction of the act. It
// does not record the zero Entry, which stands for what users do with their own data.
type Entry struct {
	ID     string
	At     time.Time
	Actor  string // the name of a user, or operator
	Act    string // such as "paste.remove"
	Target string // such as the id of a paste
	Reason string
	// Administrator is the id of a user who must be an administrator, and not suspended, when the act is done: if not, the
	// store fails with ErrAdministrator. It is empty for acts that need no administrator, and is not recorded.
	Administrator string
}

// ErrAdministrator is the fault.Forbidden for an act that is reserved for administrators.
var ErrAdministrator = fault.New(fault.Forbidden, "Only the operator and administrators may do this.")
