package program

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestSentence checks what an operator is told: what was being done, what went wrong, and the cause of an outage or of
// an error within a larger operation.
func TestSentence(t *testing.T) {
	t.Parallel()
	unavailable := fault.Wrap(fault.Unavailable, "No answer.", fmt.Errorf("dial: %w", errors.New("connection refused")))
	conflict := fault.Wrap(fault.Conflict, "It exists already.", errors.New("ERROR: duplicate key"))
	importing := func(err error) error { return fmt.Errorf("import users from users.json: %w", err) }
	interrupted := fmt.Errorf("import keys: %w", io.ErrUnexpectedEOF)
	for _, c := range []struct {
		err  error
		want string
	}{
		{unavailable, "No answer. (connection refused)"},
		{importing(unavailable), "import users from users.json: No answer. (connection refused)"},
		{errors.Join(conflict, nil), "It exists already."},
		{importing(errors.Join(conflict, nil)), "import users from users.json: It exists already. (ERROR: duplicate key)"},
		{
			importing(errors.Join(conflict, errors.New("the disk is full"))),
			"import users from users.json: It exists already. (ERROR: duplicate key); the disk is full",
		},
		{errors.Join(interrupted, fault.New(fault.Invalid, "3 were rejected.")),
			"import keys: unexpected EOF\n3 were rejected."},
		{errors.New("the disk is full"), "the disk is full"},
	} {
		if got := sentence(c.err); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
