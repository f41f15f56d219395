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

// patch is a patch of a file with CRLF. Only some of its own lines end with CRLF.
const patch = "--- a/w.bat\n+++ b/w.bat\n@@ -1,2 +1,2 @@\n-echo one\r\n+echo three\r\n echo two\r\n"

// formFile is a file that was chosen in a form.
type formFile struct{ name, content string }

// postFiles sends a form with files as browsers do.
func postFiles(s *visit.Site, fields visit.Form, files ...formFile) *httptest.ResponseRecorder {
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
	answer := postFiles(s, blank, formFile{"main.go", "a\r\nb\x00"}, formFile{"ü \"x\".txt", ""})
	if answer.Code != http.StatusSeeOther {
		t.Fatalf("got %d %s, want a paste", answer.Code, answer.Body)
	}
	got := s.Stored(answer.Header().Get("Location"))
	want := `"" unlisted [] "main.go" Autodetect "a\r\nb\x00" "ü \"x\".txt" Autodetect ""`
	if visit.Summary(got) != want {
		t.Errorf("got %s, want %s", visit.Summary(got), want)
	}
	answer = postFiles(s, append(blank, "do", "add"), formFile{"a.patch", patch}, formFile{"b.txt", "x\n"})
	form := visit.FilledIn(answer.Body.String()).With("name", 0, "b.patch").With("code", 2, "typed\nhere")
	got = s.Stored(s.Lands("/", form))
	want = fmt.Sprintf(
		`"" unlisted [] "b.patch" Autodetect %q "b.txt" Autodetect "x\n" "" Autodetect "typed\nhere"`, patch)
	if visit.Summary(got) != want {
		t.Errorf("got %s, want the bytes of the files after the form came back: %s", visit.Summary(got), want)
	}
	for _, wrong := range []string{"%", "/w==", "YQ"} {
		if _, err := s.Posts("/", visit.Form{"code", "x", "original", wrong}); !errors.Is(err, site.ErrBrokenForm) {
			t.Errorf("%q: got %v, want ErrBrokenForm", wrong, err)
		}
	}
	answer = postFiles(s, visit.Form{"name", "", "language", "Go", "code", "typed"}, formFile{"", ""})
	if answer.Code != http.StatusSeeOther || len(s.Stored(answer.Header().Get("Location")).Pasties) != 1 {
		t.Errorf("got %d %s, want what was typed alone", answer.Code, answer.Body)
	}
	answer = postFiles(s, blank, formFile{"a.txt", "kept"}, formFile{"<cat>.png", "\x89PNG"})
	if answer.Code != http.StatusBadRequest {
		t.Errorf("got %d, want the form again", answer.Code)
	}
	visit.WantIn(t, answer.Body.String(), "Left out because they are not UTF-8 text: &lt;cat&gt;.png.",
		"\nkept</textarea>",
		`value="a.txt"`,
		`aria-describedby="files-problem"`)
}
