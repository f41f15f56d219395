package httpapi

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestAppendCharacters compares with the encoder, wherever in a text a character stands.
func TestAppendCharacters(t *testing.T) {
	t.Parallel()
	texts := []string{"", "plain", "\"\\\n\r\t", "a\nä", "ä\n", "\n\xff", "x\u2028", "<>&",
		strings.Repeat("\x00", 100), strings.Repeat("\xe2\x80", 100)}
	for c := range 256 {
		c := string([]byte{byte(c)})
		texts = append(texts, c, c+"x", "x"+c, "\n"+c+"\t\""+c)
		for before := range 2 * wordSize { // of words, the one that has it is anywhere
			texts = append(texts, strings.Repeat("a", before)+c+strings.Repeat("b", wordSize+1)+c+c)
		}
	}
	characters := []rune("ab\"\\\n\t\x00\x1f\x7fä€😀\u2028\u2029<")
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var text []byte
		for range random.IntN(60) {
			text = utf8.AppendRune(text, characters[random.IntN(len(characters))])
		}
		if len(text) > 0 { // perhaps in the middle of a character
			text = text[random.IntN(len(text)):]
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		got, want := newJSONBuffer(), newJSONBuffer()
		got.text.WriteString("before")
		got.appendCharacters(text)
		if err := want.encode(text); err != nil {
			t.Fatal(err)
		}
		if inside := strings.TrimPrefix(got.text.String(), "before"); `"`+inside+`"` != want.text.String() {
			t.Errorf("%q: got %q, want %q", text, inside, want.text.String())
		}
		got.release()
		want.release()
	}
}

func BenchmarkAppendCharacters(b *testing.B) {
	code := strings.Repeat("\tif x < 1 && y > 2 {\n\t\tfmt.Println(\"line\", x)\n\t}\n", 42) // 2 KiB
	buffer := newJSONBuffer()
	b.ReportAllocs()
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		buffer.text.Reset()
		buffer.appendCharacters(code)
	}
}
