package detection

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// form returns the name of the language that a text shows by its form as a whole, or "".
func form(text string) string {
	trimmed := strings.TrimSpace(text)
	if isJSON(trimmed) {
		return "JSON"
	}
	var c lineCount
	for line := range strings.Lines(trimmed) {
		c.add(strings.TrimRight(line, " \t\r\n"))
	}
	switch {
	case c.hunks > 0:
		return "diff"
	case c.fences%2 == 0 && c.fences > 0, c.headings > 0 && 2*(c.markdown+c.prose) > c.filled && c.settings+c.pairs+c.code == 0:
		return "Markdown"
	case c.sections > 0 && c.settings+c.sections+c.comments == c.filled:
		if c.quoted > 0 {
			return "TOML"
		}
		return "Properties files"
	case c.pairs > 0 && c.filled-c.comments > 1 && c.code == 0 && 10*(c.pairs+c.items+c.nested+c.comments) >= 9*c.filled:
		return "YAML"
	}
	return ""
}

// isJSON takes an object or array, or the beginning of one.
func isJSON(trimmed string) bool {
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return false
	}
	decoder := json.NewDecoder(strings.NewReader(trimmed))
	for tokens := 0; ; tokens++ {
		if _, err := decoder.Token(); err != nil {
			return tokens > 1 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
		}
	}
}

// lineCount counts the lines of each kind.
type lineCount struct {
	filled   int // lines with something in them
	hunks    int // @@ -1,2 +3,4 @@
	headings int // # Title after an empty line
	fences   int // ```
	markdown int // lists, quotations, links, headings
	prose    int // sentences
	sections int // [name]
	settings int // name = value
	quoted   int // name = "value", or a list
	pairs    int // name: value
	items    int // - value
	nested   int // goes on with what stands above
	comments int // # text, ; text
	previous string
	code     int // ends with { or ;
}

func (c *lineCount) add(line string) {
	text, previous := strings.TrimLeft(line, " \t"), c.previous
	c.previous = text
	if text == "" {
		return
	}
	c.filled++
	indented := len(text) < len(line)
	if strings.HasPrefix(line, "@@ -") && strings.Contains(line[4:], " @@") {
		c.hunks++
	}
	last := text[len(text)-1]
	switch {
	case strings.HasPrefix(text, "```"):
		c.fences++
		c.markdown++
		return
	case isHeading(line):
		c.comments++
		if previous == "" {
			c.headings++
			c.markdown++
		}
		return
	case text[0] == '#' || text[0] == ';':
		c.comments++
		return
	case text[0] == '[' && last == ']':
		c.sections++
		return
	case strings.HasPrefix(text, "- ") || text == "-" || text == "---":
		c.items++
		c.markdown++
		return
	case strings.HasPrefix(text, "* "), strings.HasPrefix(text, "> "), strings.HasPrefix(text, "!["), strings.Contains(text, "]("):
		c.markdown++
		return
	}
	if name, value, ok := strings.Cut(text, "="); ok && isName(strings.TrimSpace(name)) {
		c.settings++
		value = strings.TrimSpace(value)
		if value != "" && strings.IndexByte(`"'[{`, value[0]) >= 0 {
			c.quoted++
		}
		return
	}
	if last == '{' || last == ';' {
		c.code++
	}
	if name, value, ok := strings.Cut(text, ":"); ok && isName(strings.Trim(name, `"' `)) && (value == "" || value[0] == ' ') {
		c.pairs++
		return
	}
	if isSentence(text) {
		c.prose++
	}
	if indented {
		c.nested++
	}
}

// isHeading takes "# Title" to "###### Title".
func isHeading(line string) bool {
	title := strings.TrimLeft(line, "#")
	return len(title) < len(line) && strings.HasPrefix(title, " ")
}

// isName takes what stands before = or : in settings.
func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r < 0x80 && !isLetter(byte(r)) && !isDigit(byte(r)) && !strings.ContainsRune("-./$", r)
	})
}

// isSentence takes a line of four words or more with hardly a sign in it.
func isSentence(text string) bool {
	words := strings.Fields(text)
	if len(words) < 4 {
		return false
	}
	odd := 0
	for _, word := range words {
		if wordLength(word) == 0 {
			odd++
		}
	}
	return odd*4 <= len(words)
}
