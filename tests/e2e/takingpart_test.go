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

// TestTakingPart stars, forks, renders and embeds the pastes of others.
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
		wantRenderedMarkdown(t, p)
		wantEmbed(t, reader)
		wantUnlistable(t, p, reader)
		wantMadeAnonymous(t, reader)
	})
}

// wantStars stars and unstars a paste as a reader, and checks the count in the API.
func wantStars(t *testing.T, reader *visitor, id string) {
	t.Helper()
	for _, c := range []struct{ do, stars string }{{"star", `"stars":1`}, {"star", `"stars":1`}, {"unstar", `"stars":0`}} {
		answer, body := reader.ask(http.MethodPost, "/"+id+"/star", url.Values{"do": {c.do}})
		if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/"+id {
			t.Errorf("%s: got %d %v %s, want a redirect to the paste", c.do, answer.StatusCode, answer.Header, body)
		}
		if _, document := getAccepting(t, reader.p, "/api/v2/paste/"+id,
			"application/json"); !strings.Contains(document, c.stars) {
			t.Errorf("%s: got %s, want %s", c.do, document, c.stars)
		}
		_, list := reader.ask(http.MethodGet, "/starred", nil)
		if inList := strings.Contains(list, `href="/`+id+`"`); inList != (c.do == "star") {
			t.Errorf("%s: got %s, want the paste in the list: %t", c.do, list, !inList)
		}
	}
}

// wantFork forks a paste as a reader, and checks that the fork's page links to the original while that exists.
func wantFork(t *testing.T, reader *visitor, id string) {
	t.Helper()
	if _, form := reader.ask(http.MethodGet, "/"+id+"/fork", nil); !strings.Contains(form,
		`name="origin" value="`+id+`"`) {
		t.Errorf("got %s, want a form with the id of the paste", form)
	}
	answer, body := reader.ask(http.MethodPost, "/", url.Values{"origin": {id}, "code": {"package forked"}})
	fork := answer.Header.Get("Location")
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want a paste", answer.StatusCode, body)
	}
	for _, deleteOriginal := range []bool{false, true} {
		if deleteOriginal {
			status, body := send(t, reader.p, http.MethodDelete, "/api/v2/paste/"+id, "", "Authorization", program.EpoxyToken)
			if status != http.StatusOK {
				t.Fatalf("got %d %s, want the paste deleted", status, body)
			}
		}
		_, page := getAccepting(t, reader.p, fork, "text/html")
		namesSource := strings.Contains(page, `forked from <a href="/`+id+`"><bdi>for all</bdi></a>`)
		if namesSource == deleteOriginal {
			t.Errorf("original deleted: %t: got %s, want its link: %t", deleteOriginal, page, !deleteOriginal)
		}
	}
	if _, document := getAccepting(t, reader.p, "/api/v2/paste"+fork,
		"application/json"); strings.Contains(document, "origin") {
		t.Errorf("got %s, want no member that PasteMyst does not have", document)
	}
}

// wantRenderedMarkdown checks the page of a Markdown paste, and its page as another language.
func wantRenderedMarkdown(t *testing.T, p *program.Process) {
	t.Helper()
	var id string
	for query, want := range map[string]string{"": `<h3 id="user-content-head">Head `,
		"?lang=html": `<span class="k">script</span>`} {
		attempt := 0
		program.Eventually(t, want, func() bool { // the first highlighting of a language may exceed its time limit
			attempt++
			id = createdID(t, p, fmt.Sprintf(`{"pasties":[{"title":"a.md","code":"# Head\n<script>x(%d)</script>\n\n`+
				`![a](https://evil.example/a.png)"}]}`, attempt))
			status, page := getAccepting(t, p, "/"+id+query, "text/html")
			if status != http.StatusOK || strings.Contains(page, "<script>") || strings.Contains(page, `src="https:`) {
				t.Fatalf("%q: got %d %s, want no scripts and no foreign images", query, status, page)
			}
			return strings.Contains(page, want)
		})
	}
	if status, answer := getAccepting(t, p, "/"+id+"?lang=nonsense", "text/html"); status != http.StatusOK {
		t.Errorf("got %d %s, want the paste in its own language", status, answer)
	}
}

// wantEmbed checks that a paste can be embedded, and a private one cannot, even by its owner.
func wantEmbed(t *testing.T, reader *visitor) {
	t.Helper()
	unlisted := createdID(t, reader.p, `{"pasties":[{"title":"a.go","code":"one\ntwo\nthree"}]}`)
	private := createdID(t, reader.p, `{"isPrivate":true,"pasties":[{"code":"secret"}]}`)
	answer, page := reader.ask(http.MethodGet, "/"+unlisted+"/embed?lines=2", nil)
	if answer.StatusCode != http.StatusOK || !strings.Contains(page, "two") || strings.Contains(page, "three") ||
		!strings.HasSuffix(answer.Header.Get("Content-Security-Policy"), "frame-ancestors *") ||
		answer.Header.Get("Set-Cookie") != "" {
		t.Errorf("got %d %v %s, want the second line, allowed in frames", answer.StatusCode, answer.Header, page)
	}
	for path, want := range map[string]int{
		"/" + private + "/embed": http.StatusNotFound,
		"/oembed?url=" + url.QueryEscape("https://paste.example/"+private):  http.StatusNotFound,
		"/oembed?url=" + url.QueryEscape("https://paste.example/"+unlisted): http.StatusOK,
	} {
		if answer, body := reader.ask(http.MethodGet, path, nil); answer.StatusCode != want ||
			strings.Contains(body, "secret") {
			t.Errorf("%s: got %d %s, want %d", path, answer.StatusCode, body, want)
		}
	}
}

// wantUnlistable checks that burning and encrypted pastes are in no list, search or feed except their owner's list, and
// that nobody can star, fork or embed them. Their owner deletes them on pages.
func wantUnlistable(t *testing.T, p *program.Process, reader *visitor) {
	t.Helper()
	owner := &visitor{t: t, p: p}
	owner.signIn(program.EpoxyToken)
	const cipher = "AAECAwQFBgcICQoLdGhpcyBpcyBub3QgYW4gZXhhbXBsZQ"
	encrypted := strings.TrimPrefix(createByScript(t, owner,
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
			t.Errorf("got %d %s for a star, want 404", answer.StatusCode, body)
		}
		for _, v := range []*visitor{reader, owner} {
			for _, path := range []string{"/~epoxy", "/~epoxy/feed.atom", "/search?q=needle9",
				"/search?q=haystack", "/starred"} {
				if _, page := v.ask(http.MethodGet, path, nil); strings.Contains(page, id) {
					t.Errorf("%s: got the paste, want it only in its owner's list", path)
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
			t.Errorf("got %d %s, want a redirect", answer.StatusCode, body)
		}
		if status, _ := getAccepting(t, p, "/"+id, "text/html"); status != http.StatusNotFound {
			t.Errorf("got %d for the deleted paste, want 404", status)
		}
	}
}

// createByScript creates a paste as the page's script does, and returns its path.
func createByScript(t *testing.T, owner *visitor, form url.Values) string {
	t.Helper()
	answer, body := owner.ask(http.MethodPost, "/", form)
	if answer.StatusCode != http.StatusCreated || body != "" {
		t.Fatalf("got %d %s, want a paste", answer.StatusCode, body)
	}
	return answer.Header.Get("Location")
}

// wantMadeAnonymous makes a paste anonymous as its owner, after a question. The paste must leave the owner's lists and
// searches, and its page show the delete key once. A private paste must first be made public or unlisted.
func wantMadeAnonymous(t *testing.T, reader *visitor) {
	t.Helper()
	p := reader.p
	owner := &visitor{t: t, p: p}
	owner.signIn(program.EpoxyToken)
	id := createdID(t, p, `{"isPrivate":true,"tags":"secret-tag","title":"regretted","pasties":[{"code":"x"}]}`)
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if answer, body := owner.ask(method, "/"+id+"/anonymous", nil); answer.StatusCode != http.StatusConflict {
			t.Errorf("%s: got %d %s for a private paste, want 409", method, answer.StatusCode, body)
		}
	}
	status, body := send(t, p, http.MethodPatch, "/api/v2/paste/"+id, `{"isPrivate":false,"isPublic":true}`,
		"Authorization", program.EpoxyToken)
	if status != http.StatusOK {
		t.Fatalf("got %d %s, want a public paste", status, body)
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
		t.Fatalf("got %d %s, want a redirect", answer.StatusCode, body)
	}
	_, page := owner.ask(http.MethodGet, "/"+id, nil)
	_, key, _ := strings.Cut(page, `id="delete-key" value="`)
	key, _, _ = strings.Cut(key, `"`)
	if len(key) != 26 || strings.Contains(page, ">Edit<") {
		t.Errorf("got %s, want the delete key and no link to edit", page)
	}
	if _, page := owner.ask(http.MethodGet, "/"+id, nil); strings.Contains(page, key) {
		t.Errorf("got the delete key %s again, want it only once", key)
	}
	owner.signIn(program.EpoxyToken) // the visitor keeps only one cookie
	for _, path := range []string{"/pastes", "/~epoxy", "/search?q=regretted", "/api/v2/user/self/pastes"} {
		if _, page := owner.ask(http.MethodGet, path, nil); strings.Contains(page, id) {
			t.Errorf("%s: got the paste, want it no longer listed", path)
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
		t.Errorf("got %d %s, want 200 for the deletion with the key", status, body)
	}
}
