package e2e

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/program"
)

// visitor is a browser that comes by a proxy which speaks TLS with it.
type visitor struct {
	t      *testing.T
	p      *program.Process
	cookie string // that was set last
}

// ask sends a request as a page of this site does, and returns its answer with the body that it had.
func (v *visitor) ask(method, path string, form url.Values) (answer *http.Response, body string) {
	v.t.Helper()
	request, err := http.NewRequestWithContext(v.t.Context(), method, "http://"+v.p.Address+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header = http.Header{
		"Accept": {"text/html,*/*;q=0.8"}, "Content-Type": {"application/x-www-form-urlencoded"}, "Cookie": {v.cookie},
		"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"paste.example"}, "Origin": {"https://paste.example"},
	}
	answer, err = http.DefaultTransport.RoundTrip(request) // it follows nothing
	if err != nil {
		v.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if set := answer.Header.Get("Set-Cookie"); set != "" {
		v.cookie, _, _ = strings.Cut(set, ";")
		if !strings.HasPrefix(set, "__Host-") || !strings.Contains(set, "; HttpOnly; Secure; SameSite=Strict") {
			v.t.Errorf("%s %s: got the cookie %s, want one for TLS alone", method, path, set)
		}
	}
	return answer, string(read)
}

// signIn begins a session with a token.
func (v *visitor) signIn(token string) {
	v.t.Helper()
	answer, body := v.ask(http.MethodPost, "/sign-in", url.Values{"token": {token}})
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/pastes" || v.cookie == "" {
		v.t.Fatalf("got %d %v %s, want to be signed in", answer.StatusCode, answer.Header, body)
	}
}

// wantSessions has a private paste of Epoxy's read by its owner, by somebody else, and once the owner's token is revoked. nothing
// is the page for those who have not signed in.
func wantSessions(t *testing.T, p *program.Process, settings []string, private, nothing string) {
	t.Helper()
	owner, other := &visitor{t: t, p: p}, &visitor{t: t, p: p}
	owner.signIn(program.EpoxyToken)
	other.signIn(program.MortarToken)
	answer, page := owner.ask(http.MethodGet, "/"+private, nil)
	if answer.StatusCode != http.StatusOK || !strings.Contains(page, "secret") || !strings.Contains(page, "Signed in as <b>Epoxy</b>") ||
		answer.Header.Get("Etag") != "" || answer.Header.Get("Cache-Control") != "private, no-store" {
		t.Errorf("got %d %v %s, want the paste for its owner, and in no cache", answer.StatusCode, answer.Header, page)
	}
	if answer, list := owner.ask(http.MethodGet, "/pastes", nil); answer.StatusCode != http.StatusOK || !strings.Contains(list, private) {
		t.Errorf("got %d %s, want the paste listed", answer.StatusCode, list)
	}
	var pages []string
	for _, id := range []string{private, "unknown0"} {
		answer, page := other.ask(http.MethodGet, "/"+id, nil)
		if answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: got %d, want 404 for somebody else", id, answer.StatusCode)
		}
		pages = append(pages, page)
	}
	if pages[0] != pages[1] {
		t.Errorf("got %s for a private paste and %s for an unknown one, want the same page", pages[0], pages[1])
	}

	if code, _, stderr := program.Run(t, settings, "token", "revoke", "id-epoxy001ke"); code != 0 {
		t.Fatalf("token revoke: exit code %d: %s", code, stderr)
	}
	answer, page = owner.ask(http.MethodGet, "/"+private, nil)
	if answer.StatusCode != http.StatusNotFound || strings.Contains(page, "secret") || !strings.HasSuffix(owner.cookie, "=") {
		t.Errorf("got %d %v %s, want nothing once the token is revoked, and the cookie cleared", answer.StatusCode, answer.Header, page)
	}
	answer, _ = owner.ask(http.MethodGet, "/pastes", nil)
	if answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(answer.Header.Get("Location"), "/sign-in") {
		t.Errorf("got %d %v, want to be asked for a token", answer.StatusCode, answer.Header)
	}
	owner.cookie = ""
	if _, page := owner.ask(http.MethodGet, "/"+private, nil); page != nothing {
		t.Errorf("got %s, want the page for those who have not signed in", page)
	}
	log := p.Stderr.String()
	for _, token := range []string{program.EpoxyToken, program.MortarToken, strings.TrimPrefix(other.cookie, "__Host-gluepot-session=")} {
		if strings.Contains(log, token) {
			t.Errorf("got the token %q in the log, want it nowhere", token)
		}
	}
}
