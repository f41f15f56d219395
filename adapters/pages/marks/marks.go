// Package marks writes users' text as HTML, and makes deceptive characters visible.
package marks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// mark is how a range of deceptive characters is shown: invisible ones, and those that reorder others.
type mark struct {
	from, to    rune
	label, name string // empty label: the character's code
}

// marks are in the order of the characters.
var marks = []mark{
	{0x00, 0x00, "NUL", "null"}, {0x01, 0x06, "", control}, {0x07, 0x07, "BEL", "bell"}, {0x08, 0x08, "BS", "backspace"},
	{0x0b, 0x0c, "", control}, {0x0d, 0x0d, "CR", "carriage return"}, {0x0e, 0x1a, "", control}, {0x1b, 0x1b, "ESC", "escape"},
	{0x1c, 0x1f, "", control}, {0x7f, 0x7f, "DEL", "delete"}, {0x80, 0x84, "", control}, {0x85, 0x85, "NEL", "next line"},
	{0x86, 0x9f, "", control}, {0xad, 0xad, "SHY", "soft hyphen"}, {0x34f, 0x34f, "CGJ", "combining grapheme joiner"},
	{0x61c, 0x61c, "ALM", "Arabic letter mark"}, {0x115f, 0x115f, "HCF", "Hangul filler"}, {0x1160, 0x1160, "HJF", "Hangul filler"},
	{0x17b4, 0x17b5, "", "invisible character"}, {0x180b, 0x180d, "", selector}, {0x180e, 0x180e, "MVS", "Mongolian vowel separator"},
	{0x180f, 0x180f, "", selector}, {0x200b, 0x200b, "ZWSP", "zero width space"}, {0x200c, 0x200c, "ZWNJ", "zero width non-joiner"},
	{0x200d, 0x200d, "ZWJ", "zero width joiner"}, {0x200e, 0x200e, "LRM", "left-to-right mark"}, {0x200f, 0x200f, "RLM", "right-to-left mark"},
	{0x2028, 0x2028, "LS", "line separator"}, {0x2029, 0x2029, "PS", "paragraph separator"},
	{0x202a, 0x202a, "LRE", "left-to-right embedding"},
	{0x202b, 0x202b, "RLE", "right-to-left embedding"}, {0x202c, 0x202c, "PDF", "end of directional formatting"},
	{0x202d, 0x202d, "LRO", "left-to-right override"}, {0x202e, 0x202e, "RLO", "right-to-left override"},
	{0x2060, 0x2060, "WJ", "word joiner"}, {0x2061, 0x2065, "", "invisible character"}, {0x2066, 0x2066, "LRI", "left-to-right isolate"},
	{0x2067, 0x2067, "RLI", "right-to-left isolate"}, {0x2068, 0x2068, "FSI", "first strong isolate"},
	{0x2069, 0x2069, "PDI", "end of isolate"},
	{0x206a, 0x206f, "", "invisible character"}, {0x2800, 0x2800, "BLANK", "Braille blank"}, {0x3164, 0x3164, "HF", "Hangul filler"},
	{0xfe00, 0xfe0f, "", selector}, {0xfeff, 0xfeff, "BOM", "byte order mark"}, {0xffa0, 0xffa0, "HHF", "Hangul filler"},
	{0xfff0, 0xfffb, "", "invisible character"}, {0x1bca0, 0x1bca3, "", "invisible character"},
	{0x1d173, 0x1d17a, "", "invisible character"}, {0xe0000, 0xe0fff, "", "invisible character"},
}

const (
	control  = "control character"
	selector = "variation selector"
)

// invisibles is the set of the characters that have a mark.
var invisibles = func() *unicode.RangeTable {
	set := new(unicode.RangeTable)
	for _, m := range marks {
		if m.to <= 0xffff {
			set.R16 = append(set.R16, unicode.Range16{Lo: uint16(m.from), Hi: uint16(m.to), Stride: 1})
		} else {
			set.R32 = append(set.R32, unicode.Range32{Lo: uint32(m.from), Hi: uint32(m.to), Stride: 1})
		}
	}
	return set
}()

// invisible reports whether a character has a mark.
func invisible(r rune) bool {
	if r < 0x7f { // most characters
		return r < ' ' && r != '\t' && r != '\n'
	}
	return unicode.Is(invisibles, r)
}

// suspicious reports whether a character that begins with this byte may have a mark. It lets Append skip most code byte by byte.
func suspicious(c byte) bool {
	if c < 0x7f {
		return c < ' ' && c != '\t' && c != '\n'
	}
	// U+007F to U+00BF, U+034F, U+061C, U+1000 to U+3FFF, and from U+F000 on.
	return c == 0x7f || c == 0xc2 || c == 0xcd || c == 0xd8 || c >= 0xe1 && c <= 0xe3 || c >= 0xef
}

// entities are the characters that HTML needs escaped.
var entities = [256]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&#34;", '\'': "&#39;"}

// Max bounds the marks of one page, because each takes much more than its character.
const Max = 10_000

// Replacement is U+FFFD, which replaces characters that HTML cannot contain.
var Replacement = []byte("\ufffd")

// Marker writes texts as HTML, with marks. All texts of one page share one.
type Marker struct{ left int } // how many marks it may still write

type markerKey struct{}

// With returns the context for rendering one page.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, markerKey{}, &Marker{left: Max})
}

// Of returns the page's marker.
func Of(ctx context.Context) *Marker {
	m, _ := ctx.Value(markerKey{}).(*Marker)
	return m
}

// Append appends a text as HTML. With words, which is not for code, joiners within emoji and in scripts that need them get no mark. Once
// the marks are used up, one replacement character stands for a run of invisible characters.
func (m *Marker) Append(b []byte, text string, words bool) []byte {
	plain := 0 // text[plain:i] is still to be appended as it is
	for i := 0; i < len(text); {
		c := text[i]
		if entity := entities[c]; entity != "" {
			b = append(append(b, text[plain:i]...), entity...)
			i++
			plain = i
			continue
		}
		if !suspicious(c) {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if !invisible(r) || m.left > 0 && (varies(text, i) || words && joins(text, i)) {
			i += size
			continue
		}
		if plain < i {
			b = append(b, text[plain:i]...)
		}
		begins := plain < i || i == 0
		i += size
		if m.left > 0 {
			m.left--
			b = appendMark(b, r)
		} else {
			if begins || !bytes.HasSuffix(b, Replacement) {
				b = append(b, Replacement...)
			}
			for i < len(text) && text[i] < utf8.RuneSelf && suspicious(text[i]) { // the run goes on
				i++
			}
		}
		plain = i
	}
	return append(b, text[plain:]...)
}

// openings are the elements of marks by their characters.
var openings = sync.OnceValue(func() map[rune]string {
	all := make(map[rune]string)
	for _, m := range marks {
		for r := m.from; r <= m.to; r++ {
			label := m.label
			if label == "" {
				label = fmt.Sprintf("%02X", r)
			}
			all[r] = fmt.Sprintf(`<bdi class="mark" data-mark="%s" title="U+%04X %s">`, label, r, m.name)
		}
	}
	return all
})

// appendMark appends the mark of a character. It contains the character, so that copied code is complete, unless HTML cannot; bdi keeps it
// from reordering the rest.
func appendMark(b []byte, r rune) []byte {
	b = append(b, openings()[r]...)
	if r >= 0xa0 {
		b = utf8.AppendRune(b, r)
	}
	return append(b, "</bdi>"...)
}

// Text is users' text that is shown with marks, isolated so that it cannot reorder the page.
type Text string

// Render implements templ.Component. The marker escapes the text.
func (t Text) Render(ctx context.Context, w io.Writer) error {
	_, err := w.Write(append(Of(ctx).Append([]byte("<bdi>"), string(t), true), "</bdi>"...))
	return err
}

// Plain replaces characters that would have marks, for attributes and titles.
func Plain(text string) string {
	var b strings.Builder
	for i, r := range text {
		if invisible(r) && !varies(text, i) && !joins(text, i) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String()
}

// varies reports whether the character there is a variation selector after a character that has variants: an emoji, an ideograph or a
// mathematical sign. Elsewhere selectors are invisible, and a run of them can hide a program.
func varies(text string, at int) bool {
	r, size := utf8.DecodeRuneInString(text[at:])
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	switch {
	case last < utf8.RuneSelf: // keycap emoji
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

// joins reports whether the character there is a joiner between emoji, or one that a script needs between its letters (RFC 5892, appendix
// A, a little wider).
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

// joined reports whether a character is a letter or mark of a script that uses joiners: cursive scripts, and those of India and its
// neighbours.
func joined(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Adlam,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// emoji reports whether a character is in a block of emoji that may be joined.
func emoji(r rune) bool { return r >= 0x2600 && r <= 0x27bf || r >= 0x1f300 && r <= 0x1faff }
