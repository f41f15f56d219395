package site

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPieces checks that texts are cut between characters, and anywhere if they are not UTF-8.
func TestPieces(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "short": "code", "wide": "x" + strings.Repeat("🙂", pieceLength),
		"binary": strings.Repeat("\x80", 3*pieceLength),
	} {
		got := slices.Collect(Pieces(text))
		if strings.Join(got, "") != text {
			t.Errorf("%s: got other bytes, want those of the text", name)
		}
		for _, piece := range got {
			if piece == "" || len(piece) > pieceLength || utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Errorf("%s: got a piece of %d bytes, want one of whole characters, of %d at most", name, len(piece), pieceLength)
			}
		}
	}
}
