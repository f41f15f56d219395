package gormstore

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]paste.Content{
		"nothing":  {Pasties: []paste.Pasty{}},
		"one":      {Title: "t", Pasties: []paste.Pasty{{ID: "abcdefgh", Title: "main.go", Language: "Go", Code: "package main\n"}}},
		"odd text": {Title: "\x00é\U0001f600", Tags: []string{"a", ""}, Pasties: []paste.Pasty{{Code: "\x00\r\n"}, {}}},
		"large":    {Pasties: []paste.Pasty{{Code: strings.Repeat("x", 1<<20)}}},
		"cipher":   {Tags: []string{"t"}, Cipher: &paste.Cipher{Data: []byte{0, 1}, Key: []byte("k"), Salt: []byte{}}},
	} {
		var got paste.Content
		if err := decodeDocument(string(encodeDocument(want)), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v (%v), want %+v", name, got, err, want)
		}
	}
}

func TestEditEntries(t *testing.T) {
	t.Parallel()
	want := []paste.Edit{
		{ID: "a", Type: paste.EditTitle, At: time.Unix(0, 0).UTC()},
		{ID: "b", Number: math.MaxInt64, Type: paste.EditPastyRemoved, Metadata: []string{"x", "", "y"}, Text: "\x00",
			At: time.Unix(-1, 0).UTC()},
		{ID: "c", Number: -7, Type: 255, At: time.Unix(1<<40, 0).UTC()},
	}
	var entries []byte
	for _, e := range want {
		entries = append(entries, encodeEdit(e)...)
	}
	if got, err := decodeEdits(string(entries), len(want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
	if got, err := decodeEdits("", 0); err != nil || got != nil {
		t.Errorf("got %v (%v) of nothing, want nothing", got, err)
	}
}

// FuzzDocuments sees that no stored value, however damaged, makes a read panic or take memory that it does not have.
func FuzzDocuments(f *testing.F) {
	f.Add(encodeDocument(paste.Content{Title: "t", Tags: []string{"a"}, Pasties: []paste.Pasty{{ID: "x", Code: "c"}}}))
	f.Add(encodeDocument(paste.Content{Cipher: &paste.Cipher{Data: []byte("d")}}))
	f.Add(encodeEdit(paste.Edit{ID: "a", Metadata: []string{"m"}, Text: "t"}))
	f.Add([]byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, stored []byte) {
		var c paste.Content
		if err := decodeDocument(string(stored), &c); err == nil {
			var again paste.Content
			if err := decodeDocument(string(encodeDocument(c)), &again); err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("got %+v (%v), want %+v as the first time", again, err, c)
			}
		}
		if edits, err := decodeEdits(string(stored), math.MaxInt); err == nil {
			for _, e := range edits {
				if again, err := decodeEdits(string(encodeEdit(e)), 1); err != nil || !reflect.DeepEqual(again[0], e) {
					t.Errorf("got %+v (%v), want %+v as the first time", again, err, e)
				}
			}
		}
	})
}
