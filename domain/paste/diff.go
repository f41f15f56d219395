package paste

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// Differ returns a unified diff between two different texts: the two lines of DiffHeader, then its hunks. It must be
// exact (applied backwards to after, it gives before), and bounded in time and memory for any texts.
type Differ func(before, after string) string

// DiffHeader begins every diff of a pasty's code. PasteMyst's names a temporary file and a time here.
const DiffHeader = "--- \n+++ \n"

var errDiff = fault.New(fault.Invalid, "A diff in the paste's history does not fit its code.")

// Revert undoes a unified diff, in the form of Differ or diff -u: it returns the text before it. An empty diff changes
// nothing. It fails with a fault.Invalid when the diff does not fit.
func Revert(after, diff string) (string, error) {
	r := reverting{after: after, diff: diff}
	r.before.Grow(len(after))
	if strings.HasPrefix(diff, "---") {
		cutLine(&r.diff)
		if !strings.HasPrefix(cutLine(&r.diff), "+++") {
			return "", errDiff
		}
	}
	for r.diff != "" {
		if err := r.hunk(); err != nil {
			return "", err
		}
	}
	r.before.WriteString(r.after)
	return r.before.String(), nil
}

// reverting is the rest of the text and of the diff.
type reverting struct {
	before      strings.Builder
	after, diff string
	passed      int // how many lines of after have been read
}

// hunkHeader is @@ -first,lines +first,lines @@ and, from some programs, the enclosing function. The number of lines is
// left out when it is 1.
var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?:[ \n]|$)`)

// hunk reverts one hunk.
func (r *reverting) hunk() error {
	header := hunkHeader.FindStringSubmatch(cutLine(&r.diff))
	if header == nil {
		return errDiff
	}
	removed, err := strconv.Atoi(cmp.Or(header[1], "1"))
	first, err2 := strconv.Atoi(header[2])
	added, err3 := strconv.Atoi(cmp.Or(header[3], "1"))
	if cmp.Or(err, err2, err3) != nil {
		return errDiff
	}
	if added > 0 {
		first-- // the number of an empty range is that of the line before it
	}
	for ; r.passed < first; r.passed++ { // lines that the diff does not show
		if r.after == "" {
			return errDiff
		}
		r.before.WriteString(cutLine(&r.after))
	}
	for removed > 0 || added > 0 {
		line := strings.TrimSuffix(cutLine(&r.diff), "\n")
		if line == "" {
			return errDiff
		}
		text := line[1:] + "\n"
		if strings.HasPrefix(r.diff, `\`) { // \ No newline at end of file
			cutLine(&r.diff)
			text = line[1:]
		}
		switch line[0] {
		case ' ':
			removed, added = removed-1, added-1
		case '-':
			removed--
		case '+':
			added--
		default:
			return errDiff
		}
		if line[0] != '+' {
			r.before.WriteString(text)
		}
		if line[0] != '-' {
			if cutLine(&r.after) != text {
				return errDiff
			}
			r.passed++
		}
	}
	if removed < 0 || added < 0 {
		return errDiff
	}
	return nil
}

// cutLine takes the first line with its end from a text.
func cutLine(text *string) (line string) {
	line, *text = *text, ""
	if end := strings.IndexByte(line, '\n') + 1; end > 0 {
		line, *text = line[:end], line[end:]
	}
	return line
}
