package detection

import (
	"regexp"
	"regexp/syntax"
	"testing"
)

// TestWorkOfPatterns checks the work for a byte of text, which is proportional to the instructions of a pattern.
// Bounded repetitions, such as {0,999}, multiply them.
func TestWorkOfPatterns(t *testing.T) {
	t.Parallel()
	for name, pattern := range map[string]*regexp.Regexp{
		"code": codeLine, "remarks": remark, "statements": statement, "tracebacks": traceback,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expression, err := syntax.Parse(pattern.String(), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			program, err := syntax.Compile(expression.Simplify())
			if err != nil {
				t.Fatal(err)
			}
			if n := len(program.Inst); n > 600 {
				t.Errorf("got %d instructions, want at most 600", n)
			}
		})
	}
}
