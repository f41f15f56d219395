package moderation

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// Report is a reader's report of a paste.
type Report struct {
	ID     string // begins with the id of the paste, so that the audit log names it
	Paste  paste.ID
	Reason string // one of Reasons
	Text   string // of one or more lines, or ""
	At     time.Time
}

// MaxReport is the maximum length of a report's text, in characters.
const MaxReport = 2000

// Reasons lists what a report can be about.
var Reasons = []string{"spam", "malware or phishing", "personal data", "copyright", "illegal content", "other"}

// Validate returns a fault.Invalid unless the reason is one of Reasons and the text can be shown.
func (r Report) Validate() error {
	switch {
	case !slices.Contains(Reasons, r.Reason):
		return fault.New(fault.Invalid, "Choose one of the reasons.")
	case !utf8.ValidString(r.Text) || utf8.RuneCountInString(r.Text) > MaxReport ||
		strings.ContainsFunc(r.Text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }):
		return fault.New(fault.Invalid, "The text must have at most 2000 characters, all of them printable.")
	}
	return nil
}
