package pages

import (
	"strings"
	"testing"
	"unicode"
)

// TestSuspicious holds the quick look at bytes against the table.
func TestSuspicious(t *testing.T) {
	t.Parallel()
	marked := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if _, ok := markOf(r); ok {
			marked++
			if !suspicious(string(r)[0]) {
				t.Errorf("U+%04X has a mark, but its first byte is not suspicious", r)
			}
		} else if unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Cc, r) && r != '\t' && r != '\n' {
			t.Errorf("U+%04X: got no mark, want one", r)
		}
	}
	if marked < 4000 {
		t.Errorf("got %d characters with marks, want all of the invisible ones", marked)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		"a < b && c > \"d'":       "a &lt; b &amp;&amp; c &gt; &#34;d&#39;",
		"naïve – 漢字 🙂\n\t":        "naïve – 漢字 🙂\n\t",
		"a\u202eb":                "a<bdi class=\"mark\" data-mark=\"RLO\" title=\"U+202E right-to-left override\">\u202e</bdi>b",
		"\x00":                    `<bdi class="mark" data-mark="NUL" title="U+0000 null"></bdi>`,
		"x\r":                     `x<bdi class="mark" data-mark="CR" title="U+000D carriage return"></bdi>`,
		"\x01":                    `<bdi class="mark" data-mark="01" title="U+0001 control character"></bdi>`,
		"</script><script>alert(": "&lt;/script&gt;&lt;script&gt;alert(",
	} {
		m := marker{left: 10}
		if got := string(m.append(nil, text)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	m := marker{left: 2}
	if got := string(m.append(nil, strings.Repeat("\x00", 5))); strings.Count(got, "<bdi") != 2 || strings.Count(got, "\ufffd") != 3 {
		t.Errorf("got %s, want two marks and three replacement characters", got)
	}
}
