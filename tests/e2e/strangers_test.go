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

// createMembers creates users with goodPassword, the first of them administrators, and returns the operator's settings.
func createMembers(t *testing.T, cfg gormstore.Config, administrators int, names ...string) (operator []string) {
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
		create := program.StartReading(t, stdin, operator, args...)
		if code := create.Wait(); code != 0 {
			t.Fatalf("got exit code %d, %s, want a user", code, create.Stderr.String())
		}
		_ = stdin.Close()
	}
	return operator
}

// signInWithPassword signs in on a node.
func signInWithPassword(t *testing.T, p *program.Process, name string) *visitor {
	t.Helper()
	v := &visitor{t: t, p: p}
	answer, body := v.ask(http.MethodPost, "/sign-in", url.Values{"name": {name}, "password": {goodPassword}})
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want a session", answer.StatusCode, body)
	}
	return v
}

// accountOf returns the path of a user's page for administrators.
func (v *visitor) accountOf(name string) string {
	v.t.Helper()
	_, page := v.ask(http.MethodGet, "/admin/users?name="+name, nil)
	link := regexp.MustCompile(`href="(/admin/users/[^"]+)">` + name).FindStringSubmatch(page)
	if link == nil {
		v.t.Fatalf("got %s, want a link to %s", page, name)
	}
	return link[1]
}

// linkCode matches the part that differs between the pages of two links.
var linkCode = regexp.MustCompile(`/(setup|reset|invite)/[A-Za-z0-9-]+`)

// TestStrangers checks that answers to visitors do not reveal which links and names exist.
func TestStrangers(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	operator := createMembers(t, cfg, 1, "root", "mia", "gone", "spammer")
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
	usedLink, deletedLink, suspendedLink := linkOf("user", "reset", "mia"), linkOf("user", "reset", "gone"),
		linkOf("user", "reset", "spammer")
	invitation := linkOf("invite", "create")
	stranger := &visitor{t: t, p: p}
	if answer, body := stranger.ask(http.MethodPost, usedLink,
		signUpForm("", goodPassword)); answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want 303", answer.StatusCode, body)
	}
	for _, args := range [][]string{{"user", "delete", "gone", "--yes"}, {"user", "suspend", "spammer", "--reason", "x"}} {
		if code, _, stderr := program.Run(t, operator, args...); code != 0 {
			t.Fatalf("%v: got exit code %d, %s, want 0", args, code, stderr)
		}
	}

	t.Run("links", func(t *testing.T) {
		_, code, _ := strings.Cut(strings.TrimPrefix(invitation, "/"), "/")
		for method, form := range map[string]url.Values{http.MethodGet: nil, http.MethodPost: signUpForm("eve",
			goodPassword)} {
			pages := make(map[string]string)
			for what, path := range map[string]string{
				"used": usedLink, "of a deleted user": deletedLink, "made up": "/reset/AAAAAAAAAAAAAAAAAAAAAAAAAA",
				"short":            "/reset/x",
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
					t.Errorf("%s %s: got %s, want the same page as for a made-up link: %s", method, what, page, pages["made up"])
				}
			}
			answer, _ := (&visitor{t: t, p: p}).ask(method, suspendedLink, form)
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
				t.Errorf("%s: got %d %s, want 401 and the same page as for an unknown name: %s", name, answer.StatusCode, body,
					want)
			}
		}
	})

	t.Run("forms of other sites", func(t *testing.T) {
		for _, path := range []string{"/sign-in", "/sign-in/passkey", "/sign-up", "/sign-out", invitation, suspendedLink,
			"/setup/x", "/account", "/account/security", "/account/passkeys", "/account/identities", "/account/tokens",
			"/account/sessions", "/account/delete", "/admin", "/admin/users/x", "/admin/invitations"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.Address+path,
				strings.NewReader(signUpForm("eve", goodPassword).Encode()))
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

// TestNamesAreNotTried checks that a client cannot try many names by signing up: neither with a password nor with a
// passkey, whose first step needs no device.
func TestNamesAreNotTried(t *testing.T) {
	t.Parallel()
	for what, form := range map[string]url.Values{
		"password": signUpForm("mia", goodPassword), "passkey": {"passkey": {"on"}, "name": {"mia"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cfg := database.SQLite(t)
			createMembers(t, cfg, 0, "mia")
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

// TestAdministratorsAgainstAnother lets two administrators suspend each other at once, on two nodes. Then it uses a
// link of an administrator who was suspended after creating it.
func TestAdministratorsAgainstAnother(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		operator := createMembers(t, cfg, 4, "ann", "bob", "cid", "dan")
		settings := []string{"GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1", "GLUEPOT_PUBLIC_URL=https://paste.example"}
		nodes := []*program.Process{program.Serve(t, cfg.URL, settings...), program.Serve(t, cfg.URL, settings...)}
		both := []*visitor{signInWithPassword(t, nodes[0], "ann"), signInWithPassword(t, nodes[1], "bob")}
		paths := []string{both[1].accountOf("ann"), both[0].accountOf("bob")}

		// The one who is suspended first may get a redirect to the sign-in, or 404.
		var requests sync.WaitGroup
		statuses := make([]int, 2)
		for i, v := range both {
			requests.Go(func() {
				answer, _ := v.ask(http.MethodPost, paths[1-i], url.Values{"do": {"suspend"}, "reason": {"spam"}})
				statuses[i] = answer.StatusCode
			})
		}
		requests.Wait()
		_, list, _ := program.Run(t, operator, "user", "list", "--json")
		if strings.Count(list, `"suspended":true`) != 1 {
			t.Errorf("got %v and %s, want one of the two suspended", statuses, list)
		}
		_, acts, _ := program.Run(t, operator, "audit", "list")
		if strings.Count(acts, "user.suspend") != 1 {
			t.Errorf("got %s, want one suspension", acts)
		}

		cid := signInWithPassword(t, nodes[0], "cid")
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
		for method, form := range map[string]url.Values{http.MethodGet: nil, http.MethodPost: signUpForm("", otherPassword)} {
			answer, body := (&visitor{t: t, p: nodes[1]}).ask(method, link[1], form)
			if answer.StatusCode != http.StatusForbidden || !strings.Contains(body, "no longer valid") {
				t.Errorf("%s: got %d %s, want 403: the link's creator is no longer an administrator", method, answer.StatusCode,
					body)
			}
		}
	})
}
