package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// members makes users with goodPassword, the first of them administrators, and returns the settings of the operator.
func members(t *testing.T, cfg gormstore.Config, administrators int, names ...string) (operator []string) {
	t.Helper()
	operator = []string{"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_PUBLIC_URL=https://paste.example"}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(goodPassword+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		stdin, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"user", "create", name, "--password-stdin"}
		if i < administrators {
			args = append(args, "--admin")
		}
		creating := program.StartReading(t, stdin, operator, args...)
		if code := creating.Wait(); code != 0 {
			t.Fatalf("got %d %s, want a user", code, creating.Stderr.String())
		}
		_ = stdin.Close()
	}
	return operator
}

// withPassword signs in on a node.
func withPassword(t *testing.T, p *program.Process, name string) *visitor {
	t.Helper()
	v := &visitor{t: t, p: p}
	answer, body := v.ask(http.MethodPost, "/sign-in", url.Values{"name": {name}, "password": {goodPassword}})
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want to be signed in", answer.StatusCode, body)
	}
	return v
}

// accountOf returns the path of the page about a user for administrators.
func (v *visitor) accountOf(name string) string {
	v.t.Helper()
	_, page := v.ask(http.MethodGet, "/admin/users?name="+name, nil)
	link := regexp.MustCompile(`href="(/admin/users/[^"]+)">` + name).FindStringSubmatch(page)
	if link == nil {
		v.t.Fatalf("got %s, want a link to %s", page, name)
	}
	return link[1]
}

// linkCode is what differs between the pages of two links.
var linkCode = regexp.MustCompile(`/(setup|reset|invite)/[A-Za-z0-9-]+`)

// TestStrangers looks for what the answers to those who have not signed in give away.
func TestStrangers(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	operator := members(t, cfg, 1, "root", "mia", "gone", "spammer")
	p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1", "GLUEPOT_PUBLIC_URL=https://paste.example",
		"GLUEPOT_REGISTRATION=open")
	linkOf := func(args ...string) (path string) {
		t.Helper()
		_, out, stderr := program.Run(t, operator, args...)
		_, path, ok := strings.Cut(strings.TrimSpace(out), "https://paste.example")
		if !ok {
			t.Fatalf("%v: got %s %s, want a link", args, out, stderr)
		}
		return path
	}
	used, ofGone, ofSpammer := linkOf("user", "reset", "mia"), linkOf("user", "reset", "gone"),
		linkOf("user", "reset", "spammer")
	invitation := linkOf("invite", "create")
	stranger := &visitor{t: t, p: p}
	if answer, body := stranger.ask(http.MethodPost, used,
		chosen("", goodPassword)); answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want the link used", answer.StatusCode, body)
	}
	for _, args := range [][]string{{"user", "delete", "gone", "--yes"}, {"user", "suspend", "spammer", "--reason", "x"}} {
		if code, _, stderr := program.Run(t, operator, args...); code != 0 {
			t.Fatalf("%v: got %d %s", args, code, stderr)
		}
	}

	t.Run("links", func(t *testing.T) {
		_, code, _ := strings.Cut(strings.TrimPrefix(invitation, "/"), "/")
		for method, form := range map[string]url.Values{http.MethodGet: nil, http.MethodPost: chosen("eve", goodPassword)} {
			pages := make(map[string]string)
			for what, path := range map[string]string{
				"used": used, "of a deleted user": ofGone, "made up": "/reset/AAAAAAAAAAAAAAAAAAAAAAAAAA", "short": "/reset/x",
				"of an invitation": "/reset/" + code,
			} {
				answer, body := (&visitor{t: t, p: p}).ask(method, path, form)
				if answer.StatusCode != http.StatusForbidden || strings.Contains(body, "mia") {
					t.Errorf("%s %s: got %d %s, want 403", method, what, answer.StatusCode, body)
				}
				pages[what] = linkCode.ReplaceAllString(body, "")
			}
			for what, page := range pages {
				if page != pages["made up"] {
					t.Errorf("%s %s: got %s, want the same as of one that is made up: %s", method, what, page, pages["made up"])
				}
			}
			answer, _ := (&visitor{t: t, p: p}).ask(method, ofSpammer, form)
			if answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s: got %d for a link of a suspended user, want 403", method, answer.StatusCode)
			}
		}
	})

	t.Run("passwords", func(t *testing.T) {
		want := ""
		for _, name := range []string{"nobody", "mia", "root", "gone", "spammer", "a b"} {
			answer, body := (&visitor{t: t, p: p}).ask(http.MethodPost, "/sign-in",
				url.Values{"name": {name}, "password": {otherPassword}})
			body = strings.ReplaceAll(linkCode.ReplaceAllString(body, ""), `value="`+name+`"`, "")
			if want == "" {
				want = body
			}
			if answer.StatusCode != http.StatusUnauthorized || body != want || answer.Header["Set-Cookie"] != nil {
				t.Errorf("%s: got %d %s, want the same as for an unknown name: %s", name, answer.StatusCode, body, want)
			}
		}
	})

	t.Run("forms of other sites", func(t *testing.T) {
		for _, path := range []string{"/sign-in", "/sign-in/passkey", "/sign-up", "/sign-out", invitation, ofSpammer,
			"/setup/x", "/account", "/account/security", "/account/passkeys", "/account/identities", "/account/tokens",
			"/account/sessions", "/account/delete", "/admin", "/admin/users/x", "/admin/invitations"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.Address+path,
				strings.NewReader(chosen("eve", goodPassword).Encode()))
			if err != nil {
				t.Fatal(err)
			}
			request.Header = http.Header{
				"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"},
				"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://evil.paste.example"}, "X-Forwarded-Host": {"paste.example"},
				"X-Forwarded-Proto": {"https"},
			}
			answer, err := http.DefaultTransport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusForbidden || answer.Header["Set-Cookie"] != nil {
				t.Errorf("%s: got %d %v, want 403", path, answer.StatusCode, answer.Header)
			}
		}
	})
}

// TestNamesAreNotTried wants one client to be stopped that tries which names are taken by signing up: with a password,
// and with a passkey, which needs no device to begin.
func TestNamesAreNotTried(t *testing.T) {
	t.Parallel()
	for what, form := range map[string]url.Values{
		"password": chosen("mia", goodPassword), "passkey": {"passkey": {"on"}, "name": {"mia"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cfg := database.SQLite(t)
			members(t, cfg, 0, "mia")
			p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1",
				"GLUEPOT_PUBLIC_URL=https://paste.example", "GLUEPOT_REGISTRATION=open", "GLUEPOT_LIMIT_FAILED_SIGN_INS=3")
			var statuses []int
			for range 5 {
				answer, _ := (&visitor{t: t, p: p}).ask(http.MethodPost, "/sign-up", form)
				statuses = append(statuses, answer.StatusCode)
			}
			if statuses[0] != http.StatusConflict || statuses[4] != http.StatusTooManyRequests {
				t.Errorf("got %v, want 409, and 429 after three", statuses)
			}
		})
	}
}

// TestAdministratorsAgainstAnother has two administrators suspend each other at once, on two nodes, and one who loses
// that right use a link that was made before.
func TestAdministratorsAgainstAnother(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		operator := members(t, cfg, 4, "ann", "bob", "cid", "dan")
		settings := []string{"GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1", "GLUEPOT_PUBLIC_URL=https://paste.example"}
		nodes := []*program.Process{program.Serve(t, cfg.URL, settings...), program.Serve(t, cfg.URL, settings...)}
		both := []*visitor{withPassword(t, nodes[0], "ann"), withPassword(t, nodes[1], "bob")}
		paths := []string{both[1].accountOf("ann"), both[0].accountOf("bob")}

		// One who was refused as a suspended user may be asked to sign in, or be told that there is no such page.
		var running sync.WaitGroup
		statuses := make([]int, 2)
		for i, v := range both {
			running.Go(func() {
				answer, _ := v.ask(http.MethodPost, paths[1-i], url.Values{"do": {"suspend"}, "reason": {"spam"}})
				statuses[i] = answer.StatusCode
			})
		}
		running.Wait()
		_, listed, _ := program.Run(t, operator, "user", "list", "--json")
		if strings.Count(listed, `"suspended":true`) != 1 {
			t.Errorf("got %v and %s, want one of the two suspended", statuses, listed)
		}
		_, acts, _ := program.Run(t, operator, "audit", "list")
		if strings.Count(acts, "user.suspend") != 1 {
			t.Errorf("got %s, want one act", acts)
		}

		cid := withPassword(t, nodes[0], "cid")
		path := cid.accountOf("dan")
		cid.ask(http.MethodPost, path, url.Values{"do": {"reset"}})
		_, page := cid.ask(http.MethodGet, path, nil)
		link := regexp.MustCompile(`value="https://paste.example(/reset/[^"]+)"`).FindStringSubmatch(page)
		if link == nil {
			t.Fatalf("got %s, want a link", page)
		}
		if answer, body := cid.ask(http.MethodGet, link[1], nil); answer.StatusCode != http.StatusOK {
			t.Errorf("got %d %s, want the form of the link", answer.StatusCode, body)
		}
		if code, _, stderr := program.Run(t, operator, "user", "suspend", "cid", "--reason", "spam"); code != 0 {
			t.Fatal(stderr)
		}
		for method, form := range map[string]url.Values{http.MethodGet: nil, http.MethodPost: chosen("", otherPassword)} {
			answer, body := (&visitor{t: t, p: nodes[1]}).ask(method, link[1], form)
			if answer.StatusCode != http.StatusForbidden || !strings.Contains(body, "not valid any more") {
				t.Errorf("%s: got %d %s, want the link ended with the rights of who made it", method, answer.StatusCode, body)
			}
		}
	})
}
