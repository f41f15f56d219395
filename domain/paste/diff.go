package paste

import (
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// Differ returns a unified diff between two different texts: the two lines of DiffHeader, then its hunks. It must be exact
// (applied backwards to after, it gives before), and bounded in time and memory for any texts.
type Differ func(before, after string) string

// DiffHeader begins every diff of a pasty's code. PasteMyst's names a temporary file and a time here.
const DiffHeader = "--- \n+++ \n"

var errDiff = fault.New(fault.Invalid, "A diff in the paste's history does not fit its code.")

// Revert undoes a unified diff, in the form of Differ or diff -u: it returns the text before it. An empty diff changes nothing.
// It fails with a fault.Invalid when the diff does not fit.
func Revert(after, diff string) (string, error) {
	r := reverting{after: after, diff: diff}
	r.before.Grow(len(after))
	if strings.HasPrefix(diff, "---") {
		r.line()
		if header, _ := r.line(); !strings.HasPrefix(header, "+++") {
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

// line takes a line from the diff, without its end.
func (r *reverting) line() (line string, ok bool) {
	if r.diff == "" {
		return "", false
	}
	line, r.diff, _ = strings.Cut(r.diff, "\n")
	return line, true
}

// hunk reverts one hunk.
func (r *reverting) hunk() error {
	header, _ := r.line()
	// @@ -first,lines +first,lines @@ and, from some programs, the function that it stands in
	words := strings.SplitN(header, " ", 5)
	if len(words) < 4 || words[0] != "@@" || words[3] != "@@" {
		return errDiff
	}
	_, removed, ok := parseRange(words[1], "-")
	first, added, ok2 := parseRange(words[2], "+")
	if !ok || !ok2 {
		return errDiff
	}
	if added > 0 {
		first-- // a range without lines is named by the line before it
	}
	if r.passed < first && !r.keep(first-r.passed) {
		return errDiff
	}
	for removed > 0 || added > 0 {
		line, ok := r.line()
		if !ok || line == "" {
			return errDiff
		}
		text := line[1:] + "\n"
		if strings.HasPrefix(r.diff, `\`) { // \ No newline at end of file
			r.line()
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
		if line[0] != '-' && !r.drop(text) {
			return errDiff
		}
	}
	if removed < 0 || added < 0 {
		return errDiff
	}
	return nil
}

// keep copies lines that the diff does not show.
func (r *reverting) keep(lines int) bool {
	end := 0
	for range lines {
		if end == len(r.after) {
			return false
		}
		if next := strings.IndexByte(r.after[end:], '\n') + 1; next > 0 {
			end += next
		} else {
			end = len(r.after)
		}
	}
	r.before.WriteString(r.after[:end])
	r.after = r.after[end:]
	r.passed += lines
	return true
}

// drop skips a line that must be as the diff says.
func (r *reverting) drop(line string) (ok bool) {
	r.after, ok = strings.CutPrefix(r.after, line)
	r.passed++
	// A line without its end is the last one.
	return ok && (strings.HasSuffix(line, "\n") || r.after == "")
}

// parseRange reads the place and the number of lines of one side of a hunk: -12,3 or, for a single line, -12.
func parseRange(word, sign string) (first, lines int, ok bool) {
	word, ok = strings.CutPrefix(word, sign)
	start, count, several := strings.Cut(word, ",")
	if !several {
		count = "1"
	}
	first, err := strconv.Atoi(start)
	lines, err2 := strconv.Atoi(count)
	return first, lines, ok && err == nil && err2 == nil && first >= 0 && lines >= 0
}
