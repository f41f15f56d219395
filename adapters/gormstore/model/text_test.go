package model

import (
	"strings"
	"testing"
)

func FuzzText(f *testing.F) {
	for _, text := range []string{"", "plain", "\x00", "\x1a", "\x1a0", "\x1a\x1a1\x00", "ä\x00\x1a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := Text(text).Value()
		encoded, ok := value.(string)
		if err != nil || !ok || strings.ContainsRune(encoded, 0) {
			t.Errorf("%q: got %q, error %v, want a text without U+0000", text, value, err)
		}
		var back Text
		if err := back.Scan([]byte(encoded)); err != nil || string(back) != text {
			t.Errorf("scanning %q: got %q, error %v, want %q", encoded, back, err, text)
		}
	})
}
