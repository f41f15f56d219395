// Package linediff makes unified diffs, line by line.
package linediff

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/gluepot/gluepot/domain/paste"
)

// maxLines is how many lines two texts may have together for the library, which allocates 400 bytes for each and
// eight times the texts' length. Other texts get a single hunk.
const maxLines = 20_000

// Unified implements paste.Differ. The library anchors its hunks at lines that each text has once, which takes
// n log n steps; of texts with too many lines, everything between the first and the last difference is replaced.
func Unified(before, after string) string {
	if strings.Count(before, "\n")+strings.Count(after, "\n") > maxLines {
		return single(before, after)
	}
	out := diff.Diff("", []byte(before), "", []byte(after))
	_, out, _ = bytes.Cut(out, []byte("\n")) // a line that names both texts precedes the header
	return string(out)
}

// single returns a diff of one hunk, without lines around it.
func single(before, after string) string {
	start := commonStart(before, after)
	removed, added := before[start:], after[start:]
	end := commonEnd(removed, added)
	removed, added = removed[:len(removed)-end], added[:len(added)-end]
	first, old, made := lines(before[:start]), lines(removed), lines(added)
	var out strings.Builder
	out.Grow(len(removed) + len(added) + old + made + 200) // a sign for each line; nothing else is longer than the 200 bytes
	fmt.Fprintf(&out, "%s@@ -%s +%s @@\n", paste.DiffHeader, span(first, old), span(first, made))
	write(&out, '-', removed)
	write(&out, '+', added)
	return out.String()
}

// span writes where a hunk is on one side: the number of its first line, or of the one before it when it has none.
func span(before, lines int) string {
	if lines > 0 {
		before++
	}
	return fmt.Sprintf("%d,%d", before, lines)
}

// lines returns how many lines text has.
func lines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// commonStart returns how long the whole lines are with which both texts begin.
func commonStart(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return strings.LastIndexByte(a[:i], '\n') + 1
}

// commonEnd returns how long the whole lines are with which both texts, which begin with a line, end.
func commonEnd(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	if beginsLine(a, len(a)-i) && beginsLine(b, len(b)-i) {
		return i
	}
	_, whole, _ := strings.Cut(a[len(a)-i:], "\n")
	return len(whole)
}

func beginsLine(text string, at int) bool { return at == 0 || text[at-1] == '\n' }

func write(out *strings.Builder, sign byte, text string) {
	for line := range strings.Lines(text) {
		out.WriteByte(sign)
		out.WriteString(line)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		out.WriteString("\n\\ No newline at end of file\n")
	}
}
