package program

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestSentence sees what an operator is told: what was being done, what went wrong, and the cause of an outage
// or of what went wrong within something larger.
func TestSentence(t *testing.T) {
	t.Parallel()
	refused := fault.Wrap(fault.Unavailable, "No answer.", fmt.Errorf("dial: %w", errors.New("connection refused")))
	taken := fault.Wrap(fault.Conflict, "It exists already.", errors.New("ERROR: duplicate key"))
	for want, err := range map[string]error{
		"No answer. (connection refused)":                                                           refused,
		"import users from users.json: No answer. (connection refused)":                             fmt.Errorf("import users from users.json: %w", refused),
		"It exists already.":                                                                        errors.Join(taken, nil),
		"import users from users.json: It exists already. (ERROR: duplicate key)":                   fmt.Errorf("import users from users.json: %w", errors.Join(taken, nil)),
		"import users from users.json: It exists already. (ERROR: duplicate key); the disk is full": fmt.Errorf("import users from users.json: %w", errors.Join(taken, errors.New("the disk is full"))),
		"import keys: unexpected EOF\n3 were rejected.":                                             errors.Join(fmt.Errorf("import keys: %w", io.ErrUnexpectedEOF), fault.New(fault.Invalid, "3 were rejected.")),
		"the disk is full": errors.New("the disk is full"),
	} {
		if got := sentence(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
