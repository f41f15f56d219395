package e2e

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

// visitor is a browser behind a proxy that terminates TLS.
type visitor struct {
	t      *testing.T
	p      *program.Process
	cookie string // the last one set
	once   string // the cookie of a message that the next page shows once
}

// csrfField matches the CSRF token in a form.
var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// fromOwnPage returns a form as its own page sends it: with the CSRF token of the session, which get reads from a page.
func fromOwnPage(path string, form url.Values, get func(path string) (page string)) url.Values {
	if !strings.HasPrefix(path, "/account") && !strings.HasPrefix(path, "/admin") {
		return form
	}
	if form.Has("csrf") {
		return form
	}
	complete := maps.Clone(form)
	if match := csrfField.FindStringSubmatch(get("/account")); match != nil {
		if complete == nil {
			complete = make(url.Values)
		}
		complete.Set("csrf", match[1])
	}
	return complete
}

// ask sends a request as a page of this site does, and returns its answer and body.
func (v *visitor) ask(method, path string, form url.Values) (answer *http.Response, body string) {
	v.t.Helper()
	if method == http.MethodPost {
		form = fromOwnPage(path, form, func(path string) string {
			_, page := v.ask(http.MethodGet, path, nil)
			return page
		})
	}
	request, err := http.NewRequestWithContext(v.t.Context(), method, "http://"+v.p.Address+path,
		strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header = http.Header{
		"Accept": {"text/html,*/*;q=0.8"}, "Content-Type": {"application/x-www-form-urlencoded"},
		"Cookie":            {strings.Trim(v.cookie+"; "+v.once, "; ")},
		"User-Agent":        {"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"},
		"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"paste.example"}, "Origin": {"https://paste.example"},
	}
	answer, err = http.DefaultTransport.RoundTrip(request) // follows no redirects
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	v.once = ""
	for _, set := range answer.Header["Set-Cookie"] {
		value, _, _ := strings.Cut(set, ";")
		if strings.HasPrefix(set, "__Secure-gluepot-once=") {
			v.once = value
		} else {
			v.cookie = value
		}
		if !strings.HasPrefix(set, "__Host-") && !strings.HasPrefix(set, "__Secure-gluepot-") ||
			!strings.Contains(set, "; HttpOnly; Secure; SameSite=") {
			v.t.Errorf("%s %s: got the cookie %s, want a secure one", method, path, set)
		}
	}
	return answer, string(content)
}

// signIn starts a session with a token.
func (v *visitor) signIn(token string) {
	v.t.Helper()
	answer, body := v.ask(http.MethodPost, "/sign-in", url.Values{"token": {token}})
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/pastes" || v.cookie == "" {
		v.t.Fatalf("got %d %v %s, want a session", answer.StatusCode, answer.Header, body)
	}
}

// wantSessions reads a private paste of Epoxy's as its owner, as another user, and after the owner's token is revoked.
// nothing is the page for visitors.
func wantSessions(t *testing.T, p *program.Process, settings []string, private, nothing string) {
	t.Helper()
	owner, other := &visitor{t: t, p: p}, &visitor{t: t, p: p}
	owner.signIn(program.EpoxyToken)
	other.signIn(program.MortarToken)
	answer, page := owner.ask(http.MethodGet, "/"+private, nil)
	if answer.StatusCode != http.StatusOK || !strings.Contains(page, "secret") ||
		!strings.Contains(page, "Signed in as <b>Epoxy</b>") ||
		answer.Header.Get("Etag") != "" || answer.Header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("got %d %v %s, want the paste, and no caching", answer.StatusCode, answer.Header, page)
	}
	if answer, list := owner.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusOK ||
		!strings.Contains(list, private) {
		t.Errorf("got %d %s, want the paste in the list", answer.StatusCode, list)
	}
	var pages []string
	for _, id := range []string{private, "unknown0"} {
		answer, page := other.ask(http.MethodGet, "/"+id, nil)
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %d for another user, want 404", id, answer.StatusCode)
		}
		pages = append(pages, withoutPath(page, "/"+id))
	}
	if pages[0] != pages[1] {
		t.Errorf("got %s for a private paste and %s for an unknown one, want the same page", pages[0], pages[1])
	}

	if code, _, stderr := program.Run(t, settings, "token", "revoke", "id-epoxy001ke"); code != 0 {
		t.Fatalf("token revoke: got exit code %d, want 0: %s", code, stderr)
	}
	answer, page = owner.ask(http.MethodGet, "/"+private, nil)
	if answer.StatusCode != http.StatusNotFound || strings.Contains(page, "secret") ||
		!strings.HasSuffix(owner.cookie, "=") {
		t.Errorf("got %d %v %s, want 404 and the cookie cleared", answer.StatusCode,
			answer.Header, page)
	}
	answer, _ = owner.ask(http.MethodGet, "/pastes", nil)
	if answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(answer.Header.Get("Location"), "/sign-in") {
		t.Errorf("got %d %v, want a redirect to the sign-in", answer.StatusCode, answer.Header)
	}
	owner.cookie = ""
	_, page = owner.ask(http.MethodGet, "/"+private, nil)
	if page = withoutPath(page, "/"+private); page != nothing {
		t.Errorf("got %s, want the page for visitors", page)
	}
	log := p.Stderr.String()
	for _, secret := range []string{program.EpoxyToken, program.MortarToken,
		strings.TrimPrefix(other.cookie, "__Host-gluepot-session=")} {
		if strings.Contains(log, secret) {
			t.Errorf("got the secret %q in the log, want no secrets", secret)
		}
	}
}

// TestSessionsOnTwoNodes starts sessions on one node, uses them on the other, and ends them in several ways.
func TestSessionsOnTwoNodes(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
	first := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
	second := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
	for what, end := range map[string]func(v *visitor){
		"signing out": func(v *visitor) { v.ask(http.MethodPost, "/sign-out", nil) },
		"the command": func(*visitor) {
			code, out, stderr := program.Run(t, settings, "user", "sign-out", "epoxy")
			if code != 0 || out != "Ended 1 session.\n" {
				t.Errorf("user sign-out: got exit code %d, want 0 and one session: %s%s", code, out, stderr)
			}
		},
	} {
		here := &visitor{t: t, p: first}
		here.signIn(program.EpoxyToken)
		there := &visitor{t: t, p: second, cookie: here.cookie}
		if answer, _ := there.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: got %d, want 200 on the other node", what, answer.StatusCode)
		}
		_, sessions, _ := program.Run(t, settings, "user", "sessions", "epoxy")
		if lines := strings.Count(sessions, "\n"); lines != 2 || !strings.Contains(sessions, "Firefox on Linux") {
			t.Errorf("%s: got the sessions %s, want one", what, sessions)
		}
		if _, tokens, _ := program.Run(t, settings, "token", "list", "epoxy"); strings.Contains(tokens, "Firefox") {
			t.Errorf("got the tokens %s, want no sessions", tokens)
		}
		end(here)
		if answer, _ := there.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: got %d, want the session ended on both nodes", what, answer.StatusCode)
		}
	}
}

// TestScopes checks that a read-only token can read but not write, whatever the paste or the body.
func TestScopes(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
		code, out, stderr := program.Run(t, settings, "token", "issue", "epoxy", "--scope", "read")
		if code != 0 {
			t.Fatalf("token issue: got exit code %d, want 0: %s", code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		token := "Authorization: " + lines[len(lines)-1]
		server := program.Serve(t, cfg.URL)
		for _, path := range []string{"/user/self", "/user/self/pastes", "/paste/tie0000a"} {
			if response, body := exchange(t, server, http.MethodGet, path, token); response.StatusCode != http.StatusOK {
				t.Errorf("%s: got %s, %s, want 200", path, response.Status, body)
			}
		}
		requests := []request{
			with(http.MethodPost, "/paste"), with(http.MethodPost, "/raw"), with(http.MethodPost, "/encrypted"),
			with(http.MethodPatch, "/paste/tie0000a"), with(http.MethodPatch, "/paste/unknown1"),
			with(http.MethodDelete, "/paste/tie0000a"), with(http.MethodDelete, "/paste/unknown1"),
			with(http.MethodPut, "/raw"), with(http.MethodPut, "/raw/main.go"),
			with(http.MethodPut, "/paste/tie0000a/star"), with(http.MethodDelete, "/paste/tie0000a/star"),
			with(http.MethodPost, "/open/tie0000a"),
		}
		wantEvery(t, requests, func(o openapi.Operation) bool { return o.Method != http.MethodGet })
		for _, r := range requests {
			response, body := exchange(t, server, r.method, r.target, token, "\n{")
			if response.StatusCode != http.StatusForbidden ||
				!strings.Contains(body, `"statusMessage":"This access token may only read.`) {
				t.Errorf("%s %s: got %s, %s, want 403", r.method, r.target, response.Status, body)
			}
		}
		if code, _, stderr = program.Run(t, settings, "user", "suspend", "epoxy", "--reason", "spam"); code != 0 {
			t.Fatalf("user suspend: got exit code %d, want 0: %s", code, stderr)
		}
		for _, path := range []string{"/list/own", "/list/starred"} {
			if response, body := exchange(t, server, http.MethodGet, path, token); response.StatusCode != http.StatusForbidden {
				t.Errorf("%s of a suspended user: got %s, %s, want 403", path, response.Status, body)
			}
		}
		code, _, stderr = program.Run(t, settings, "token", "issue", "epoxy", "--scope", "admin")
		if code == 0 || !strings.Contains(stderr, "must be read or write") {
			t.Errorf("got exit code %d, %s, want a failure for an unknown scope", code, stderr)
		}
	})
}
