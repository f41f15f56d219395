package paste

import (
	"testing"
	"time"
)

func TestCursorBefore(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	cursors := []Cursor{{}, {at.Add(time.Second), "a"}, {at, "b"}, {at, "a"}, {at.Add(-time.Second), "z"}}
	for i, p := range cursors {
		for j, q := range cursors {
			if got := p.Before(q); got != (i < j) {
				t.Errorf("%v before %v: got %v, want %v", p, q, got, i < j)
			}
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for want, summary := range map[string]Summary{
		"Title":        {Title: "Title", PastyTitle: "main.go", FirstLine: "package main"},
		"main.go":      {Title: " \t", PastyTitle: "main.go", FirstLine: "x"},
		"package main": {FirstLine: "package main"}, Untitled: {FirstLine: "  "},
	} {
		if got := summary.Label(); got != want {
			t.Errorf("%+v: got %q, want %q", summary, got, want)
		}
	}
}
