package editor

import (
	"strings"
	"testing"
)

func TestRestoreLineEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ original, sent, want string }{
		"LF":                         {"a\nb", "a\nc", "a\nc"},
		"untouched":                  {"a\r\nb\rc\n\x00", "a\nb\nc\n\ufffd", "a\r\nb\rc\n\x00"},
		"a changed line":             {"a\r\nb\r\nc\r\n", "a\nx\nc\n", "a\r\nx\r\nc\r\n"},
		"a new first line":           {"a\r\nb", "x\na\nb", "x\r\na\r\nb"},
		"new lines at the end":       {"a\r\nb", "a\nb\nc\nd", "a\r\nb\r\nc\r\nd"},
		"a line less":                {"a\nb\r\nc\n", "a\nc\n", "a\nc\n"},
		"nothing left":               {"a\r\nb\r\n", "", ""},
		"everything new":             {"a\r\nb\r\n", "x\ny", "x\r\ny"},
		"moved lines":                {"a\nb\r\nc\nd\r\n", "d\nc\nb\na\n", "d\r\nc\nb\r\na\n"},
		"mixed ends around a change": {"h\n-a\r\n+b\r\n c\r\n", "h\n-a\n+x\n+y\n c\n", "h\n-a\r\n+x\r\n+y\r\n c\r\n"},
		"the same text, other ends":  {"\r\n\n\r\n\n", "\n\nx\n\n\n", "\r\n\nx\n\r\n\n"},
		"lone CR":                    {"1%\r2%\rdone\n", "1%\n2%\nend\n", "1%\r2%\rend\r"},
		"one line without an end":    {"\x00", "a", "a"},
		"an end that was removed":    {"a\r\nb\r\n", "a\nb", "a\r\nb"},
		"a zero byte in a kept line": {"a\x00\r\nb\r\n", "a\ufffd\nc\n", "a\x00\r\nc\r\n"},
		"many changed lines": {
			strings.Repeat("a\r\n", 1<<18), strings.Repeat("b\n", 1<<18), strings.Repeat("b\r\n", 1<<18),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := restoreLineEnds(c.original, c.sent)
			if got != c.want {
				t.Errorf("got %.200q, want %.200q", got, c.want)
			}
			if asText(got) != c.sent {
				t.Errorf("got %.200q, want the same text but for line ends as %.200q", got, c.sent)
			}
		})
	}
}

func FuzzRestored(f *testing.F) {
	f.Add("a\r\nb\rc\n", "a\nx\nc\n")
	f.Add("\r\r\n\n\x00", "\n\n\n")
	f.Add("\r0\n\n", "\n\n")
	f.Fuzz(func(t *testing.T, original, sent string) {
		original, sent = strings.ToValidUTF8(original, ""), asText(strings.ToValidUTF8(sent, ""))
		if got := restoreLineEnds(original, sent); asText(got) != sent {
			t.Errorf("%q, %q: got %q, want what was sent, but for line ends", original, sent, got)
		}
		if got := restoreLineEnds(original, asText(original)); got != original {
			t.Errorf("got %q, want %q", got, original)
		}
	})
}
