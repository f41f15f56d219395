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
	// unclosed says for each quote up to where there is none that closes: not every one that is escaped there is to search for
	// its end again, which would take the square of the length.
	unclosed [128]int
	visit    func(token)
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
		t.take(numberLength(rest), "NUM")
	case strings.HasPrefix(rest, `"""`):
		t.skip(3, `"""`)
	case strings.HasPrefix(rest, "/*"):
		t.skip(2, "*/")
	case t.startsComment(rest):
		length := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
		t.take(length, "")
		t.take(lineLength(t.text[t.at:]), "TXT")
	case c == '"' || c == '`' || c == '\'' && !t.isApostrophe():
		t.quoted(rest)
	case strings.IndexByte("$@#:", c) >= 0 && len(rest) > 1 && isLetter(rest[1]) && (c != ':' || t.afterSpace()):
		t.take(1+wordLength(rest[1:]), signed(c))
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

// skip passes the opening bytes on and goes on behind the closing ones.
func (t *tokenizer) skip(opening int, closing string) {
	t.take(opening, "")
	if i := strings.Index(t.text[t.at:], closing); i >= 0 {
		t.at += i + len(closing)
	} else {
		t.at = len(t.text)
	}
}

// startsComment reports whether the rest of the line is for people.
func (t *tokenizer) startsComment(rest string) bool {
	switch {
	case strings.HasPrefix(rest, "//"):
		return t.at == 0 || t.text[t.at-1] != ':' // an address
	case strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "## "), strings.HasPrefix(rest, "#!"):
		return t.afterSpace()
	case strings.HasPrefix(rest, "-- "):
		return t.afterSpace()
	case rest[0] == ';' || rest[0] == '%':
		return !t.inLine && len(rest) > 1 && (rest[1] == ' ' || rest[1] == rest[0])
	}
	return false
}

// afterSpace reports whether a name could not go on before the next byte.
func (t *tokenizer) afterSpace() bool {
	return t.at == 0 || strings.IndexByte(" \t\n([{,", t.text[t.at-1]) >= 0
}

// isApostrophe reports whether the next byte, a ', is within a word: don't, x'.
func (t *tokenizer) isApostrophe() bool {
	return t.at > 0 && (isLetter(t.text[t.at-1]) || isDigit(t.text[t.at-1]))
}

// quoted passes on a string that ends in its line, or else, between backquotes, somewhere.
func (t *tokenizer) quoted(rest string) {
	quote, class := rest[0], "RAW"
	switch quote {
	case '"':
		class = "STR"
	case '\'':
		class = "CHR"
	}
	i := 1
	for ; t.at >= t.unclosed[quote] && i < len(rest) && (rest[i] != '\n' || quote == '`'); i++ {
		switch {
		case rest[i] == quote:
			t.take(i+1, class)
			return
		case rest[i] == '\\' && quote != '`':
			i++
		}
	}
	t.unclosed[quote] = max(t.unclosed[quote], t.at+i)
	t.take(1, "")
}

// signed returns the class of names with that sign before them.
func signed(sign byte) string {
	switch sign {
	case '$':
		return "VAR"
	case '@':
		return "ATT"
	case '#':
		return "HASH"
	default:
		return "SYM"
	}
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

// numberLength leaves units such as px to themselves.
func numberLength(s string) int {
	if strings.HasPrefix(s, "0x") {
		return wordLength(s)
	}
	n := 0
	for n < len(s) && (isDigit(s[n]) || s[n] == '.' && n+1 < len(s) && isDigit(s[n+1])) {
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
	if len(s) == 1 || isLetter(s[1]) || s[1] <= ' ' || isDigit(s[1]) {
		return 1
	}
	for _, operator := range operators {
		if strings.HasPrefix(s, operator) {
			return len(operator)
		}
	}
	return 1
}
