package paste

import (
	"testing"
	"time"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	places := []Cursor{{}, {at.Add(time.Second), "a"}, {at, "b"}, {at, "a"}, {at.Add(-time.Second), "z"}}
	for i, p := range places {
		for j, q := range places {
			if got := p.Before(q); got != (i < j) {
				t.Errorf("%v before %v: got %v, want %v", p, q, got, i < j)
			}
		}
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for want, listed := range map[string]Summary{
		"Title":        {Title: "Title", PastyTitle: "main.go", FirstLine: "package main"},
		"main.go":      {Title: " \t", PastyTitle: "main.go", FirstLine: "x"},
		"package main": {FirstLine: "package main"}, Untitled: {FirstLine: "  "},
	} {
		if got := listed.Label(); got != want {
			t.Errorf("%+v: got %q, want %q", listed, got, want)
		}
	}
}
