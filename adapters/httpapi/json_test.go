package httpapi

import (
	"strings"
	"testing"
)

// TestAppendCharacters compares with the encoder, wherever in a text a character stands.
func TestAppendCharacters(t *testing.T) {
	t.Parallel()
	texts := []string{"", "plain", "\"\\\n\r\t", "a\nä", "ä\n", "\n\xff", "x\u2028", "<>&"}
	for c := range 256 {
		c := string([]byte{byte(c)})
		texts = append(texts, c, c+"x", "x"+c, "\n"+c+"\t\""+c)
	}
	for _, text := range texts {
		got, want := newJSONBuffer(), newJSONBuffer()
		got.text.WriteString("before")
		if err := got.appendCharacters(text); err != nil {
			t.Fatal(err)
		}
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
		if err := buffer.appendCharacters(code); err != nil {
			b.Fatal(err)
		}
	}
}
