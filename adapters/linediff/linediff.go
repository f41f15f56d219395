// Package linediff makes unified diffs, line by line.
package linediff

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gluepot/gluepot/domain/paste"
)

// maxLines is how many lines two texts may have together for the library, which allocates 400 bytes for each line and
// eight times the texts' length. Longer texts get a single hunk.
const maxLines = 20_000

// Unified implements paste.Differ. The library anchors its hunks at lines that occur once in each text, which takes
// n log n steps. For texts with too many lines, one hunk replaces everything between the first and the last difference.
func Unified(before, after string) string {
	if strings.Count(before, "\n")+strings.Count(after, "\n") > maxLines {
		return single(before, after)
	}
	out := diff.Diff("", []byte(before), "", []byte(after))
	_, out, _ = bytes.Cut(out, []byte("\n")) // a line that names both texts precedes the header
	return string(out)
}

// single returns a diff with one hunk and no context lines.
func single(before, after string) string {
	first := 0
	for line := range strings.Lines(before) { // cut off the common lines at the beginning
		rest, same := strings.CutPrefix(after, line)
		if !same || !strings.HasSuffix(line, "\n") {
			break
		}
		before, after, first = before[len(line):], rest, first+1
	}
	// Cut off the common lines at the end.
	for line := lastLine(before); line != "" && line == lastLine(after); line = lastLine(before) {
		before, after = strings.TrimSuffix(before, line), strings.TrimSuffix(after, line)
	}
	var out strings.Builder
	signs := strings.Count(before, "\n") + strings.Count(after, "\n") + 2
	out.Grow(len(before) + len(after) + signs + 200) // the rest is shorter than 200 bytes
	fmt.Fprintf(&out, "%s@@ -%s +%s @@\n", paste.DiffHeader, span(first, before), span(first, after))
	write(&out, '-', before)
	write(&out, '+', after)
	return out.String()
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]
}

// span returns the range of a hunk on one side: the number of its first line, or of the line before an empty hunk, and
// the number of its lines.
func span(first int, text string) string {
	lines := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + min(len(text), 1) // none of an empty text
	return fmt.Sprintf("%d,%d", first+min(lines, 1), lines)
}

func write(out *strings.Builder, sign byte, text string) {
	for line := range strings.Lines(text) {
		out.WriteByte(sign)
		out.WriteString(line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		out.WriteString("\n\\ No newline at end of file\n")
	}
}
