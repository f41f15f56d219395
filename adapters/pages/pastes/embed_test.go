package pastes_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// newEmbedSite returns a site with a paste of two pasties, and a private one.
func newEmbedSite(t *testing.T) *visit.Site {
	t.Helper()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	s.Config.PublicURL = "https://paste.example"
	s.Holds("k2j4x8m1", visit.Content(
		paste.Pasty{Title: "main.go", Language: "Go", Code: "package a\n/*\ntwo\n*/\nvar x = 1\nlast"},
		paste.Pasty{Title: "b.md", Language: "Markdown", Code: "# Head"},
	))
	private := visit.Content(paste.Pasty{Language: "Go", Code: "secret"})
	private.Owner, private.Visibility = epoxy, paste.Private
	s.Holds("private0", private)
	return s
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	s := newEmbedSite(t)
	answer, err := s.Get("/k2j4x8m1/embed")
	if err != nil {
		t.Fatal(err)
	}
	policy := answer.Header().Get("Content-Security-Policy")
	if !strings.HasSuffix(policy, "frame-ancestors *") || strings.Contains(policy, "script") ||
		answer.Header().Get("Vary") != "" {
		t.Errorf("got %v, want a page that any site may frame, without scripts and without Vary",
			answer.Header())
	}
	page := answer.Body.String()
	visit.WantIn(t, page, `<base target="_blank">`, `<h1><a href="/k2j4x8m1"`, `">Head <a class="anchor"`, `id="1-L6"`,
		`media="(prefers-color-scheme: dark)"`)
	if strings.Contains(page, "<script") || strings.Contains(page, "<form") {
		t.Errorf("got %s, want nothing that runs or is sent", page)
	}
	for query, want := range map[string]struct{ in, notIn string }{
		"?lines=3-5&pasty=pasty000": {`<a id="L3" href="#L3" tabindex="-1">3</a><span class="c">two`, "package"},
		"?lines=6":                  {`<a id="1-L6" href="#1-L6" tabindex="-1">6</a>last</span>`, "1-L5"},
		"?lines=1-2147483647":       {`id="2-L1"`, "<h3"},
		"?pasty=pasty001":           {`">Head <a class="anchor"`, "package"},
		"?theme=dark":               {`/dark.css`, "prefers-color-scheme"},
		"?theme=light":              {`/style.css`, `/dark.css`},
	} {
		if page := s.Page("/k2j4x8m1/embed" + query); !strings.Contains(page, want.in) ||
			strings.Contains(page, want.notIn) {
			t.Errorf("%s: got %s, want %s and not %s", query, page, want.in, want.notIn)
		}
	}
	for query, want := range map[string]fault.Kind{
		"?lines=0": fault.Invalid, "?lines=5-3": fault.Invalid, "?lines=a": fault.Invalid, "?lines=1-": fault.Invalid,
		"?lines=99999999999999999999": fault.Invalid, "?pasty=unknown0": fault.NotFound,
	} {
		if _, err := s.Get("/k2j4x8m1/embed" + query); !fault.Is(err, want) {
			t.Errorf("%s: got %v, want %v", query, err, want)
		}
	}
	_, s.Secret = s.Session("epoxy")
	if answer, err := s.Get("/private0/embed"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %s of the owner's private paste, want fault.NotFound", answer.Body)
	}
	visit.WantIn(t, s.Page("/k2j4x8m1"),
		`value="&lt;iframe src=&#34;https://paste.example/k2j4x8m1/embed&#34; title=&#34;A title&#34; width=`,
		`<link rel="alternate" type="application/json+oembed" `+
			`href="https://paste.example/oembed?url=https%3A%2F%2Fpaste.example%2Fk2j4x8m1"`)
	if page := s.Page("/private0"); strings.Contains(page, "iframe") || strings.Contains(page, "oembed") {
		t.Errorf("got %s, want nothing to embed a private paste with", page)
	}
	for _, path := range []string{"/k2j4x8m1", "/"} {
		answer, err := s.Get(path)
		if err != nil || !strings.Contains(answer.Header().Get("Content-Security-Policy"), "frame-ancestors 'none'") {
			t.Errorf("%s: got %v, %v, want a page that no frame may show", path, answer.Header(), err)
		}
	}
}

func TestOEmbed(t *testing.T) {
	t.Parallel()
	s := newEmbedSite(t)
	answer, err := s.Get("/oembed?maxwidth=300&maxheight=9999&format=json&" +
		"url=https%3A%2F%2Fpaste.example%2Fk2j4x8m1%3Fx%23L3")
	var got map[string]any
	if err != nil || json.Unmarshal(answer.Body.Bytes(), &got) != nil ||
		answer.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("got %v, %v %s, want JSON", err, answer.Header(), answer.Body)
	}
	const frame = `<iframe src="https://paste.example/k2j4x8m1/embed" title="A title" width="300" height="400" ` +
		`loading="lazy"></iframe>`
	if got["type"] != "rich" || got["version"] != "1.0" || got["html"] != frame || got["width"] != 300.0 ||
		got["height"] != 400.0 {
		t.Errorf("got %s, want a rich resource with %s", answer.Body, frame)
	}
	for link, want := range map[string]fault.Kind{
		"": fault.Invalid, "https://evil.example/k2j4x8m1": fault.Invalid, "http://%zz": fault.Invalid,
		"//paste.example/k2j4x8m1": fault.Invalid, "https://paste.example/private0": fault.NotFound,
		"https://paste.example/": fault.NotFound, "https://paste.example/k2j4x8m1/edit": fault.NotFound,
	} {
		answer, err := s.Get("/oembed?url=" + strings.ReplaceAll(link, "%", "%25"))
		if !fault.Is(err, want) || strings.Contains(fault.MessageOf(err), "url must be") != (want == fault.Invalid) {
			t.Errorf("%s: got %v %s, want %v", link, err, answer.Body, want)
		}
	}
	if answer, err := s.Get("/oembed?format=xml"); err != nil || answer.Code != http.StatusNotImplemented {
		t.Errorf("got %v, %d, want 501", err, answer.Code)
	}
}
