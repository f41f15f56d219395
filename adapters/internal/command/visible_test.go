package command

import (
	"testing"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]string{ // as text, and on one line
		"":                             {"", ""},
		"a\tb\n漢\u200dé שלום":          {"a\tb\n漢\u200dé שלום", "a" + `\u0009b\u000a` + "漢\u200dé שלום"},
		"\x1b[31m\x00\r\x7f\u009b":     {`\u001b[31m\u0000\u000d\u007f\u009b`, `\u001b[31m\u0000\u000d\u007f\u009b`},
		"\x9b31mred":                   {"\ufffd31mred", "\ufffd31mred"},
		"if \u202e\u2066x\u2069\u200f": {`if \u202e\u2066x\u2069\u200f`, `if \u202e\u2066x\u2069\u200f`},
	} {
		if got := [2]string{Visible(text), Line(text)}; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
