package editor

import (
	"bytes"
	"cmp"
	"strings"
)

// maxChangedLines bounds the memory for the lines between the first change and the last.
const maxChangedLines = 20_000

// restored returns a text that a browser has sent, with the bytes of the original in every line that was not changed: a
// text area loses the difference between line ends. A changed line ends as the line before it.
func restored(original, sent string) string {
	switch {
	case asText(original) == sent:
		return original
	case asText(original) == original:
		return sent
	}
	first, _ := cutLine(original)
	end := cmp.Or(lineEnd(first), "\n")
	var out builder
	for { // the lines with which both texts begin
		line, rest := cutLine(original)
		after, same := strings.CutPrefix(sent, asText(line))
		if !same || lineEnd(line) == "" {
			break
		}
		out.add(line)
		original, sent, end = rest, after, lineEnd(line)
	}
	middle := original
	for { // and those with which they end
		line := lastLine(middle)
		if line == "" || lastLine(sent) != asText(line) {
			break
		}
		middle, sent = middle[:len(middle)-len(line)], sent[:len(sent)-len(asText(line))]
	}
	stored := linesByText(middle)
	for line := range strings.Lines(sent) {
		known := stored[line]
		unended, ended := strings.CutSuffix(line, "\n")
		switch {
		case len(known) > 0:
			out.add(known[0])
			stored[line], end = known[1:], cmp.Or(lineEnd(known[0]), end)
		case ended:
			out.add(unended + end)
		default:
			out.add(unended)
		}
	}
	out.add(original[len(middle):])
	return string(out)
}

// builder is a text in the making.
type builder []byte

// add adds lines. A CR that ends a line does not become a part of the end of the next one.
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

// lineEnd returns the characters with which a line ends.
func lineEnd(line string) string {
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if strings.HasSuffix(line, end) {
			return end
		}
	}
	return ""
}
