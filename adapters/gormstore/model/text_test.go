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
		stored, ok := value.(string)
		if err != nil || !ok || strings.ContainsRune(stored, 0) {
			t.Errorf("%q is stored as %q, error %v, want a text without U+0000", text, value, err)
		}
		var back Text
		if err := back.Scan([]byte(stored)); err != nil || string(back) != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
	})
}
