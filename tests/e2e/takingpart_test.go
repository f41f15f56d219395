package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestTakingPart does what readers do with the pastes of others.
func TestTakingPart(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
		id := createdID(t, p, `{"isPublic":true,"title":"for all","pasties":[{"title":"main.go","code":"package main"}]}`)
		reader := &visitor{t: t, p: p}
		reader.signIn(program.MortarToken)
		wantStars(t, reader, id)
		wantFork(t, reader, id)
		wantRendered(t, p)
		wantEmbedded(t, reader)
		wantKeptOut(t, p, reader)
		wantGivenUp(t, reader)
	})
}

// wantStars has a reader star a paste and take the star back, which the interface for programs counts.
func wantStars(t *testing.T, reader *visitor, id string) {
	t.Helper()
	for _, c := range []struct{ do, stars string }{{"star", `"stars":1`}, {"star", `"stars":1`}, {"unstar", `"stars":0`}} {
		answer, body := reader.ask(http.MethodPost, "/"+id+"/star", url.Values{"do": {c.do}})
		if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/"+id {
			t.Errorf("%s: got %d %v %s, want to be led back to the paste", c.do, answer.StatusCode, answer.Header, body)
		}
		if _, document := accepting(t, reader.p, "/api/v2/paste/"+id,
			"application/json"); !strings.Contains(document, c.stars) {
			t.Errorf("%s: got %s, want %s", c.do, document, c.stars)
		}
		_, list := reader.ask(http.MethodGet, "/starred", nil)
		if listed := strings.Contains(list, `href="/`+id+`"`); listed != (c.do == "star") {
			t.Errorf("%s: got %s, want the paste listed: %t", c.do, list, !listed)
		}
	}
}

// wantFork has a reader fork a paste, which says where it is from for as long as that is there.
func wantFork(t *testing.T, reader *visitor, id string) {
	t.Helper()
	if _, form := reader.ask(http.MethodGet, "/"+id+"/fork", nil); !strings.Contains(form,
		`name="origin" value="`+id+`"`) {
		t.Errorf("got %s, want a form that names the paste", form)
	}
	answer, body := reader.ask(http.MethodPost, "/", url.Values{"origin": {id}, "code": {"package forked"}})
	fork := answer.Header.Get("Location")
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want a paste", answer.StatusCode, body)
	}
	for _, deleted := range []bool{false, true} {
		if deleted {
			status, body := send(t, reader.p, http.MethodDelete, "/api/v2/paste/"+id, "", "Authorization", program.EpoxyToken)
			if status != http.StatusOK {
				t.Fatalf("got %d %s, want the paste deleted", status, body)
			}
		}
		_, page := accepting(t, reader.p, fork, "text/html")
		namesSource := strings.Contains(page, `forked from <a href="/`+id+`"><bdi>for all</bdi></a>`)
		if namesSource == deleted {
			t.Errorf("the original deleted: %t: got %s, want it named: %t", deleted, page, !deleted)
		}
	}
	if _, document := accepting(t, reader.p, "/api/v2/paste"+fork,
		"application/json"); strings.Contains(document, "origin") {
		t.Errorf("got %s, want nothing that PasteMyst does not say", document)
	}
}

// wantRendered has Markdown shown as it is meant to be read, and as what a reader asks for.
func wantRendered(t *testing.T, p *program.Process) {
	t.Helper()
	var id string
	for query, want := range map[string]string{"": `<h3 id="user-content-head">Head `,
		"?lang=html": `<span class="k">script</span>`} {
		turn := 0
		program.Eventually(t, want, func() bool { // the first code of a language may take longer than it may
			turn++
			id = createdID(t, p, fmt.Sprintf(`{"pasties":[{"title":"a.md","code":"# Head\n<script>x(%d)</script>\n\n`+
				`![a](https://evil.example/a.png)"}]}`, turn))
			status, page := accepting(t, p, "/"+id+query, "text/html")
			if status != http.StatusOK || strings.Contains(page, "<script>") || strings.Contains(page, `src="https:`) {
				t.Fatalf("%q: got %d %s, want nothing that runs or is loaded", query, status, page)
			}
			return strings.Contains(page, want)
		})
	}
	if status, answer := accepting(t, p, "/"+id+"?lang=nonsense", "text/html"); status != http.StatusOK {
		t.Errorf("got %d %s, want the paste in its own language", status, answer)
	}
}

// wantEmbedded has a paste shown in a frame, and one that is private not even to its owner.
func wantEmbedded(t *testing.T, reader *visitor) {
	t.Helper()
	open := createdID(t, reader.p, `{"pasties":[{"title":"a.go","code":"one\ntwo\nthree"}]}`)
	private := createdID(t, reader.p, `{"isPrivate":true,"pasties":[{"code":"secret"}]}`)
	answer, page := reader.ask(http.MethodGet, "/"+open+"/embed?lines=2", nil)
	if answer.StatusCode != http.StatusOK || !strings.Contains(page, "two") || strings.Contains(page, "three") ||
		!strings.HasSuffix(answer.Header.Get("Content-Security-Policy"), "frame-ancestors *") ||
		answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("got %d %v %s, want one line for a frame", answer.StatusCode, answer.Header, page)
	}
	for path, want := range map[string]int{
		"/" + private + "/embed": http.StatusNotFound,
		"/oembed?url=" + url.QueryEscape("https://paste.example/"+private): http.StatusNotFound,
		"/oembed?url=" + url.QueryEscape("https://paste.example/"+open):    http.StatusOK,
	} {
		if answer, body := reader.ask(http.MethodGet, path, nil); answer.StatusCode != want ||
			strings.Contains(body, "secret") {
			t.Errorf("%s: got %d %s, want %d", path, answer.StatusCode, body, want)
		}
	}
}

// wantKeptOut has pastes that burn or are encrypted in no list, search or feed, and neither starred, forked nor
// embedded; their owner finds them in the own list, and deletes them on pages.
func wantKeptOut(t *testing.T, p *program.Process, reader *visitor) {
	t.Helper()
	owner := &visitor{t: t, p: p}
	owner.signIn(program.EpoxyToken)
	const cipher = "AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ"
	encrypted := strings.TrimPrefix(createdAt(t, owner,
		url.Values{"encrypt": {"on"}, "version": {"1"}, "cipher": {cipher}}), "/")
	for _, id := range []string{createdID(t, p, `{"burn":true,"title":"haystack","pasties":[{"code":"needle9"}]}`),
		encrypted} {
		for _, path := range []string{"/fork", "/embed", "/history", "/edit"} {
			if answer, body := reader.ask(http.MethodGet, "/"+id+path, nil); answer.StatusCode != http.StatusNotFound {
				t.Errorf("%s: got %d %s, want 404", path, answer.StatusCode, body)
			}
		}
		answer, body := reader.ask(http.MethodPost, "/"+id+"/star", url.Values{"do": {"star"}})
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("got a star with %d %s, want 404", answer.StatusCode, body)
		}
		for _, v := range []*visitor{reader, owner} {
			for _, path := range []string{"/~epoxy", "/~epoxy/feed.atom", "/search?q=needle9",
				"/search?q=haystack", "/starred"} {
				if _, page := v.ask(http.MethodGet, path, nil); strings.Contains(page, id) {
					t.Errorf("%s: got the paste listed, want it only in its owner's list", path)
				}
			}
		}
		if _, page := owner.ask(http.MethodGet, "/pastes", nil); !strings.Contains(page, `href="/`+id+`"`) {
			t.Errorf("got %s, want the paste in its owner's list", page)
		}
		if answer, body := reader.ask(http.MethodPost, "/"+id+"/delete", nil); answer.StatusCode != http.StatusNotFound {
			t.Errorf("got %d %s for another's paste, want 404", answer.StatusCode, body)
		}
		if _, question := owner.ask(http.MethodGet, "/"+id+"/delete", nil); !strings.Contains(question, "Delete paste") {
			t.Errorf("got %s, want a question", question)
		}
		if answer, body := owner.ask(http.MethodPost, "/"+id+"/delete", nil); answer.StatusCode != http.StatusSeeOther {
			t.Errorf("got %d %s, want it deleted", answer.StatusCode, body)
		}
		if status, _ := accepting(t, p, "/"+id, "text/html"); status != http.StatusNotFound {
			t.Errorf("got %d of what was deleted, want 404", status)
		}
	}
}

// createdAt creates a paste on the page for the script, and returns its path.
func createdAt(t *testing.T, owner *visitor, form url.Values) string {
	t.Helper()
	answer, body := owner.ask(http.MethodPost, "/", form)
	if answer.StatusCode != http.StatusCreated || body != "" {
		t.Fatalf("got %d %s, want a paste", answer.StatusCode, body)
	}
	return answer.Header.Get("Location")
}

// wantGivenUp has an owner make a paste anonymous after a question: it leaves the owner's lists and searches, and the
// delete key is shown once. A private one has to be made unlisted first.
func wantGivenUp(t *testing.T, reader *visitor) {
	t.Helper()
	p := reader.p
	owner := &visitor{t: t, p: p}
	owner.signIn(program.EpoxyToken)
	id := createdID(t, p, `{"isPrivate":true,"tags":"secret-tag","title":"regretted","pasties":[{"code":"x"}]}`)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if answer, body := owner.ask(method, "/"+id+"/anonymous", nil); answer.StatusCode != http.StatusConflict {
			t.Errorf("%s: got %d %s of a private one, want 409", method, answer.StatusCode, body)
		}
	}
	status, body := send(t, p, http.MethodPatch, "/api/v2/paste/"+id, `{"isPrivate":false,"isPublic":true}`,
		"Authorization", program.EpoxyToken)
	if status != http.StatusOK {
		t.Fatalf("got %d %s, want it public", status, body)
	}
	wantStars(t, reader, id)
	if answer, body := reader.ask(http.MethodPost, "/"+id+"/anonymous", nil); answer.StatusCode != http.StatusNotFound {
		t.Errorf("got %d %s for another's paste, want 404", answer.StatusCode, body)
	}
	if _, question := owner.ask(http.MethodGet, "/"+id+"/anonymous", nil); !strings.Contains(question,
		"regretted</bdi>” anonymous?") {
		t.Errorf("got %s, want a question", question)
	}
	if answer, body := owner.ask(http.MethodPost, "/"+id+"/anonymous", nil); answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want it given up", answer.StatusCode, body)
	}
	_, page := owner.ask(http.MethodGet, "/"+id, nil)
	_, key, _ := strings.Cut(page, `id="delete-key" value="`)
	key, _, _ = strings.Cut(key, `"`)
	if len(key) != 26 || strings.Contains(page, ">Edit<") {
		t.Errorf("got %s, want the delete key, and nothing to edit", page)
	}
	if _, page := owner.ask(http.MethodGet, "/"+id, nil); strings.Contains(page, key) {
		t.Errorf("got the key %s again, want it shown once", key)
	}
	owner.signIn(program.EpoxyToken) // this visitor keeps one cookie
	for _, path := range []string{"/pastes", "/~epoxy", "/search?q=regretted", "/api/v2/user/self/pastes"} {
		if _, page := owner.ask(http.MethodGet, path, nil); strings.Contains(page, id) {
			t.Errorf("%s: got the paste, want it gone from there", path)
		}
	}
	_, document := send(t, p, http.MethodGet, "/api/v2/paste/"+id, "", "Authorization", program.EpoxyToken)
	for _, member := range []string{`"ownerId":""`, `"tags":[]`, `"isPublic":false`} {
		if !strings.Contains(document, member) {
			t.Errorf("got %s, want %s", document, member)
		}
	}
	if status, body := send(t, p, http.MethodDelete, "/api/v2/paste/"+id, "",
		"Gluepot-Delete-Key", key); status != http.StatusOK {
		t.Errorf("got %d %s, want it deleted with its key", status, body)
	}
}
