package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
)

// FuzzForms sends any bytes as a form that creates a paste, and as one that edits it. What is stored is what the rules allow, what
// comes back is a page, and nothing in it is an element that was sent.
func FuzzForms(f *testing.F) {
	form := sent{"title", "<script>", "name", "</textarea><script>", "code", "\n<script>\x00\xff", "language", "<script>", "do", "save"}
	for _, form := range []sent{form, form.with("do", 0, "add"), form.with("do", 0, "remove-1"), form.with("code", 0, "<script>")} {
		body, contentType := form.encode(f)
		f.Add(body, contentType)
	}
	f.Add("title=%3Cscript%3E&code=x&do=save&visibility=private&tags=%3Cscript%3E", "application/x-www-form-urlencoded")
	f.Add("code=%zz&&;=", "application/x-www-form-urlencoded")
	f.Add("--b\r\nContent-Disposition: form-data; name=code\r\n\r\nx", "multipart/form-data; boundary=b")
	f.Add("--\r\n", "multipart/form-data")
	s := owned(f, nil)
	f.Fuzz(func(t *testing.T, body, contentType string) {
		s.t = t
		for _, path := range []string{"/", editPath} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
			r.Header["Content-Type"] = []string{contentType}
			answer, err := s.answers(r)
			switch {
			case fault.Is(err, fault.Invalid):
			case err != nil:
				t.Errorf("%s: got %v, want a page, or that it is no form", path, err)
			case answer.Code == http.StatusSeeOther:
				for _, pasty := range s.stored(answer.Header().Get("Location")).Pasties {
					if !utf8.ValidString(pasty.Code) || strings.Contains(pasty.Code, "\r\n") {
						t.Errorf("%s: got the code %q stored, want UTF-8 with line ends of one byte", path, pasty.Code)
					}
				}
			case answer.Code >= http.StatusInternalServerError || strings.Contains(answer.Body.String(), "<script>"):
				t.Errorf("%s: got %d %s, want a page without the element", path, answer.Code, answer.Body)
			}
		}
	})
}

// TestLongPartHeaders has a part that says what it is in as many words as a body has room for, of which a map would take 25 times as much.
func TestLongPartHeaders(t *testing.T) {
	var body strings.Builder
	body.WriteString("--b\r\nContent-Disposition: form-data; name=code")
	for n := 0; body.Len() < 2<<20; n++ {
		fmt.Fprintf(&body, "; a%d*=u''b", n)
	}
	body.WriteString("\r\n\r\nx\r\n--b--\r\n")
	var before, after runtime.MemStats
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body.String()))
	r.Header["Content-Type"] = []string{"multipart/form-data; boundary=b"}
	runtime.ReadMemStats(&before)
	_, err := (&request{Request: r}).form(10)
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; !fault.Is(err, fault.Invalid) || taken > 32<<20 {
		t.Errorf("got %v with %d MiB taken, want that it is no form, and less than 32 MiB", err, taken>>20)
	}
}
