package paste

import (
	"strings"
	"unicode/utf8"
)

// PastySummary is a pasty as lists show it.
type PastySummary struct {
	ID, Title, Language string
	Lines               int
	Preview             string // see Preview
}

// Summary returns the pasty as lists show it.
func (p Pasty) Summary() PastySummary {
	lines := strings.Count(p.Code, "\n")
	if p.Code != "" && !strings.HasSuffix(p.Code, "\n") {
		lines++
	}
	return PastySummary{ID: p.ID, Title: p.Title, Language: p.Language, Lines: lines, Preview: Preview(p.Code)}
}

// Limits of a preview.
const (
	previewLines    = 3
	MaxPreviewBytes = 300
)

// Preview returns the first three lines of code, or at most MaxPreviewBytes of them. It does not cut a character.
func Preview(code string) string {
	text := code[:min(len(code), MaxPreviewBytes)]
	for n := 0; len(text) < len(code) && n < utf8.UTFMax && !utf8.ValidString(text); n++ {
		text = text[:len(text)-1]
	}
	end := 0
	for range previewLines {
		next := strings.IndexByte(text[end:], '\n')
		if next < 0 {
			return text
		}
		end += next + 1
	}
	return text[:end]
}

// maxOutline bounds the bytes of the pasties in one list. The first paste always has its pasties.
const maxOutline = 4 << 20

// maxListedPasty is about how many bytes a pasty in a list has at most.
const maxListedPasty = 4*MaxPastyTitle + MaxPreviewBytes + 100

// CutOutline cuts the pastes of a list that come after maxOutline bytes of pasties: Cut is set, and Pasties is nil. It
// returns how many pastes come before them. at returns one of the n pastes, with its PastyCount and Bytes.
func CutOutline(n int, at func(i int) *Summary) (whole int) {
	for total := int64(0); whole < n; whole++ {
		listed := at(whole)
		pasties := int64(listed.PastyCount)
		total += min(pasties*maxListedPasty, listed.Bytes+pasties*(MaxPreviewBytes+100))
		if total > maxOutline && whole > 0 {
			break
		}
	}
	for i := whole; i < n; i++ {
		listed := at(i)
		listed.Cut, listed.Pasties = true, nil
	}
	return whole
}

// MaxFirstLine is how many characters of a code FirstLine looks at.
const MaxFirstLine = 200

// FirstLine returns the first line of a code that is not blank, without spaces around it. It may be cut, or "".
func FirstLine(code string) string {
	beginning := []rune(code[:min(len(code), MaxFirstLine*utf8.UTFMax)])
	for line := range strings.Lines(string(beginning[:min(len(beginning), MaxFirstLine)])) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// FoldTitle returns a title in lower case as titles are compared: only in ASCII.
func FoldTitle(title string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, title)
}
