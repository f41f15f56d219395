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

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Confirm asks a question, and reports whether the answer is yes.
func Confirm(stdin io.Reader, stderr io.Writer, question string) bool {
	_, _ = fmt.Fprint(stderr, question)
	answer, _ := bufio.NewReader(stdin).ReadString('\n') // empty at the end of input
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

// Write writes a user's text as it is, or made Visible for a terminal.
func Write(w io.Writer, terminal bool, text string) error {
	if terminal {
		text = Visible(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// isCommand reports whether a terminal would obey a character rather than show it. These are control characters, and
// those that reorder others (Unicode Standard Annex 9), which make code look different from what it is.
func isCommand(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// Visible returns a user's text with JSON's escapes in place of the characters that a terminal would obey.
func Visible(text string) string {
	return escape(text, func(r rune) bool { return isCommand(r) && r != '\n' && r != '\t' })
}

// Line is Visible for text on one line: it escapes line ends and tabs, too.
func Line(text string) string { return escape(text, isCommand) }

func escape(text string, mustEscape func(rune) bool) string {
	var b strings.Builder
	for _, r := range text { // invalid UTF-8 becomes U+FFFD, because a terminal may obey such bytes
		if mustEscape(r) {
			fmt.Fprintf(&b, `\u%04x`, r) // all are below U+10000
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
