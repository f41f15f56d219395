package pages

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

func TestBeginningOf(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`abc`: "a", `\G(?m)(?:^\bab?)`: "a", `(?i)k`: "Kk", `a?b*c`: "abc", `(a|b)+?c`: "ab", `[a-c-[b]]`: "ac", `a?[^\x00-y]`: "az{|}~\x7f",
		`(?=[^a])a`: "a", `(?<!x)(?>yz|z)`: "yz", `a{2,}|b{0,3}c`: "abc", `(?:a|\u00e4)b`: "a", `\u00e4`: "", `(?<n>a)\k<n>`: "a", `(?#b)a`: "a",
	} {
		got, begins := "", beginningOf(pattern)
		for character := range rune(utf8.RuneSelf) {
			if begins.with(character) {
				got += string(character)
			}
		}
		if got != want || !begins.with('\u00e4') {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
	for _, pattern := range []string{``, `a*`, `a|`, `(a)?\1b`, `(?r)ab`, `(?(?=a)a|b)`, `$`, `(?=a)`, `(`} {
		if got := beginningOf(pattern); got != anything {
			t.Errorf("%s: got %b, want anything", pattern, got)
		}
	}
}

// FuzzBeginningOf has matches begin with what they can begin with.
func FuzzBeginningOf(f *testing.F) {
	for _, pattern := range []string{
		`\G(?m)(?:^a|b?[^c]|(?i:d)\b)`, `(?i)k\w|\u212a`, `(?<=a)b|(?!c)[\w-[x]]`, `(a|b*?)+c`, `(?(?=a)a|b)`, `(?>a{0,2})b`,
		`a?.`, `(?s).`, `(?r)ab`,
	} {
		for _, text := range []string{"a", "b1", "k", "\u212a", "cc", "\n", "aab"} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 100 || len(text) > 100 {
			return
		}
		expression, err := regexp2.Compile(`\G(?:` + pattern + `)`)
		if err != nil {
			return
		}
		expression.MatchTimeout = time.Second
		runes, begins := []rune(text), beginningOf(`\G(?:`+pattern+`)`)
		for at := range runes {
			found, err := expression.FindRunesMatchStartingAt(runes, at)
			if err == nil && found != nil && found.RuneIndex == at && !begins.with(runes[at]) {
				t.Errorf("%q matches %q at %d, and begins with none of its characters", pattern, text, at)
			}
		}
	})
}
