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

// CountWithPasties returns how many of the first n pastes of a list have their pasties listed, as maxOutline allows.
// sizeOf returns the number of a paste's pasties, and their size.
func CountWithPasties(n int, sizeOf func(i int) (pasties int, bytes int64)) int {
	total := int64(0)
	for i := range n {
		pasties, bytes := sizeOf(i)
		total += min(int64(pasties)*maxListedPasty, bytes+int64(pasties)*(MaxPreviewBytes+100))
		if total > maxOutline && i > 0 {
			return i
		}
	}
	return n
}
