package marks

import (
	"strings"
	"testing"
	"unicode"
)

// TestInvisible checks that each character of these kinds gets a mark.
func TestInvisible(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.In(r, unicode.Bidi_Control, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Zl, unicode.Zp) || unicode.Is(unicode.Cc, r) && r != '\t' && r != '\n'
		m := Marker{remaining: 1}
		if got := strings.Contains(string(m.Append(nil, string(r), false)), "data-mark"); want && !got {
			t.Errorf("U+%04X: got no mark, want one", r)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                  "",
		"a < b && c > \"d'": "a &lt; b &amp;&amp; c &gt; &#34;d&#39;",
		"naïve – 漢字 🙂\n\t":  "naïve – 漢字 🙂\n\t",
		"a\u202eb": "a<bdi class=\"mark\" data-mark=\"202E\" title=\"U+202E RIGHT-TO-LEFT " +
			"OVERRIDE\">\u202e</bdi>b",
		"\x00":                    `<bdi class="mark" data-mark="00" title="U+0000 &lt;control&gt;"></bdi>`,
		"x\r":                     `x<bdi class="mark" data-mark="0D" title="U+000D &lt;control&gt;"></bdi>`,
		"\x01":                    `<bdi class="mark" data-mark="01" title="U+0001 &lt;control&gt;"></bdi>`,
		"</script><script>alert(": "&lt;/script&gt;&lt;script&gt;alert(",
	} {
		m := Marker{remaining: 10}
		if got := string(m.Append(nil, text, false)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	m := Marker{remaining: 2}
	got := string(m.Append(nil, strings.Repeat("\x00", 5)+"a\x00\ufeff❤\ufe0f", false))
	if _, rest, ok := strings.Cut(got, "</bdi><bdi "); !ok || !strings.HasSuffix(rest, "</bdi>\ufffda\ufffd❤\ufffd") {
		t.Errorf("got %s, want two marks, and then one replacement character for each row", got)
	}
}

// TestJoiners checks titles with emoji of families and professions, and in languages that need joiners.
func TestJoiners(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"👨\u200d👩\u200d👧 and 👩🏽\u200d💻": "👨\u200d👩\u200d👧 and 👩🏽\u200d💻", "❤\ufe0f\u200d🔥": "❤\ufe0f\u200d🔥",
		"a\u200db": "a\ufffdb", "\u200d👩": "\ufffd👩", "👩\u200d": "👩\ufffd", "a\ufe0f\u200d👩": "a\ufffd\ufffd👩",
		"👩\u200d\u200d👩": "👩\ufffd\ufffd👩", "👩\u200b👩": "👩\ufffd👩",
		"👩\u200c👩":      "👩\ufffd👩",
		"می\u200cخواهم": "می\u200cخواهم", "می\u064e\u200cخ": "می\u064e\u200cخ", "क्\u200dष क्\u200cष": "क्\u200dष क्\u200cष",
		"ශ්\u200dරී": "ශ්\u200dරී", "می\u200c\u200cخ": "می\ufffd\ufffdخ", "می\u200bخ": "می\ufffdخ", "می\u200c": "می\ufffd",
		"pay\u200cpal": "pay\ufffdpal", "а\u200cб": "а\ufffdб", "α\u200dβ": "α\ufffdβ", "a\u200cخ": "a\ufffdخ",
		"خ\u200ca": "خ\ufffda",
		"漢\u200c字": "漢\ufffd字", "a\u0301\u200cخ": "a\u0301\ufffdخ", "é\u200dé": "é\ufffdé",
	} {
		if got := Plain(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
		var b strings.Builder
		if err := Text(title).Render(With(t.Context()), &b); err != nil ||
			strings.Contains(b.String(), "data-mark") != (title != want) {
			t.Errorf("%q: got %v, %s, want marks where %q has replacement characters", title, err, b.String(), want)
		}
	}
	m := Marker{remaining: 10}
	for _, code := range []string{"👩\u200d💻", "می\u200cخ"} {
		if got := string(m.Append(nil, code, false)); !strings.Contains(got, `data-mark="200`) {
			t.Errorf("got %s in code, want the mark", got)
		}
	}
}

// TestVariationSelectors checks selectors that belong to emoji, and some that hide a message.
func TestVariationSelectors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"❤\ufe0f ☎\ufe0e ©\ufe0f ™\ufe0f ↔\ufe0f ℹ\ufe0f 1\ufe0f\u20e3": "❤\ufe0f ☎\ufe0e ©\ufe0f ™\ufe0f ↔\ufe0f " +
			"ℹ\ufe0f 1\ufe0f\u20e3",
		"社\ufe00 \u2229\ufe00": "社\ufe00 \u2229\ufe00", "eval\ufe00": "eval\ufffd",
		"'\ufe01\ufe0e\ufe0f'": "'\ufffd\ufffd\ufffd'",
		"❤\ufe0f\ufe0f\ufe03":  "❤\ufe0f\ufffd\ufffd", "1\ufe0f0": "1\ufffd0",
		"a =\ufe0f +\ufe00": "a =\ufffd +\ufffd", "社\ufe0f": "社\ufffd", "葛\U000e0100": "葛\ufffd",
		"naï\ufe01ve ─\U000e0101": "naï\ufffdve ─\ufffd", "\ufe0f": "\ufffd",
		"a\u180bb\u17b4c\ufff0d\U0001bca0e\U0001d173": "a\ufffdb\ufffdc\ufffdd\ufffde\ufffd", "\u1820\u180b": "\u1820\u180b",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		m := Marker{remaining: 10}
		if got, n := string(m.Append(nil, text, true)),
			strings.Count(want, "\ufffd"); strings.Count(got, "<bdi ") != n {
			t.Errorf("%q: got %s, want %d marks", text, got, n)
		}
	}
	m := Marker{remaining: 10}
	if got := string(m.Append(nil, "// ❤\ufe0f x\ufe0f", false)); strings.Count(got, "<bdi ") != 1 {
		t.Errorf("got %s in code, want one mark", got)
	}
}
