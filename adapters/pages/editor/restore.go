package editor

import (
	"bytes"
	"cmp"
	"strings"
)

// maxChangedLines limits the memory for the lines between the first and the last change.
const maxChangedLines = 20_000

// restoreLineEnds returns a text from a browser with the original bytes in every unchanged line, because a text area
// makes all line ends the same. A changed line gets the line end of the line before it.
func restoreLineEnds(original, text string) string {
	switch {
	case asText(original) == text:
		return original
	case asText(original) == original:
		return text
	}
	first, _ := cutLine(original)
	end := cmp.Or(lineEnd(first), "\n")
	var out builder
	for { // the common lines at the beginning
		line, rest := cutLine(original)
		after, same := strings.CutPrefix(text, asText(line))
		if !same || lineEnd(line) == "" {
			break
		}
		out.add(line)
		original, text, end = rest, after, lineEnd(line)
	}
	middle := original
	for { // the common lines at the end
		line := lastLine(middle)
		if line == "" || lastLine(text) != asText(line) {
			break
		}
		middle, text = middle[:len(middle)-len(line)], text[:len(text)-len(asText(line))]
	}
	originals := linesByText(middle)
	for line := range strings.Lines(text) {
		lines := originals[line]
		body, hasEnd := strings.CutSuffix(line, "\n")
		switch {
		case len(lines) > 0:
			out.add(lines[0])
			originals[line], end = lines[1:], cmp.Or(lineEnd(lines[0]), end)
		case hasEnd:
			out.add(body + end)
		default:
			out.add(body)
		}
	}
	out.add(original[len(middle):])
	return string(out)
}

// builder builds a text from lines.
type builder []byte

// add adds lines. It does not let a CR that ends a line and an LF that begins the next one become one line end.
func (b *builder) add(lines string) {
	if strings.HasPrefix(lines, "\n") && bytes.HasSuffix(*b, []byte("\r")) {
		lines = "\r" + lines
	}
	*b = append(*b, lines...)
}

// linesByText returns the lines of a text by what a browser sends for each.
func linesByText(text string) map[string][]string {
	lines := make(map[string][]string)
	for n := 0; text != "" && n < maxChangedLines; n++ {
		var line string
		line, text = cutLine(text)
		lines[asText(line)] = append(lines[asText(line)], line)
	}
	return lines
}

// cutLine returns the first line of a text with its end, and the rest.
func cutLine(text string) (line, rest string) {
	i := strings.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return text, ""
	case strings.HasPrefix(text[i:], "\r\n"):
		i++
	}
	return text[:i+1], text[i+1:]
}

// lastLine returns the last line of a text with its end.
func lastLine(text string) string {
	return text[strings.LastIndexAny(strings.TrimSuffix(text, lineEnd(text)), "\r\n")+1:]
}

// lineEnd returns the line end of a line, or "".
func lineEnd(line string) string {
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if strings.HasSuffix(line, end) {
			return end
		}
	}
	return ""
}
