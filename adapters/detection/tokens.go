package detection

import "strings"

// token is a piece of a text: what stands there, and what sort of thing it is if it is one of those whose
// exact spelling rarely matters.
type token struct {
	text  string
	class string // "" or one of the words in capitals that features.txt explains
}

// operators are the signs that are read as one, the longest first.
var operators = [...]string{
	"<!--", "===", "!==", "...", "..<", "<=>", ">>>", "<?=", "->>", "%>%", "-->", "=:=", "<$>", ">>=", "[[", "]]",
	"=~", "::", ":=", "=>", "->", "<-", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-=", "*=", "?.", "??", "?:", "?=", "|>",
	"<<", ">>", "..", "**", "//", "/*", "*/", "</", "/>", "<?", "?>", "<!", "~=", "<>", "!!", ";;", "[<", ">&", "%%",
}

// The classes of strings between these quotes, and of names with these signs before them.
var (
	quoted = [256]string{'"': "STR", '\'': "CHR", '`': "RAW"}
	signed = [256]string{'$': "VAR", '@': "ATT", '#': "HASH", ':': "SYM"}
)

// longestQuoted bounds a string, in bytes: a text of nothing but quotes without an end would otherwise take the square of its length.
const longestQuoted = 512

// tokenize calls visit with each token of the text, from a first START and NL to a last NL.
func tokenize(text string, visit func(token)) {
	t := tokenizer{text: text, visit: visit}
	visit(token{class: "START"})
	visit(token{class: "NL"})
	for t.at < len(text) {
		t.next()
	}
	t.newline()
}

type tokenizer struct {
	text   string
	at     int
	inLine bool // something stands before at in its line
	visit  func(token)
}

func (t *tokenizer) next() {
	rest := t.text[t.at:]
	switch c := rest[0]; {
	case c == '\n':
		t.newline()
		t.at++
	case c <= ' ':
		t.at++
	case isLetter(c):
		t.take(wordLength(rest), "ID")
	case isDigit(c):
		t.take(wordLength(rest), "NUM")
	case startsComment(rest):
		length := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
		t.take(length, "")
		t.take(lineLength(t.text[t.at:]), "TXT")
	case quoted[c] != "":
		t.quoted(rest)
	case signed[c] != "" && len(rest) > 1 && isLetter(rest[1]):
		t.take(1+wordLength(rest[1:]), signed[c])
	default:
		t.take(operatorLength(rest), "")
	}
}

// newline ends the line; several line ends are one.
func (t *tokenizer) newline() {
	if t.inLine {
		t.visit(token{class: "NL"})
	}
	t.inLine = false
}

// take passes the next bytes on as a token.
func (t *tokenizer) take(length int, class string) {
	t.visit(token{text: t.text[t.at : t.at+length], class: class})
	t.at += length
	t.inLine = true
}

// startsComment reports whether the rest of the line is for people.
func startsComment(rest string) bool {
	return strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "# ") || strings.HasPrefix(rest, "## ") ||
		strings.HasPrefix(rest, "#!") || strings.HasPrefix(rest, "-- ")
}

// quoted passes on a string that ends in its line, or else, between backquotes, somewhere.
func (t *tokenizer) quoted(rest string) {
	quote := rest[0]
	for i := 1; i < min(len(rest), longestQuoted) && (rest[i] != '\n' || quote == '`'); i++ {
		switch {
		case rest[i] == quote:
			t.take(i+1, quoted[quote])
			return
		case rest[i] == '\\' && quote != '`':
			i++
		}
	}
	t.take(1, "")
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func wordLength(s string) int {
	n := 0
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
		n++
	}
	return n
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func operatorLength(s string) int {
	for _, operator := range operators {
		if strings.HasPrefix(s, operator) {
			return len(operator)
		}
	}
	return 1
}
