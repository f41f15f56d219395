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

// Summary returns the pasty as lists show it. It keeps no part of the code in memory but the preview.
func (p Pasty) Summary() PastySummary {
	lines := strings.Count(p.Code, "\n")
	if p.Code != "" && !strings.HasSuffix(p.Code, "\n") {
		lines++
	}
	return PastySummary{ID: p.ID, Title: p.Title, Language: p.Language, Lines: lines,
		Preview: strings.Clone(Preview(p.Code))}
}

// Limits of a preview.
const (
	previewLines    = 3
	MaxPreviewBytes = 300
)

// Preview returns the first three lines of code, but at most MaxPreviewBytes. It does not split a character.
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

// maxSummaryBytes limits the summaries of pasties in one list. The first paste always has its own.
const maxSummaryBytes = 4 << 20

// maxPastySummary is roughly the size limit of one PastySummary, in bytes.
const maxPastySummary = 4*MaxPastyTitle + MaxPreviewBytes + 100

// CutPasties removes Pasties, and sets Cut, in all pastes of a list after the first maxSummaryBytes of summaries. It
// returns the number of pastes before them. at returns one of the n pastes, with its PastyCount and Bytes.
func CutPasties(n int, at func(i int) *Summary) (whole int) {
	for total := int64(0); whole < n; whole++ {
		summary := at(whole)
		pasties := int64(summary.PastyCount)
		total += min(pasties*maxPastySummary, summary.Bytes+pasties*(MaxPreviewBytes+100))
		if total > maxSummaryBytes && whole > 0 {
			break
		}
	}
	for i := whole; i < n; i++ {
		summary := at(i)
		summary.Cut, summary.Pasties = true, nil
	}
	return whole
}

// MaxFirstLine is the number of characters in which FirstLine looks for a line.
const MaxFirstLine = 200

// FirstLine returns the first line that is not blank, without the spaces around it, or "". The line may be cut off.
func FirstLine(code string) string {
	prefix := []rune(code[:min(len(code), MaxFirstLine*utf8.UTFMax)])
	for line := range strings.Lines(string(prefix[:min(len(prefix), MaxFirstLine)])) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// FoldTitle returns a title for comparisons, with its ASCII letters in lower case.
func FoldTitle(title string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, title)
}
