package editor_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/tests/visit"
)

// FuzzForms sends arbitrary bytes as forms that create and edit a paste. What is stored obeys the rules, and the answer
// is a page without any element that was sent.
func FuzzForms(f *testing.F) {
	form := visit.Form{"title", "<script>", "name", "</textarea><script>", "code", "\n<script>\x00\xff", "language",
		"<script>", "do", "save"}
	for _, form := range []visit.Form{form, form.With("do", 0, "add"), form.With("do", 0, "remove-1"),
		form.With("code", 0, "<script>")} {
		body, contentType := form.Encode(f)
		f.Add(body, contentType)
	}
	f.Add("title=%3Cscript%3E&code=x&do=save&visibility=private&tags=%3Cscript%3E", "application/x-www-form-urlencoded")
	f.Add("code=%zz&&;=", "application/x-www-form-urlencoded")
	f.Add("--b\r\nContent-Disposition: form-data; name=code\r\n\r\nx", "multipart/form-data; boundary=b")
	f.Add("--\r\n", "multipart/form-data")
	s := visit.Owned(f, nil)
	f.Fuzz(func(t *testing.T, body, contentType string) {
		s.T = t
		for _, path := range []string{"/", editPath} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
			r.Header["Content-Type"] = []string{contentType}
			answer, err := s.Answers(r)
			switch {
			case fault.Is(err, fault.Invalid):
			case err != nil:
				t.Errorf("%s: got %v, want a page or fault.Invalid", path, err)
			case answer.Code == http.StatusSeeOther:
				for _, pasty := range s.Stored(answer.Header().Get("Location")).Pasties {
					if !utf8.ValidString(pasty.Code) {
						t.Errorf("%s: got the code %q stored, want UTF-8", path, pasty.Code)
					}
				}
			case answer.Code >= http.StatusInternalServerError || strings.Contains(answer.Body.String(), "<script>"):
				t.Errorf("%s: got %d %s, want a page without the element", path, answer.Code, answer.Body)
			}
		}
	})
}
