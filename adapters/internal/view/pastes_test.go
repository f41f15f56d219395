package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

// TestAnswersInPieces compares answers with what encoding/json writes, wherever the pieces end.
func TestAnswersInPieces(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"a", "é", "\u2028", "😀", "\n", `"`, "\x00", "ab\t", "\xff"} {
		for _, length := range []int{0, 1, pieceLength - 2, pieceLength - 1, pieceLength, pieceLength + 1, 3 * pieceLength} {
			code := "x" + strings.Repeat(unit, length/len(unit))
			d := paste.Document{
				Paste: paste.Paste{ID: "paste001", Owner: "epoxy001", CreatedAt: time.Unix(1e9, 1), ExpiresAt: time.Unix(2e9, 0)},
				Content: paste.Content{
					Title: unit, Tags: []string{unit, "b"}, Lifetime: "1w", Pasties: []paste.Pasty{{ID: "p1", Code: code}, {ID: "p2"}},
					Edits: []paste.Edit{{ID: "e1", Number: 7, Type: paste.EditTitle, Text: code, At: time.Unix(1e9, 0)}},
				},
			}
			var got bytes.Buffer
			if err := WritePaste(closedPipe{}, &d); !errors.Is(err, io.ErrClosedPipe) { // it must not affect the next paste
				t.Fatalf("a closed connection: got %v, want %v", err, io.ErrClosedPipe)
			}
			if err := WritePaste(&got, &d); err != nil {
				t.Fatal(err)
			}
			codeJSON, unitJSON := quoteJSON(t, code), quoteJSON(t, unit)
			want := `{"_id":"paste001","ownerId":"epoxy001","title":` + unitJSON + `,"createdAt":1000000000,"expiresIn":"1w",` +
				`"deletesAt":2000000000,"stars":0,"isPrivate":false,"isPublic":false,"tags":[` + unitJSON +
				`,"b"],"encrypted":false,"pasties":[` +
				`{"_id":"p1","language":"","title":"","code":` + codeJSON +
				`},{"_id":"p2","language":"","title":"","code":""}],"edits":[` +
				`{"_id":"e1","editId":7,"editType":0,"metadata":[],"edit":` + codeJSON + `,"editedAt":1000000000}]}`
			if got.String() != want {
				t.Errorf("%d times %q: got %d bytes, %.300s, want %d bytes", length, unit, got.Len(), got.String(), len(want))
			}
		}
	}
}

// closedPipe is a client that has hung up.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func quoteJSON(t *testing.T, text string) string {
	t.Helper()
	body, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
