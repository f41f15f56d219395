package search

import (
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func same(name string) string { return name }

// TestFold checks that two characters fold alike exactly if Unicode's simple folding equates them.
func TestFold(t *testing.T) {
	t.Parallel()
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		got := foldRune(r)
		if got != foldRune(got) || got != foldRune(unicode.SimpleFold(r)) ||
			!strings.EqualFold(string(r), string(got)) {
			t.Fatalf("%U: got %U, want an equal character that folds to itself", r, got)
		}
		if unicode.ToLower(got) != got && unicode.SimpleFold(got) != got {
			t.Fatalf("%U: got %U, want a character that a database's lower case leaves alone", r, got)
		}
	}
	if got, want := Fold("AbC\x00ÄẞΣς\u212a"), "abc\ufffdäßςςk"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Query{
		"abc":                            {Words: []string{"abc"}},
		"  A  bcd\n\te ":                 {Words: []string{"a", "bcd", "e"}},
		`"a  B" "" "open`:                {Words: []string{"a  b", "open"}},
		`tag:A tag:"b c" language:Go`:    {Tags: []string{"\na\n", "\nb c\n"}, Languages: []string{"\ngo\n"}},
		`TAG:x tag: tag:"" x`:            {Words: []string{"tag:", "x"}, Tags: []string{"\nx\n"}},
		"mine:":                          {Mine: true},
		"a mine:bc":                      {Words: []string{"a", "bc"}, Mine: true},
		`"tag:abc" http://x std::vector`: {Words: []string{"tag:abc", "http://x", "std::vector"}},
		"\"two\nlines\"":                 {Words: []string{"two lines"}},
		"漢字か":                            {Words: []string{"漢字か"}},
		"uſer:a":                         {Words: []string{"user:a"}},
	} {
		if got, err := Parse(text, same); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "ab", "a b c", `""`, "漢字", "user:-", "abc\xff",
		strings.Repeat("x", MaxLength+1)} {
		if got, err := Parse(text, same); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: got %+v, %v, want a fault.Invalid", text, got, err)
		}
	}
}

func TestMatchShowsLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100) + "Nadel" + strings.Repeat("y", 200)
	var d paste.Document
	d.Pasties = []paste.Pasty{{Code: "nadel\r\nother\n" + long}, {Code: "\nNADEL"}, {Code: "nadel\nnadel"}}
	query := Query{Words: []string{"nadel"}}
	lines, ok := query.Match(&d)
	want := []Line{
		{0, 1, "nadel"}, {0, 3, "…" + strings.Repeat("x", 60) + "Nadel" + strings.Repeat("y", 95) + "…"}, {1, 2, "NADEL"},
	}
	if !ok || !reflect.DeepEqual(lines, want) {
		t.Errorf("got %+v, %v, want %+v", lines, ok, want)
	}
	if lines, ok := (&Query{Words: []string{"nadel", "absent"}}).Match(&d); ok {
		t.Errorf("got %+v, want no match", lines)
	}
}

func TestCursorBefore(t *testing.T) {
	t.Parallel()
	at := func(inTitles bool, id paste.ID) Cursor {
		return Cursor{Cursor: paste.Cursor{ID: id}, InTitles: inTitles}
	}
	cursors := []Cursor{{}, at(true, "b"), at(true, "a"), at(false, "d"), at(false, "c")}
	for i, p := range cursors {
		for j, q := range cursors {
			if got := p.Before(q); got != (i < j) {
				t.Errorf("%v before %v: got %v, want %v", p, q, got, i < j)
			}
		}
	}
}
