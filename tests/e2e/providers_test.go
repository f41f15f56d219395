package e2e

import (
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/idp"
	"github.com/gluepot/gluepot/tests/program"
)

// surfer is a browser that keeps cookies and follows no redirects. Its cookies apply to all ports of a host, and thus
// to all nodes.
type surfer struct {
	http.Client

	t      *testing.T
	origin string
}

func newSurfer(t *testing.T, node *program.Process) *surfer {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &surfer{t: t, origin: "http://" + node.Address, Client: http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// ask sends a request as a page of this site does. It returns the status, and the address of a redirect or else the
// page.
func (s *surfer) ask(method, path string, form url.Values) (status int, page string) {
	s.t.Helper()
	if method == http.MethodPost {
		form = fromOwnPage(path, form, func(path string) string {
			_, page := s.ask(http.MethodGet, path, nil)
			return page
		})
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header = http.Header{
		"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"},
	}
	answer, err := s.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if location := answer.Header.Get("Location"); location != "" {
		return answer.StatusCode, location
	}
	return answer.StatusCode, string(body)
}

// wantPage sends a request, and checks the status and a part of the redirect's address or of the page.
func (s *surfer) wantPage(status int, part, method, path string, form url.Values) (page string) {
	s.t.Helper()
	got, page := s.ask(method, path, form)
	if got != status || !strings.Contains(page, part) {
		s.t.Errorf("%s %s: got %d %s, want %d and %s", method, path, got, page, status, part)
	}
	return page
}

// startSignIn goes to a provider, and returns the path of the callback.
func (s *surfer) startSignIn(provider, query string) string {
	s.t.Helper()
	status, address := s.ask(http.MethodGet, "/sign-in/"+provider+"?"+query, nil)
	if status != http.StatusSeeOther {
		s.t.Fatalf("got %d %s, want a redirect to the provider", status, address)
	}
	return idp.Visit(s.t, address).RequestURI()
}

// providerLink matches the link to the provider on the page before it.
var providerLink = regexp.MustCompile(`<a class="button main" rel="nofollow" href="([^"]+)"`)

// startLink goes to a provider from the page of linked accounts, and returns the path of the callback.
func (s *surfer) startLink(provider string) string {
	s.t.Helper()
	page := s.wantPage(http.StatusOK, "Link ", http.MethodPost, "/account/identities", url.Values{"link": {provider}})
	matches := providerLink.FindStringSubmatch(page)
	if matches == nil {
		s.t.Fatalf("got %s, want a link to the provider", page)
	}
	return idp.Visit(s.t, html.UnescapeString(matches[1])).RequestURI()
}

// wantReturn signs in with a provider, and checks the answer to the callback.
func (s *surfer) wantReturn(status int, part, provider, query string) {
	s.t.Helper()
	s.wantPage(status, part, http.MethodGet, s.startSignIn(provider, query), nil)
}

// cookie returns the value of a cookie, or "".
func (s *surfer) cookie(name string) string {
	s.t.Helper()
	origin, err := url.Parse(s.origin)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range s.Jar.Cookies(origin) {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// signUp creates an account.
func (s *surfer) signUp(provider, name string) {
	s.t.Helper()
	s.wantReturn(http.StatusSeeOther, "/sign-up", provider, "")
	s.wantPage(http.StatusSeeOther, "/pastes", http.MethodPost, "/sign-up", url.Values{"name": {name}})
}

// nodes starts nodes with both providers: two on PostgreSQL, and one on SQLite. The providers know the first.
func nodes(t *testing.T, cfg gormstore.Config, with idp.Installation,
	settings ...string) (first, second *program.Process) {
	t.Helper()
	with.Settings = append(with.Settings, settings...)
	first = program.Serve(t, cfg.URL, with.Settings...)
	if !strings.HasPrefix(cfg.URL, "postgres") {
		return first, first
	}
	return first, program.Serve(t, cfg.URL, slices.Concat(with.Settings, []string{"GLUEPOT_HTTP_ADDR=127.0.0.1:0"})...)
}

// TestProviders signs in with providers: the user chooses a name only the first time, links a second provider, and
// cannot unlink the last one.
func TestProviders(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		with := idp.ForInstallation(t)
		first, second := nodes(t, cfg, with)
		ann := newSurfer(t, first)
		ann.wantPage(http.StatusOK, `href="/sign-in/oidc?next=%2Fstarred"`, http.MethodGet, "/sign-in?next=/starred", nil)
		back := ann.startSignIn("oidc", "next=/starred")
		ann.origin = "http://" + second.Address // any node accepts the callback
		ann.wantPage(http.StatusSeeOther, "/sign-up", http.MethodGet, back, nil)
		ann.wantPage(http.StatusOK, `value="Ann-Example"`, http.MethodGet, "/sign-up", nil)
		for name, status := range map[string]int{"EPOXY": 409, "": 400, "аnn": 400 /* Cyrillic */, "self": 400} {
			ann.wantPage(status, `role="alert"`, http.MethodPost, "/sign-up", url.Values{"name": {name}})
		}
		ann.wantPage(http.StatusSeeOther, "/starred", http.MethodPost, "/sign-up", url.Values{"name": {"ann"}})
		ann.origin = "http://" + first.Address
		ann.wantPage(http.StatusOK, "Signed in as <b>ann</b>", http.MethodGet, "/starred", nil)
		ann.wantPage(http.StatusOK, "New password", http.MethodGet, "/sign-up", nil) // anybody may sign up with a password
		ann.wantPage(http.StatusBadRequest, "is already finished", http.MethodPost, "/sign-up",
			url.Values{"name": {"again"}})

		ann.wantPage(http.StatusSeeOther, "/", http.MethodPost, "/sign-out", nil)
		before := ann.cookie("gluepot-session")
		ann.wantReturn(http.StatusSeeOther, "/pastes", "oidc", "")
		if ann.cookie("gluepot-session") == before {
			t.Error("got the ended session, want another one")
		}
		unlink := url.Values{"unlink": {"oidc@" + with.OIDC.URL}}
		ann.wantPage(http.StatusConflict, "your last way to sign in", http.MethodPost, "/account/identities", unlink)
		ann.wantPage(http.StatusSeeOther, "/account/identities", http.MethodGet, ann.startLink("github"), nil)
		ann.wantPage(http.StatusOK, "account 77", http.MethodGet, "/account/identities", nil)
		again := newSurfer(t, second)
		again.wantReturn(http.StatusSeeOther, "/pastes", "github", "")
		again.wantPage(http.StatusOK, "Signed in as <b>ann</b>", http.MethodGet, "/", nil)
		ann.wantPage(http.StatusSeeOther, "/account/identities", http.MethodPost, "/account/identities", unlink)
		newSurfer(t, first).wantReturn(http.StatusSeeOther, "/sign-up", "oidc", "")
		ann.wantPage(http.StatusSeeOther, "/account/sessions", http.MethodPost, "/account/sessions",
			url.Values{"end": {"others"}})
		again.wantPage(http.StatusSeeOther, "/sign-in?next=%2Fpastes", http.MethodGet, "/pastes", nil)
		var attempts int
		err := database.SQL(t, cfg).QueryRowContext(t.Context(), "SELECT count(*) FROM sign_in_attempts").Scan(&attempts)
		if err != nil || attempts != 1 {
			t.Errorf("got %d attempts, error %v, want 1, of the user who has not chosen a name", attempts, err)
		}
		callback, err := url.Parse(back)
		if err != nil {
			t.Fatal(err)
		}
		secrets := []string{idp.ClientSecret, "gho_test", callback.Query().Get("code"), callback.Query().Get("state"),
			"Ann Example", "sub-77"}
		for _, secret := range secrets {
			if log := first.Stderr.String() + second.Stderr.String(); strings.Contains(log, secret) {
				t.Errorf("got %s in the log, want no data from a provider", secret)
			}
		}
	})
}

// TestCallbacks attacks the callback of a provider. It must store nothing and never answer 500.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	with := idp.ForInstallation(t)
	node, _ := nodes(t, cfg, with)
	ann, eve := newSurfer(t, node), newSurfer(t, node)
	ann.signUp("oidc", "ann")
	session := ann.cookie("gluepot-session")

	back := ann.startSignIn("oidc", "")
	eve.wantPage(http.StatusBadRequest, "was started in another browser", http.MethodGet, back, nil)
	ann.wantPage(http.StatusSeeOther, "/pastes", http.MethodGet, back, nil)
	if ann.cookie("gluepot-session") == session {
		t.Error("got the session from before signing in, want another one")
	}
	other := newSurfer(t, node)
	other.Jar.SetCookies(&url.URL{Scheme: "http", Host: node.Address},
		[]*http.Cookie{{Name: "gluepot-session", Value: session}})
	other.wantPage(http.StatusSeeOther, "/sign-in", http.MethodGet, "/pastes", nil)
	ann.wantPage(http.StatusBadRequest, "is already finished", http.MethodGet, back, nil) // replayed
	countRows := func() (counts string) {
		t.Helper()
		err := database.SQL(t, cfg).QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM users) || ' users, ' ||
			(SELECT count(*) FROM identities) || ' identities, ' ||
			(SELECT count(*) FROM access_tokens) || ' tokens'`).Scan(&counts)
		if err != nil {
			t.Fatal(err)
		}
		return counts
	}
	before := countRows()
	for what, alter := range map[string]func(path string) string{
		"another state":    func(path string) string { return strings.Replace(path, "state=", "state=x", 1) },
		"no state":         func(path string) string { return strings.Replace(path, "state=", "s=", 1) },
		"another provider": func(path string) string { return strings.Replace(path, "/oidc/", "/github/", 1) },
		"an unknown one":   func(path string) string { return strings.Replace(path, "/oidc/", "/myspace/", 1) },
		"another code":     func(path string) string { return strings.Replace(path, "code=", "code=x", 1) },
		"cancelled":        func(path string) string { return strings.Replace(path, "code=", "error=access_denied&c=", 1) },
		"refused scopes":   func(path string) string { return strings.Replace(path, "code=", "error=invalid_scope&c=", 1) },
		"another issuer":   func(path string) string { return path + "&iss=https%3A%2F%2Fevil.example" },
		"invalid UTF-8":    func(path string) string { return path + "&error=%ff%00" },
	} {
		visitor := newSurfer(t, node)
		if status, page := visitor.ask(http.MethodGet,
			alter(visitor.startSignIn("oidc", "")), nil); status != http.StatusBadRequest &&
			status != http.StatusNotFound || visitor.cookie("gluepot-session") != "" {
			t.Errorf("%s: got %d %s, want 400 or 404 and no session", what, status, page)
		}
	}
	if got := countRows(); got != before {
		t.Errorf("got %s, want %s as before", got, before)
	}
	for _, why := range []string{"invalid_grant", "invalid_scope", "evil.example"} {
		program.Eventually(t, why+" in the log, for operators", func() bool {
			return slices.ContainsFunc(node.Log(), func(line map[string]any) bool {
				text, _ := line["error"].(string)
				return line["level"] == "info" && strings.Contains(text, why)
			})
		})
	}
	// Two tabs of a browser each return to their own page.
	one, two := ann.startSignIn("oidc", "next=/starred"), ann.startSignIn("oidc", "next=/account")
	ann.wantPage(http.StatusSeeOther, "/starred", http.MethodGet, one, nil)
	ann.wantPage(http.StatusSeeOther, "/account", http.MethodGet, two, nil)
	for _, next := range []string{
		"//evil.example", `/\evil.example`, "https://evil.example", "https:evil.example", "/%09/evil.example",
		"javascript:alert(1)",
		"%2F%2Fevil.example",
	} {
		ann.wantReturn(http.StatusSeeOther, "/pastes", "oidc", "next="+next)
	}
	// A flow that another user began links nothing.
	link := ann.startLink("github")
	ann.wantPage(http.StatusSeeOther, "/", http.MethodPost, "/sign-out", nil)
	ann.wantPage(http.StatusForbidden, "Another user started to link", http.MethodGet, link, nil)

	// The same subject at another provider is another person.
	with.OIDC.Behave(func(b *idp.Behaviour) { b.Account = idp.Account{Subject: "77", Name: "ann"} })
	eve.signUp("github", "eve")
	newSurfer(t, node).wantReturn(http.StatusSeeOther, "/sign-up", "oidc", "")
	// Two browsers of one person sign up at once. Only one account is created.
	with.OIDC.Behave(func(b *idp.Behaviour) { b.Account.Subject = "twice" })
	visitors := []*surfer{newSurfer(t, node), newSurfer(t, node)}
	for _, visitor := range visitors {
		visitor.wantReturn(http.StatusSeeOther, "/sign-up", "oidc", "")
	}
	var group sync.WaitGroup
	for i, visitor := range visitors {
		group.Go(func() {
			visitor.wantPage(http.StatusSeeOther, "/pastes", http.MethodPost, "/sign-up",
				url.Values{"name": {fmt.Sprint("twice", i)}})
		})
	}
	group.Wait()
	var accounts int
	const count = "SELECT count(*) FROM users WHERE username LIKE 'twice%'"
	err := database.SQL(t, cfg).QueryRowContext(t.Context(), count).Scan(&accounts)
	if err != nil || accounts != 1 {
		t.Errorf("got %d accounts, error %v, want one", accounts, err)
	}
}

// TestLinkedByALink follows links that could be in a paste's Markdown, and sends forms without a CSRF token or with
// that of another session. None may link the provider's account, which could be a stranger's.
func TestLinkedByALink(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	with := idp.ForInstallation(t)
	node, _ := nodes(t, cfg, with)
	victim, stranger := newSurfer(t, node), newSurfer(t, node)
	for surfer, token := range map[*surfer]string{victim: program.EpoxyToken, stranger: program.MortarToken} {
		surfer.wantPage(http.StatusSeeOther, "/pastes", http.MethodPost, "/sign-in", url.Values{"token": {token}})
	}
	wantUnlinked := func(how string) {
		t.Helper()
		code, out, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "user", "identities", "epoxy")
		if code != 0 || strings.Contains(out, "oidc") {
			t.Errorf("%s: got %d %s%s, want no linked account of the provider", how, code, out, stderr)
		}
	}
	for _, query := range []string{"link=1", "link=1&next=/account/identities"} {
		victim.ask(http.MethodGet, victim.startSignIn("oidc", query), nil)
		wantUnlinked("/sign-in/oidc?" + query)
	}
	victim.wantPage(http.StatusOK, "Linked accounts", http.MethodGet, "/account/identities?link=oidc", nil)
	_, page := stranger.ask(http.MethodGet, "/account/identities", nil)
	strangersToken := csrfField.FindStringSubmatch(page)[1]
	for what, value := range map[string]string{"no value": "", "a stranger's value": strangersToken} {
		form := url.Values{"link": {"oidc"}, "csrf": {value}}
		const refusal = "does not belong to your current session"
		victim.wantPage(http.StatusForbidden, refusal, http.MethodPost, "/account/identities", form)
		wantUnlinked(what)
	}
}

// TestRefusalsAreLogged signs in with accounts that are refused, and checks that the log has the reason but no personal
// data.
func TestRefusalsAreLogged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings []string
		claims   map[string]any
		status   int
		page     string
		reason   string // in the log, unless it is empty
	}{
		"a nested claim": {
			[]string{"GLUEPOT_OIDC_REQUIRED_CLAIM=realm_access.roles=paste-users"},
			map[string]any{"realm_access": map[string]any{"roles": []string{"paste-users"}}},
			http.StatusSeeOther, "/sign-up", "",
		},
		"no claim": {
			[]string{"GLUEPOT_OIDC_REQUIRED_CLAIM=realm_access.roles=paste-users"}, nil,
			http.StatusForbidden, "may not sign in here",
			"the claim realm_access.roles is missing in the ID token and in UserInfo",
		},
		"a claim of another value": {
			[]string{"GLUEPOT_OIDC_REQUIRED_CLAIM=realm_access.roles=paste-users"},
			map[string]any{"realm_access": map[string]any{"roles": []string{"a canary"}}},
			http.StatusForbidden, "may not sign in here",
			"the claim realm_access.roles has another value than paste-users",
		},
		"an address of another domain": {
			[]string{"GLUEPOT_OIDC_REQUIRED_CLAIM=email_domain=example.org"},
			map[string]any{"email": "canary@elsewhere.example", "email_verified": true},
			http.StatusForbidden, "may not sign in here",
			"the address in the claim email is not at example.org",
		},
		"a closed registration": {
			[]string{"GLUEPOT_REGISTRATION=closed"}, nil, http.StatusForbidden, "it does not accept new ones",
			"no user has this identity, and the registration is closed",
		},
		"no invitation": {
			[]string{"GLUEPOT_REGISTRATION=invite"}, nil, http.StatusForbidden, "ask its operator for an invitation",
			"no user has this identity, there is no invitation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := database.SQLite(t)
			with := idp.ForInstallation(t)
			with.OIDC.Behave(func(b *idp.Behaviour) {
				b.Account = idp.Account{Subject: "canary-subject", Name: "canary name"}
				b.Tamper = func(claims map[string]any) { maps.Copy(claims, c.claims) }
			})
			node, _ := nodes(t, cfg, with, append([]string{"GLUEPOT_DATABASE_MIGRATE=true"}, c.settings...)...)
			newSurfer(t, node).wantReturn(c.status, c.page, "oidc", "")
			if c.reason != "" {
				program.Eventually(t, "the reason in the log", func() bool {
					return slices.ContainsFunc(node.Log(), func(line map[string]any) bool {
						text, _ := line["error"].(string)
						return line["level"] == "info" && strings.Contains(text, c.reason)
					})
				})
			}
			if strings.Contains(node.Stderr.String(), "canary") {
				t.Error("got personal data in the log, want none")
			}
		})
	}
}

// TestProviderOutOfOrder uses a provider that misbehaves. Everything else must work, and no answer may be a 500.
func TestProviderOutOfOrder(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	with := idp.ForInstallation(t)
	with.OIDC.Misbehave("fails", "")
	node, _ := nodes(t, cfg, with, "GLUEPOT_HTTP_REQUEST_TIMEOUT=5s")
	if line := node.WaitForLog("a provider does not answer"); line["provider"] != "oidc" || line["level"] != "warn" {
		t.Errorf("got %v, want a warning about the provider", line)
	}
	ann := newSurfer(t, node)
	for _, how := range []string{"hangs", "fails", "redirects", "sends a megabyte", "sends nonsense"} {
		with.OIDC.Misbehave(how, "")
		ann.wantPage(http.StatusServiceUnavailable, "Example", http.MethodGet, "/sign-in/oidc", nil)
		ann.wantPage(http.StatusOK, "Example", http.MethodGet, "/sign-in", nil)
		newSurfer(t, node).wantPage(http.StatusSeeOther, "/pastes", http.MethodPost, "/sign-in",
			url.Values{"token": {program.MortarToken}})
	}
	with.OIDC.Behave(func(b *idp.Behaviour) { b.Intercept = nil })
	ann.signUp("oidc", "ann")
	with.OIDC.Behave(func(b *idp.Behaviour) {
		b.Tamper = func(claims map[string]any) { claims["aud"] = "another client" }
	})
	newSurfer(t, node).wantReturn(http.StatusBadRequest, "", "oidc", "")
}

// TestFailedCallbacks sends invalid callbacks, invitations and names until they are too many.
func TestFailedCallbacks(t *testing.T) {
	t.Parallel()
	for what, ask := range map[string]func(*surfer) (int, string){
		"callbacks": func(s *surfer) (int, string) {
			return s.ask(http.MethodGet, "/sign-in/oidc/callback?state=a&code=b", nil)
		},
		"invitations": func(s *surfer) (int, string) { return s.ask(http.MethodGet, "/invite/madeup", nil) },
		"sign-ins with invitations": func(s *surfer) (int, string) {
			return s.ask(http.MethodGet, "/sign-in/oidc?invite=madeup", nil)
		},
		"names": func(s *surfer) (int, string) { return s.ask(http.MethodPost, "/sign-up", url.Values{"name": {"ann"}}) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cfg := database.SQLite(t)
			program.Fixture(t, cfg)
			node, _ := nodes(t, cfg, idp.ForInstallation(t), "GLUEPOT_LIMIT_FAILED_SIGN_INS=3", "GLUEPOT_REGISTRATION=invite")
			visitor := newSurfer(t, node)
			for i := range 3 {
				if status, page := ask(visitor); status != http.StatusBadRequest && status != http.StatusForbidden {
					t.Errorf("attempt %d: got %d %s, want 400 or 403", i+1, status, page)
				}
			}
			if status, page := ask(visitor); status != http.StatusTooManyRequests {
				t.Errorf("got %d %s, want 429", status, page)
			}
			for _, path := range []string{"/sign-in/github", "/sign-in/oidc/callback?state=a&code=b", "/invite/other"} {
				visitor.wantPage(http.StatusTooManyRequests, "Too many", http.MethodGet, path, nil)
			}
			visitor.wantPage(http.StatusOK, "", http.MethodGet, "/", nil)
		})
	}
}

// TestInvitations signs up with the link of an invitation, which works for one person.
func TestInvitations(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	with := idp.ForInstallation(t)
	settings := append([]string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, append(with.Settings,
		"GLUEPOT_REGISTRATION=invite")...)
	code, stdout, stderr := program.Run(t, settings, "invite", "create", "--note", "for the tests")
	_, link, ok := strings.Cut(stdout, "http://"+with.Address)
	if !ok {
		t.Fatalf("got exit code %d, %s %s, want a link", code, stdout, stderr)
	}
	link, _, _ = strings.Cut(strings.TrimSpace(link), "\n")
	node, _ := nodes(t, cfg, with, "GLUEPOT_REGISTRATION=invite")
	stranger, ann := newSurfer(t, node), newSurfer(t, node)
	stranger.wantReturn(http.StatusForbidden, "ask its operator for an invitation", "oidc", "")
	page := ann.wantPage(http.StatusOK, "for the tests", http.MethodGet, link, nil)
	secret := strings.TrimPrefix(link, "/invite/")
	if !strings.Contains(page, `href="/sign-in/oidc?invite=`+secret) {
		t.Errorf("got %s, want the buttons", page)
	}
	ann.wantReturn(http.StatusSeeOther, "/sign-up", "oidc", "invite="+secret)
	ann.wantPage(http.StatusSeeOther, "/pastes", http.MethodPost, "/sign-up", url.Values{"name": {"ann"}})
	stranger.wantPage(http.StatusForbidden, "no longer valid", http.MethodGet, link, nil)
}

// TestBlockedNewcomer blocks a network while a visitor and a user from it sign in with providers.
func TestBlockedNewcomer(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	with := idp.ForInstallation(t)
	node, _ := nodes(t, cfg, with)
	newcomer, member := newSurfer(t, node), newSurfer(t, node)
	member.signUp("github", "known")
	newcomer.wantReturn(http.StatusSeeOther, "/sign-up", "oidc", "")
	back := member.startSignIn("github", "")
	code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, "block", "add", "127.0.0.0/8",
		"--reason", "spam")
	if code != 0 {
		t.Fatal(stderr)
	}
	const blocked = "Your network is blocked"
	newcomer.wantPage(http.StatusForbidden, blocked, http.MethodPost, "/sign-up", url.Values{"name": {"ann"}})
	newcomer.wantPage(http.StatusForbidden, blocked, http.MethodGet, "/sign-in/oidc", nil)
	member.wantPage(http.StatusForbidden, blocked, http.MethodGet, back, nil)
	member.wantPage(http.StatusOK, "Signed in as <b>known</b>", http.MethodGet, "/pastes", nil) // reading still works
}
