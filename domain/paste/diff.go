package paste

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// Differ returns a unified diff between two different texts: DiffHeader, then the hunks. It must be exact (Revert must
// return before), and bounded in time and memory for any texts.
type Differ func(before, after string) string

// DiffHeader begins every diff of a pasty's code. PasteMyst's names a temporary file and a time here.
const DiffHeader = "--- \n+++ \n"

var errDiff = fault.New(fault.Invalid, "A diff in the paste's history does not apply to its code.")

// Revert undoes a unified diff, of a Differ or of diff -u, and returns the text before it. An empty diff changes
// nothing. It fails with a fault.Invalid when the diff does not fit the text.
func Revert(after, diff string) (string, error) {
	r := reverter{after: after, diff: diff}
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

// reverter reverts a diff hunk by hunk.
type reverter struct {
	before      strings.Builder
	after, diff string // what is still to be read
	position    int    // number of lines of after that were read
}

// hunkHeader matches @@ -first,lines +first,lines @@, which some programs follow with the enclosing function. The
// number of lines may be left out if it is 1.
var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?:[ \n]|$)`)

// hunk reverts one hunk.
func (r *reverter) hunk() error {
	header := hunkHeader.FindStringSubmatch(cutLine(&r.diff))
	if header == nil {
		return errDiff
	}
	oldLines, err := strconv.Atoi(cmp.Or(header[1], "1"))
	first, err2 := strconv.Atoi(header[2])
	newLines, err3 := strconv.Atoi(cmp.Or(header[3], "1"))
	if cmp.Or(err, err2, err3) != nil {
		return errDiff
	}
	if newLines > 0 {
		first-- // an empty range has the number of the line before it
	}
	for ; r.position < first; r.position++ { // lines that the diff does not show
		if r.after == "" {
			return errDiff
		}
		r.before.WriteString(cutLine(&r.after))
	}
	for oldLines > 0 || newLines > 0 {
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
			oldLines, newLines = oldLines-1, newLines-1
		case '-':
			oldLines--
		case '+':
			newLines--
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
			r.position++
		}
	}
	if oldLines < 0 || newLines < 0 {
		return errDiff
	}
	return nil
}

// cutLine removes the first line from a text and returns it with its line end.
func cutLine(text *string) (line string) {
	line, *text = *text, ""
	if end := strings.IndexByte(line, '\n') + 1; end > 0 {
		line, *text = line[:end], line[end:]
	}
	return line
}
