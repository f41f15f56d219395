package command

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal, where a person types what is read or sees what is written as it
// comes.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Confirm asks a question, and reports whether the answer is yes.
func Confirm(stdin io.Reader, stderr io.Writer, question string) bool {
	_, _ = fmt.Fprint(stderr, question)
	answer, _ := bufio.NewReader(stdin).ReadString('\n') // without an answer it is empty
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

// Write writes a user's text: byte by byte, unless a terminal would obey it.
func Write(w io.Writer, terminal bool, text string) error {
	if terminal {
		text = Visible(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// commands reports whether a terminal would obey a character rather than show it: control characters, and those that
// change the order in which others are shown (Unicode Standard Annex 9), so that code looks different from what it is.
func commands(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Visible returns a user's text with escapes, as JSON has them, in place of what a terminal would obey.
func Visible(text string) string {
	return escaped(text, func(r rune) bool { return commands(r) && r != '\n' && r != '\t' })
}

// Line is Visible for a text that is to stay on one line, and in its column.
func Line(text string) string { return escaped(text, commands) }

func escaped(text string, hidden func(rune) bool) string {
	var shown strings.Builder
	for _, r := range text { // what is no UTF-8 becomes U+FFFD: a terminal may obey such bytes
		if hidden(r) {
			fmt.Fprintf(&shown, `\u%04x`, r) // none is beyond U+FFFF
		} else {
			shown.WriteRune(r)
		}
	}
	return shown.String()
}
