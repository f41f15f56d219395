// Package marks writes users' text as HTML, and makes deceptive characters visible.
package marks

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"io"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"
	"golang.org/x/text/unicode/runenames"
)

// invisibles has the characters that get a mark: invisible ones, and those that reorder others (Unicode Standard Annex
// 9).
var invisibles = rangetable.Merge(
	unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
	rangetable.New('\u2800'), // Braille blank
)

// invisible reports whether a character gets a mark.
func invisible(r rune) bool {
	if r < 0x7f { // most characters
		return r < ' ' && r != '\t' && r != '\n'
	}
	return unicode.Is(invisibles, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) // Arabic signs around numbers
}

// entities has the escapes of the characters that HTML reserves.
var entities = [utf8.RuneSelf]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '"': "&#34;", '\'': "&#39;"}

// Max bounds the marks of one page, because a mark takes much more space than its character.
const Max = 10_000

// Replacement is U+FFFD, which replaces characters that HTML cannot contain.
var Replacement = []byte("\ufffd")

// Exceeded reports whether a page of these texts, each up to three times, may not show all of their characters.
func Exceeded(texts iter.Seq[string]) bool {
	budget := Max / 3
	for text := range texts {
		if len(text) < budget { // few pages have more
			budget -= len(text)
			continue
		}
		for _, r := range text {
			if invisible(r) {
				budget--
			}
		}
		if budget <= 0 {
			return true
		}
	}
	return false
}

// Marker writes texts as HTML, with marks. All texts of one page share a Marker.
type Marker struct{ remaining int } // marks that it may still write

type markerKey struct{}

// With returns the context for rendering one page.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, markerKey{}, &Marker{remaining: Max})
}

// Of returns the page's marker.
func Of(ctx context.Context) *Marker {
	m, _ := ctx.Value(markerKey{}).(*Marker)
	return m
}

// Append appends a text as HTML. With words, which is for prose, joiners within emoji and in scripts that need them get
// no mark. Once the marks are used up, one replacement character stands for a run of invisible characters.
func (m *Marker) Append(b []byte, text string, words bool) []byte {
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf && entities[r] != "":
			b = append(b, entities[r]...)
		case !invisible(r) || m.remaining > 0 && (varies(text, i) || words && joins(text, i)):
			b = utf8.AppendRune(b, r)
		case m.remaining > 0:
			m.remaining--
			b = appendMark(b, r)
		case !bytes.HasSuffix(b, Replacement):
			b = append(b, Replacement...)
		}
	}
	return b
}

// appendMark appends the mark of a character. It contains the character, so that copied code is complete, unless HTML
// forbids the character. bdi keeps it from reordering the rest.
func appendMark(b []byte, r rune) []byte {
	name := html.EscapeString(runenames.Name(r)) // such as <control>
	b = fmt.Appendf(b, `<bdi class="mark" data-mark="%02X" title="U+%04X %s">`, r, r, name)
	if r >= 0xa0 {
		b = utf8.AppendRune(b, r)
	}
	return append(b, "</bdi>"...)
}

// Text is a user's text, shown with marks and isolated, so that it cannot reorder the page.
type Text string

// Render implements templ.Component. The marker escapes the text.
func (t Text) Render(ctx context.Context, w io.Writer) error {
	_, err := w.Write(append(Of(ctx).Append([]byte("<bdi>"), string(t), true), "</bdi>"...))
	return err
}

// Parts is a Text in parts, some of them highlighted.
type Parts iter.Seq2[string, bool]

// Render implements templ.Component. The marker escapes the parts.
func (p Parts) Render(ctx context.Context, w io.Writer) error {
	m, b := Of(ctx), []byte("<bdi>")
	for text, isMatch := range p {
		if isMatch {
			b = append(m.Append(append(b, "<mark>"...), text, true), "</mark>"...)
		} else {
			b = m.Append(b, text, true)
		}
	}
	_, err := w.Write(append(b, "</bdi>"...))
	return err
}

// Plain replaces characters that would get marks, for attributes and titles.
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

// varies reports whether the character there is a variation selector after a character that has variants: an emoji, an
// ideograph or a mathematical sign. Elsewhere selectors are invisible, and a run of them can hide a program.
func varies(text string, at int) bool {
	r, size := utf8.DecodeRuneInString(text[at:])
	last, _ := utf8.DecodeLastRuneInString(text[:at])
	switch {
	case last < utf8.RuneSelf: // keycap emoji
		return r == 0xfe0f && (last == '#' || last == '*' || last >= '0' && last <= '9') &&
			strings.HasPrefix(text[at+size:], "\u20e3")
	case last == utf8.RuneError:
		return false
	case r == 0xfe0e || r == 0xfe0f:
		return emoji(last) || unicode.In(last, unicode.So, unicode.Sm) ||
			strings.ContainsRune("\u203c\u2049\u2139\u3030\u303d", last)
	case r >= 0xfe00 && r <= 0xfe02:
		return unicode.In(last, unicode.Han, unicode.Sm)
	}
	return false
}

const (
	nonJoiner = 0x200c
	joiner    = 0x200d
)

// joins reports whether the character there is a joiner between emoji, or one that a script needs between its letters
// (RFC 5892, appendix A, a little wider).
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
		last, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(text[:at], "\ufe0f")) // U+FE0F asks for a picture
		return r == joiner && emoji(last)
	}
	base := strings.TrimRightFunc(text[:at], func(r rune) bool {
		return unicode.Is(unicode.Inherited, r) && unicode.Is(unicode.Mn, r)
	})
	last, _ := utf8.DecodeLastRuneInString(base)
	return usesJoiners(last) && usesJoiners(next)
}

// usesJoiners reports whether a character is a letter or mark of a script that uses joiners: cursive scripts, and those
// of India and its neighbours.
func usesJoiners(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsMark(r)) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic, unicode.Adlam,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
		unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// emoji reports whether a character is in a block of emoji that may be joined.
func emoji(r rune) bool { return r >= 0x2600 && r <= 0x27bf || r >= 0x1f300 && r <= 0x1faff }
