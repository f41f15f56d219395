package editor_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/tests/visit"
)

// patch changes a file with CRLF: only some of its lines end with that.
const patch = "--- a/w.bat\n+++ b/w.bat\n@@ -1,2 +1,2 @@\n-echo one\r\n+echo three\r\n echo two\r\n"

// chosen is a file of a form.
type chosen struct{ name, content string }

// postsFiles sends a form as browsers do when files were chosen.
func postsFiles(s *visit.Site, fields visit.Form, files ...chosen) *httptest.ResponseRecorder {
	s.T.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1]) // a buffer takes everything
	}
	for _, file := range files {
		part, err := w.CreateFormFile("file", file.name)
		if err != nil {
			s.T.Fatal(err)
		}
		_, _ = part.Write([]byte(file.content))
	}
	_ = w.Close()
	r := httptest.NewRequestWithContext(s.T.Context(), http.MethodPost, "/", &b)
	r.Header.Set("Content-Type", w.FormDataContentType())
	answer, err := s.Answers(r)
	if err != nil {
		s.T.Fatal(err)
	}
	return answer
}

func TestChosenFiles(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	blank := visit.Form{"snippet", "", "name", "", "language", "Go", "code", ""}
	answer := postsFiles(s, blank, chosen{"main.go", "a\r\nb\x00"}, chosen{"ü \"x\".txt", ""})
	if answer.Code != http.StatusSeeOther {
		t.Fatalf("got %d %s, want a paste", answer.Code, answer.Body)
	}
	stored := s.Stored(answer.Header().Get("Location"))
	want := `"" unlisted [] "main.go" Autodetect "a\r\nb\x00" "ü \"x\".txt" Autodetect ""`
	if visit.Summary(stored) != want {
		t.Errorf("got %s, want %s", visit.Summary(stored), want)
	}
	answer = postsFiles(s, append(blank, "do", "add"), chosen{"a.patch", patch}, chosen{"b.txt", "x\n"})
	form := visit.FilledIn(answer.Body.String()).With("name", 0, "b.patch").With("code", 2, "typed\nhere")
	stored = s.Stored(s.Lands("/", form))
	want = fmt.Sprintf(
		`"" unlisted [] "b.patch" Autodetect %q "b.txt" Autodetect "x\n" "" Autodetect "typed\nhere"`, patch)
	if visit.Summary(stored) != want {
		t.Errorf("got %s, want the bytes of the files after the form came back: %s", visit.Summary(stored), want)
	}
	for _, wrong := range []string{"%", "/w==", "YQ"} {
		if _, err := s.Posts("/", visit.Form{"code", "x", "original", wrong}); !errors.Is(err, site.ErrBrokenForm) {
			t.Errorf("%q: got %v, want that the form is broken", wrong, err)
		}
	}
	answer = postsFiles(s, visit.Form{"name", "", "language", "Go", "code", "typed"}, chosen{"", ""})
	if answer.Code != http.StatusSeeOther || len(s.Stored(answer.Header().Get("Location")).Pasties) != 1 {
		t.Errorf("got %d %s, want what was typed alone", answer.Code, answer.Body)
	}
	answer = postsFiles(s, blank, chosen{"a.txt", "kept"}, chosen{"<cat>.png", "\x89PNG"})
	if answer.Code != http.StatusBadRequest {
		t.Errorf("got %d, want the form again", answer.Code)
	}
	visit.WantIn(t, answer.Body.String(), "Left out, because they are not UTF-8 text: &lt;cat&gt;.png.",
		"\nkept</textarea>",
		`value="a.txt"`,
		`aria-describedby="files-problem"`)
}
