package detection

import (
	"regexp"
	"strings"
)

// comment matches the beginning of a comment that goes to the end of its line.
var comment = regexp.MustCompile(`^(//|##? |#!|-- )`)

// The classes of strings between these quotes, and of names after these signs.
var (
	quotes = [256]string{'"': "STR", '\'': "CHR", '`': "RAW"}
	sigils = [256]string{'$': "VAR", '@': "ATT", '#': "HASH", ':': "SYM"}
)

const (
	blank = " \t\r\v\f"
	// operators are signs that form one token when several stand together.
	operators = "!%&*+-./:<=>?|~"
	// longestQuoted bounds a string, in bytes: a text of quotes without an end would otherwise take time that grows with
	// the square of its length.
	longestQuoted = 512
)

// tokenize calls visit with each token of the text, from a first START and NL to a last NL. class is "" or one of the
// words in capitals that features.txt explains.
func tokenize(text string, visit func(token, class string)) {
	visit("", "START")
	visit("", "NL")
	for rest := strings.TrimSpace(text); rest != ""; {
		length, class := next(rest)
		visit(rest[:length], class)
		if comment.MatchString(rest) { // its text may be about any language
			line, _, _ := strings.Cut(rest, "\n")
			visit(line[length:], "TXT")
			length = len(line)
		}
		rest = strings.TrimLeft(rest[length:], blank)
	}
	visit("", "NL")
}

// next returns the length and the class of the token that the text begins with. Several line ends are one.
func next(text string) (length int, class string) {
	switch c := text[0]; {
	case c == '\n':
		return prefix(text, "\n"+blank), "NL"
	case isLetter(c):
		return wordLength(text), "ID"
	case isDigit(c):
		return wordLength(text), "NUM"
	case quotes[c] != "":
		rest := text[1:min(len(text), longestQuoted)]
		if end := strings.IndexAny(rest, text[:1]+"\n"); end >= 0 && rest[end] == c {
			return end + 2, quotes[c]
		}
	case sigils[c] != "" && len(text) > 1 && isLetter(text[1]):
		return 1 + wordLength(text[1:]), sigils[c]
	}
	return max(1, prefix(text, operators)), ""
}

// prefix returns how many bytes at the beginning of the text are in set.
func prefix(text, set string) int { return len(text) - len(strings.TrimLeft(text, set)) }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func wordLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}
