package pastes_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestDeleteKey creates anonymous pastes. The browser shows the key once, keeps it and can delete with it. In another
// browser, the key must be entered.
func TestDeleteKey(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	create := func() (path, key string, cookie *http.Cookie) {
		answer, err := s.Posts("/", visit.Form{"code", "x"})
		if err != nil || answer.Code != http.StatusSeeOther || len(answer.Result().Cookies()) != 2 {
			t.Fatalf("got %v, %d %v, want a paste and its cookies", err, answer.Code, answer.Header())
		}
		cookie = answer.Result().Cookies()[0]
		path = answer.Header().Get("Location")
		if cookie.Path != path || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode {
			t.Errorf("got %v, want a cookie for %s alone", cookie, path)
		}
		return path, strings.TrimPrefix(cookie.Value, site.UnseenKey), cookie
	}
	ask := func(method, path, form string, cookie *http.Cookie) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if cookie != nil {
			r.AddCookie(cookie)
		}
		answer, err := s.Answers(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	path, key, cookie := create()
	first := ask(http.MethodGet, path, "", cookie)
	if !strings.Contains(first.Body.String(), key) || first.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("got %v %s, want the key, in no cache", first.Header(), first.Body)
	}
	cookie = first.Result().Cookies()[0]
	second := ask(http.MethodGet, path, "", cookie).Body.String()
	if strings.Contains(second, key) || !strings.Contains(second, path+"/delete") {
		t.Errorf("got %s, want a way to delete it, and no key", second)
	}
	if other := s.Page(path); strings.Contains(other, path+"/delete") || strings.Contains(other, key) {
		t.Errorf("got %s, want nothing of that in another browser", other)
	}
	if page := ask(http.MethodGet, path+"/delete", "", cookie).Body.String(); strings.Contains(page, `name="key"`) {
		t.Errorf("got %s, want no field for the key", page)
	}
	answer := ask(http.MethodPost, path+"/delete", "", cookie)
	if answer.Code != http.StatusSeeOther {
		t.Errorf("got %d %s, want it to be deleted", answer.Code, answer.Body)
	}
	deleted := s.Page(answer.Header().Get("Location"))
	visit.WantIn(t, deleted, "Paste deleted.", `href="/sign-in?next=%2F"`)
	visit.WantNotIn(t, s.Page("/"), "Paste deleted.")
	if _, err := s.Get(path); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound", err)
	}

	path, key, _ = create()
	if page := s.Page(path + "/delete"); !strings.Contains(page, `name="key"`) {
		t.Errorf("got %s, want a field for the key", page)
	}
	for _, wrong := range []string{"", "key=", "key=wrong", "key=" + key + "x"} {
		if answer := ask(http.MethodPost, path+"/delete", wrong, nil); answer.Code != http.StatusUnauthorized ||
			!strings.Contains(answer.Body.String(), "not the paste&#39;s delete key") {
			t.Errorf("%q: got %d %s, want 401", wrong, answer.Code, answer.Body)
		}
	}
	if answer := ask(http.MethodPost, path+"/delete",
		"key=+"+url.QueryEscape(key)+"+", nil); answer.Code != http.StatusSeeOther {
		t.Errorf("got %d %s, want it to be deleted", answer.Code, answer.Body)
	}
}

func TestCanonicalLink(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	path := s.Lands("/", visit.Form{"code", "x"})
	if page := s.Page(path); strings.Contains(page, "canonical") {
		t.Errorf("got %s, want no link without a public URL", page)
	}
	s.Config.PublicURL = "https://paste.example"
	for _, target := range []string{"/", path} {
		if page := s.Page(target + "?lang=Go"); !strings.Contains(page,
			`<link rel="canonical" href="https://paste.example`+target+`">`) {
			t.Errorf("got %s, want the address of the page", page)
		}
	}
}
