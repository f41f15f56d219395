package site_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestScheme chooses the colours of pages by a form, and checks that later pages have them.
func TestScheme(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	choose := func(colours, next string) (*httptest.ResponseRecorder, error) {
		answer, _, err := s.Post("", "/colours", url.Values{"colours": {colours}, "next": {next}})
		return answer, err
	}
	for colours, want := range map[string]struct{ scheme, media string }{
		"light": {"light", "not all"}, "dark": {"dark", "all"}, "": {"light dark", "(prefers-color-scheme: dark)"},
	} {
		t.Run(colours, func(t *testing.T) {
			t.Parallel()
			answer, err := choose(colours, "/search?q=a%26b")
			if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/search?q=a%26b" ||
				len(answer.Result().Cookies()) != 1 {
				t.Fatalf("got %v, %d, %v, want a redirect back with a cookie", err, answer.Code, answer.Header())
			}
			cookie := answer.Result().Cookies()[0]
			if cookie.MaxAge < 0 != (colours == "") || cookie.Path != "/" {
				t.Errorf("got the cookie %v, want it kept unless the system decides", cookie)
			}
			r := s.Asking(http.MethodGet, "/search?q=absent", "", nil)
			if cookie.MaxAge > 0 {
				r.AddCookie(cookie)
			}
			if answer, err = s.Answers(r); err != nil || answer.Header().Get("Vary") != "Cookie" {
				t.Fatalf("got %v, %v, want a page that depends on the cookie", err, answer.Header())
			}
			visit.WantIn(t, answer.Body.String(), `<meta name="color-scheme" content="`+want.scheme+`">`,
				`media="`+want.media+`">`,
				`value="`+colours+`" aria-pressed="true">`, `name="next" value="/search?q=absent"`)
			if n := strings.Count(answer.Body.String(), `aria-pressed="true"`); n != 1 {
				t.Errorf("got %d buttons pressed, want one", n)
			}
		})
	}
	for _, elsewhere := range []string{"https://evil.example", "//evil.example", ""} {
		if answer, err := choose("dark", elsewhere); err != nil || answer.Header().Get("Location") != "/" {
			t.Errorf("%q: got %v, %v, want to stay here", elsewhere, err, answer.Header())
		}
	}
	if _, err := choose("<b>", "/"); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want it refused", err)
	}
	r := s.Asking(http.MethodGet, "/", "", nil)
	r.AddCookie(&http.Cookie{Name: "gluepot-colours", Value: "<script>"})
	answer, err := s.Answers(r)
	if err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, answer.Body.String(), `content="light dark">`)
	// Another visit of the page would lose what it shows once.
	page, err := s.Posts("/", visit.Form{"code", ""})
	if err != nil {
		t.Fatal(err)
	}
	visit.WantNotIn(t, page.Body.String(), `action="/colours"`)
}
