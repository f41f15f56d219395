package pages

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is how a character is shown that would deceive the eye: one that cannot be seen, or that moves others.
type mark struct{ label, name string }

// marks are those of single characters; markOf knows the rest.
var marks = map[rune]mark{
	0x00: {"NUL", "null"}, 0x07: {"BEL", "bell"}, 0x08: {"BS", "backspace"}, 0x0d: {"CR", "carriage return"},
	0x1b: {"ESC", "escape"}, 0x7f: {"DEL", "delete"}, 0x85: {"NEL", "next line"},
	0xad: {"SHY", "soft hyphen"}, 0x34f: {"CGJ", "combining grapheme joiner"}, 0x61c: {"ALM", "Arabic letter mark"},
	0x115f: {"HCF", "Hangul filler"}, 0x1160: {"HJF", "Hangul filler"}, 0x3164: {"HF", "Hangul filler"}, 0xffa0: {"HHF", "Hangul filler"},
	0x180e: {"MVS", "Mongolian vowel separator"},
	0x200b: {"ZWSP", "zero width space"}, 0x200c: {"ZWNJ", "zero width non-joiner"}, 0x200d: {"ZWJ", "zero width joiner"},
	0x200e: {"LRM", "left-to-right mark"}, 0x200f: {"RLM", "right-to-left mark"},
	0x2028: {"LS", "line separator"}, 0x2029: {"PS", "paragraph separator"},
	0x202a: {"LRE", "left-to-right embedding"}, 0x202b: {"RLE", "right-to-left embedding"},
	0x202c: {"PDF", "end of directional formatting"},
	0x202d: {"LRO", "left-to-right override"}, 0x202e: {"RLO", "right-to-left override"},
	0x2060: {"WJ", "word joiner"}, 0x2066: {"LRI", "left-to-right isolate"}, 0x2067: {"RLI", "right-to-left isolate"},
	0x2068: {"FSI", "first strong isolate"}, 0x2069: {"PDI", "end of isolate"},
	0x2800: {"BLANK", "Braille blank"}, 0xfeff: {"BOM", "byte order mark"},
}

// markOf returns the mark of a character, if it has one.
func markOf(r rune) (mark, bool) {
	if known, ok := marks[r]; ok {
		return known, true
	}
	switch {
	case r == '\t' || r == '\n':
		return mark{}, false
	case r < ' ' || r >= 0x80 && r < 0xa0:
		return mark{fmt.Sprintf("%02X", r), "control character"}, true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0x180b && r <= 0x180f:
		return mark{fmt.Sprintf("%04X", r), "variation selector"}, true
	case r == 0x17b4, r == 0x17b5, r >= 0x2061 && r <= 0x206f, r >= 0xfff0 && r <= 0xfffb, r >= 0x1bca0 && r <= 0x1bca3,
		r >= 0x1d173 && r <= 0x1d17a:
		return mark{fmt.Sprintf("%04X", r), "invisible character"}, true
	case r >= 0xe0000 && r <= 0xe0fff:
		return mark{fmt.Sprintf("%X", r), "invisible character"}, true
	}
	return mark{}, false
}

// suspicious reports whether a character that begins with the byte at s[i] can have a mark: most code has none, and is looked
// through byte by byte.
func suspicious(c byte) bool {
	switch {
	case c < ' ':
		return c != '\t' && c != '\n'
	case c < 0x7f:
		return false
	}
	// U+0080 to U+00BF, U+034F, U+061C, U+1000 to U+3FFF, U+F000 to U+FFFF and all beyond.
	return c == 0x7f || c == 0xc2 || c == 0xcd || c == 0xd8 || c >= 0xe1 && c <= 0xe3 || c >= 0xef
}

// marker writes texts as HTML, with marks.
type marker struct {
	// left is how many marks may still be written: each takes much more than its character. Beyond, there is
	// a replacement character.
	left int
	// title is set for words rather than code: a joiner that makes one picture of two emoji, or that a script needs, has no
	// mark there.
	title bool
}

// append appends a text as HTML.
func (m *marker) append(b []byte, text string) []byte {
	plain := 0
	for i := 0; i < len(text); {
		c := text[i]
		var entity string
		switch c {
		case '&':
			entity = "&amp;"
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		case '"':
			entity = "&#34;"
		case '\'':
			entity = "&#39;"
		default:
			if !suspicious(c) {
				i++
				continue
			}
			r, size := utf8.DecodeRuneInString(text[i:])
			shown, ok := markOf(r)
			if !ok || varies(text, i) || m.title && joins(text, i) {
				i += size
				continue
			}
			b = append(b, text[plain:i]...)
			b = m.mark(b, r, shown)
			i += size
			plain = i
			continue
		}
		b = append(b, text[plain:i]...)
		b = append(b, entity...)
		i++
		plain = i
	}
	return append(b, text[plain:]...)
}

// mark appends the mark of a character. The character is in it, for who copies the code, isolated so that it moves nothing; but
// not where HTML has no way to hold it.
func (m *marker) mark(b []byte, r rune, shown mark) []byte {
	if m.left <= 0 {
		return append(b, "\ufffd"...)
	}
	m.left--
	b = fmt.Appendf(b, `<bdi class="mark" data-mark="%s" title="U+%04X %s">`, shown.label, r, shown.name)
	if r >= 0xa0 {
		b = utf8.AppendRune(b, r)
	}
	return append(b, "</bdi>"...)
}

// maxTitleMarks bounds those of one title.
const maxTitleMarks = 100

// text is one that others have written, and that a page shows with marks, isolated so that it moves nothing beside it. It becomes HTML
// when it is written: those of a whole history would be several times as long as itself.
type text string

// Render writes it (templ.Component). It is escaped by the marker, and nothing else writes HTML but that and templ.
func (t text) Render(_ context.Context, w io.Writer) error {
	m := marker{left: maxTitleMarks, title: true}
	_, err := w.Write(append(m.append([]byte("<bdi>"), string(t)), "</bdi>"...))
	return err
}

// unmarked returns a text without what would have marks, for where HTML takes no elements.
func unmarked(text string) string {
	var b strings.Builder
	for i, r := range text {
		if _, ok := markOf(r); ok && !varies(text, i) && !joins(text, i) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

// varies reports whether what stands there asks for another look of the character before it, which is one that has several: a picture,
// or an ideograph or a sign of mathematics. Anywhere else it cannot be seen, and a row of them can hold a whole program.
func varies(text string, at int) bool {
	r, size := utf8.DecodeRuneInString(text[at:])
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	switch {
	case last < utf8.RuneSelf: // the picture of a key
		return r == 0xfe0f && (last == '#' || last == '*' || last >= '0' && last <= '9') && strings.HasPrefix(text[at+size:], "\u20e3")
	case last == utf8.RuneError:
		return false
	case r == 0xfe0e || r == 0xfe0f:
		return emoji(last) || unicode.In(last, unicode.So, unicode.Sm) || strings.ContainsRune("\u203c\u2049\u2139\u3030\u303d", last)
	case r >= 0xfe00 && r <= 0xfe02:
		return unicode.In(last, unicode.Han, unicode.Sm)
	}
	return false
}

const (
	nonJoiner = 0x200c
	joiner    = 0x200d
)

// joins reports whether what stands there is a joiner that makes one picture of the emoji on both sides, or that a script needs
// between its letters (RFC 5892, appendix A; a little wider, as a title is no identifier).
func joins(text string, at int) bool {
	r, size := utf8.DecodeRuneInString(text[at:])
	if r >= 0x180b && r <= 0x180f && r != 0x180e { // another shape of a letter
		last, _ := utf8.DecodeLastRuneInString(text[:at])
		return unicode.IsLetter(last) && unicode.Is(unicode.Mongolian, last)
	}
	if r != joiner && r != nonJoiner {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[at+size:])
	if emoji(next) {
		last, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(text[:at], "\ufe0f")) // which asks for a picture
		return r == joiner && emoji(last)
	}
	base := strings.TrimRightFunc(text[:at], func(r rune) bool { return unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.Mn, r) })
	last, _ := utf8.DecodeLastRuneInString(base)
	return joined(last) && joined(next)
}

// joined reports whether a character is a letter, or a mark of a letter, of a script whose letters joiners form: those that are
// written joined, and those of India and beside it, where a joiner makes another shape of a consonant.
func joined(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Adlam,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// emoji reports whether a character is in one of the blocks that those have which are joined.
func emoji(r rune) bool { return r >= 0x2600 && r <= 0x27bf || r >= 0x1f300 && r <= 0x1faff }
