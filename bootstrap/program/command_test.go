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
	importing := func(err error) error { return fmt.Errorf("import users from users.json: %w", err) }
	interrupted := fmt.Errorf("import keys: %w", io.ErrUnexpectedEOF)
	for _, c := range []struct {
		err  error
		want string
	}{
		{refused, "No answer. (connection refused)"},
		{importing(refused), "import users from users.json: No answer. (connection refused)"},
		{errors.Join(taken, nil), "It exists already."},
		{importing(errors.Join(taken, nil)), "import users from users.json: It exists already. (ERROR: duplicate key)"},
		{
			importing(errors.Join(taken, errors.New("the disk is full"))),
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
