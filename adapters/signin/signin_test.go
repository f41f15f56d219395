package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/tests/idp"
)

const public = "https://paste.example"

// source returns the one provider of a configuration.
func source(t *testing.T, cfg Config) identity.Provider {
	t.Helper()
	if err := cfg.Validate(public); err != nil {
		t.Fatal(err)
	}
	sources := cfg.Providers(public)
	if len(sources) != 1 {
		t.Fatalf("got %d providers, want one", len(sources))
	}
	return sources[0]
}

func oidcAt(p *idp.Provider) Config {
	cfg := DefaultConfig()
	cfg.OIDC = Client{ID: idp.ClientID, Secret: idp.ClientSecret, URL: p.URL}
	return cfg
}

// signIn signs in at a provider as a browser does, and returns the profile.
func signIn(t *testing.T, provider identity.Provider) (identity.Profile, error) {
	t.Helper()
	proof := identity.NewProof()
	address, err := provider.Begin(t.Context(), proof)
	if err != nil {
		return identity.Profile{}, err
	}
	query := idp.Visit(t, address).Query()
	if query.Get("state") != proof.State {
		t.Errorf("got the state %q, want %q", query.Get("state"), proof.State)
	}
	return provider.Finish(t.Context(), proof, identity.Callback{State: query.Get("state"), Code: query.Get("code"),
		Issuer: query.Get("iss")})
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	hub := idp.StartGitHub(t)
	cfg := DefaultConfig()
	cfg.GitHub = Client{ID: idp.ClientID, Secret: idp.ClientSecret, URL: hub.URL + "/"}
	provider := source(t, cfg)
	if provider.Name != "github" || provider.Label != "GitHub" || provider.Key != "github@"+hub.URL {
		t.Errorf("got %+v, want a key that is not that of github.com", provider)
	}
	got, err := signIn(t, provider)
	if err != nil || got.Subject != "77" || got.Name != "ann-example" ||
		got.Suggestion().AvatarURL != "https://avatars.example/u/77?v=4" {
		t.Errorf("got %+v, error %v, want the account by its number", got, err)
	}
	hub.ID = 0
	if _, err := signIn(t, provider); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v for an account without an id, want %v", err, fault.Unavailable)
	}
	_, err = provider.Finish(t.Context(), identity.NewProof(), identity.Callback{Code: "made up"})
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v for a code that was made up, want %v", err, fault.Invalid)
	}
	cfg.GitHub.Secret = "another"
	if _, err := signIn(t, source(t, cfg)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v with a wrong secret, want %v, which is logged", err, fault.Unavailable)
	}
	public := DefaultConfig()
	public.GitHub.ID, public.GitHub.Secret, public.GitLab.ID, public.GitLab.Secret = "a", "b", "c", "d"
	for _, provider := range public.Providers("https://paste.example") {
		if provider.Key != provider.Name {
			t.Errorf("got the key %s, want that of imported users", provider.Key)
		}
	}
}

func TestOpenIDConnect(t *testing.T) {
	t.Parallel()
	p := idp.Start(t, public)
	provider := source(t, oidcAt(p))
	for range 2 { // the second time with the discovered addresses
		got, err := signIn(t, provider)
		if err != nil || got.Subject != "sub-77" || got.Name != "Ann Example" ||
			got.Suggestion().AvatarURL != "https://id.example/ann.png" {
			t.Errorf("got %+v, error %v, want the account", got, err)
		}
	}
	cfg := DefaultConfig()
	cfg.GitLab = Client{ID: idp.ClientID, Secret: idp.ClientSecret, URL: p.URL}
	if got, err := signIn(t, source(t, cfg)); err != nil || got.Subject != "sub-77" {
		t.Errorf("got %+v, error %v from GitLab, want the account", got, err)
	}
}

// TestTampered lets the provider sign ID tokens that do not match the request.
func TestTampered(t *testing.T) {
	t.Parallel()
	p := idp.Start(t, public)
	provider, at := source(t, oidcAt(p)), func(d time.Duration) float64 { return float64(time.Now().Add(d).Unix()) }
	for what, c := range map[string]struct {
		tamper func(map[string]any)
		valid  bool
	}{
		"nothing":               {func(map[string]any) {}, true},
		"a nonce that was used": {func(c map[string]any) { c["nonce"] = "old" }, false},
		"no nonce":              {func(c map[string]any) { delete(c, "nonce") }, false},
		"another client":        {func(c map[string]any) { c["aud"] = "other" }, false},
		"no client":             {func(c map[string]any) { delete(c, "aud") }, false},
		"another client, authorized": {func(c map[string]any) {
			c["aud"], c["azp"] = []string{idp.ClientID, "other"}, "other"
		}, false},
		"two clients": {func(c map[string]any) {
			c["aud"], c["azp"] = []string{idp.ClientID, "other"}, idp.ClientID
		}, true},
		"two clients, and neither named": {func(c map[string]any) {
			c["aud"] = []string{idp.ClientID, "other"}
			delete(c, "azp")
		}, false},
		"a client that is not text":         {func(c map[string]any) { c["azp"] = 7 }, false},
		"not yet":                           {func(c map[string]any) { c["nbf"] = at(time.Hour) }, false},
		"another issuer":                    {func(c map[string]any) { c["iss"] = "https://evil.example" }, false},
		"an issuer with a slash":            {func(c map[string]any) { c["iss"] = p.URL + "/" }, false},
		"an hour ago":                       {func(c map[string]any) { c["exp"] = at(-time.Hour) }, false},
		"a clock that is three minutes off": {func(c map[string]any) { c["exp"] = at(-3 * time.Minute) }, true},
		"a clock that is ahead": {func(c map[string]any) {
			c["iat"], c["nbf"] = at(3*time.Minute), at(3*time.Minute)
		}, true},
		"nobody": {func(c map[string]any) { c["sub"] = "" }, false},
	} {
		p.Behave(func(b *idp.Behaviour) { b.Tamper = c.tamper })
		got, err := signIn(t, provider)
		if err == nil {
			got.Key = provider.Key
			err = got.Validate()
		}
		if c.valid != (err == nil) || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %+v, error %v, want an account: %v", what, got, err, c.valid)
		}
	}
}

// TestAnswers sends answers that do not belong to the request.
func TestAnswers(t *testing.T) {
	t.Parallel()
	p := idp.Start(t, public)
	provider := source(t, oidcAt(p))
	for what, alter := range map[string]func(*identity.Proof, *identity.Callback){
		"a code that was made up": func(_ *identity.Proof, c *identity.Callback) { c.Code = "made up" },
		"another verifier": func(proof *identity.Proof, _ *identity.Callback) {
			proof.Verifier = identity.NewProof().Verifier
		},
		"another nonce":     func(proof *identity.Proof, _ *identity.Callback) { proof.Nonce = identity.NewProof().Nonce },
		"of another issuer": func(_ *identity.Proof, c *identity.Callback) { c.Issuer = "https://evil.example" },
		"a code that was used once": func(proof *identity.Proof, c *identity.Callback) {
			_, _ = provider.Finish(context.Background(), *proof, *c)
		},
	} {
		proof := identity.NewProof()
		address, err := provider.Begin(t.Context(), proof)
		if err != nil {
			t.Fatal(err)
		}
		query := idp.Visit(t, address).Query()
		callback := identity.Callback{State: proof.State, Code: query.Get("code")}
		alter(&proof, &callback)
		if got, err := provider.Finish(t.Context(), proof, callback); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %+v, error %v, want %v", what, got, err, fault.Invalid)
		}
	}
}

// TestOutOfOrder lets providers misbehave at each of their addresses, and recover.
func TestOutOfOrder(t *testing.T) {
	t.Parallel()
	for _, misbehaviour := range []string{"hangs", "fails", "redirects", "sends a megabyte", "sends nonsense"} {
		t.Run(misbehaviour, func(t *testing.T) {
			t.Parallel()
			p := idp.Start(t, public)
			provider := source(t, oidcAt(p))
			for _, where := range []string{"/.well-known/openid-configuration", "/token", "/keys"} {
				p.Misbehave(misbehaviour, where)
				if where == "/.well-known/openid-configuration" {
					ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
					_, err := provider.Begin(ctx, identity.NewProof())
					cancel()
					if !fault.Is(err, fault.Unavailable) {
						t.Errorf("%s: got %v, want %v", where, err, fault.Unavailable)
					}
					continue
				}
				proof := identity.NewProof()
				address, err := provider.Begin(t.Context(), proof)
				if err != nil {
					t.Fatal(err)
				}
				query := idp.Visit(t, address).Query()
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				_, err = provider.Finish(ctx, proof, identity.Callback{Code: query.Get("code")})
				cancel()
				if !fault.Is(err, fault.Unavailable) && !(where == "/keys" && fault.Is(err, fault.Invalid)) {
					t.Errorf("%s: got %v, want %v", where, err, fault.Unavailable)
				}
				if len(fmt.Sprint(err)) > 600 {
					t.Errorf("%s: got an error of %d bytes, want a short one", where, len(fmt.Sprint(err)))
				}
			}
			p.Behave(func(b *idp.Behaviour) { b.Intercept = nil })
			deadline := time.Now().Add(time.Minute)
			for { // a request for keys may still be under way
				got, err := signIn(t, provider)
				if err == nil && got.Subject == "sub-77" {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("got %+v, error %v after it recovered, want the account", got, err)
				}
			}
		})
	}
}

// TestScopes checks that only necessary scopes are requested.
func TestScopes(t *testing.T) {
	t.Parallel()
	p := idp.Start(t, public)
	at := func(change func(*Config)) Config {
		cfg := oidcAt(p)
		change(&cfg)
		return cfg
	}
	gitLab := DefaultConfig()
	gitLab.GitLab = Client{ID: idp.ClientID, Secret: idp.ClientSecret, URL: p.URL}
	gitHub := DefaultConfig()
	gitHub.GitHub.ID, gitHub.GitHub.Secret = idp.ClientID, idp.ClientSecret
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{gitHub, ""},
		{gitLab, "openid"},
		{oidcAt(p), "openid profile"},
		{at(func(c *Config) { c.OIDCScopes = " groups  roles " }), "openid groups roles"},
		{at(func(c *Config) { c.OIDCRequiredClaim = "groups=a" }), "openid profile"},
		{at(func(c *Config) { c.OIDCRequiredClaim = "email_domain=example.org" }), "openid profile email"},
	} {
		provider := source(t, c.cfg)
		address, err := provider.Begin(t.Context(), identity.NewProof())
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(address)
		if err != nil || u.Query().Get("scope") != c.want {
			t.Errorf("got %s, error %v, want the scope %q", address, err, c.want)
		}
	}
}

func TestRequiredClaim(t *testing.T) {
	t.Parallel()
	p := idp.Start(t, public)
	member := idp.Account{Subject: "a", Name: "a", Groups: []string{"others", "paste-users"}, Email: "a@Example.org",
		Verified: true}
	for _, c := range []struct {
		claim  string
		change func(*idp.Account)
		allow  bool
	}{
		{"groups=paste-users", func(*idp.Account) {}, true},
		{"groups=paste", func(*idp.Account) {}, false},
		{"groups=paste-users", func(a *idp.Account) { a.Groups = nil }, false},
		{"preferred_username=a", func(*idp.Account) {}, true},
		{"preferred_username=b", func(*idp.Account) {}, false},
		{"email_domain=example.org", func(*idp.Account) {}, true},
		{"email_domain=example.org", func(a *idp.Account) { a.Verified = false }, false},
		{"email_domain=example.org", func(a *idp.Account) { a.Email = "a@example.org.evil.example" }, false},
		{"email_domain=example.org", func(a *idp.Account) { a.Email = "a@sub.example.org" }, false},
		// the Kelvin sign folds to k
		{"email_domain=kexample.org", func(a *idp.Account) { a.Email = "a@\u212aexample.org" }, false},
		{"email_domain=example.org", func(a *idp.Account) { a.Email = "example.org" }, false},
		{"email_domain=example.org", func(a *idp.Account) { a.Email = "" }, false},
	} {
		account := member
		c.change(&account)
		p.Behave(func(b *idp.Behaviour) { b.Account = account })
		cfg := oidcAt(p)
		cfg.OIDCRequiredClaim = c.claim
		got, err := signIn(t, source(t, cfg))
		if c.allow != (err == nil) || err != nil && !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s of %+v: got %+v, error %v, want it allowed: %v", c.claim, account, got, err, c.allow)
		}
		if personal := "example.org.evil"; err != nil && strings.Contains(err.Error(), personal) {
			t.Errorf("%s: got %v, want it without data of the account", c.claim, err)
		}
	}
}

// TestNestedClaims requires claims as Keycloak and others put them into ID tokens. Only the log has the reason for a
// refusal.
func TestNestedClaims(t *testing.T) {
	t.Parallel()
	p := idp.Start(t, public)
	const claims = `{
		"realm_access": {"roles": ["paste-users", "offline_access"]},
		"resource_access": {"gluepot": {"roles": ["reader"]}, "a.b": {"role": "writer"}},
		"https://id.example/roles": ["admins"], "flat.name": "dots", "realm": {"text": "x"}, "empty": ""
	}`
	p.Behave(func(b *idp.Behaviour) {
		b.Tamper = func(token map[string]any) {
			if err := json.Unmarshal([]byte(claims), &token); err != nil {
				t.Error(err)
			}
		}
	})
	const missing, another = "is missing in the ID token and in UserInfo", "has another value than"
	for claim, reason := range map[string]string{
		"realm_access.roles=paste-users":         "",
		"resource_access.gluepot.roles=reader":   "",
		"resource_access.a.b.role=writer":        "",
		"https://id.example/roles=admins":        "",
		"flat.name=dots":                         "",
		"realm_access.roles=paste":               another,
		"realm_access=paste-users":               another,
		"resource_access.gluepot=reader":         another,
		"resource_access.other.roles=reader":     missing,
		"realm_access.roles.paste-users=x":       missing,
		"realm.text.x=x":                         missing,
		"roles=paste-users":                      missing,
		"empty=x":                                missing,
		".=x":                                    missing,
		"resource_access..gluepot.roles=reader":  missing,
		"resource_access.gluepot.roles.=reader":  missing,
		"email_domain.realm_access.roles=reader": missing,
	} {
		t.Run(claim, func(t *testing.T) {
			t.Parallel()
			cfg := oidcAt(p)
			cfg.OIDCRequiredClaim = claim
			_, err := signIn(t, source(t, cfg))
			forbidden := fault.Is(err, fault.Forbidden) && strings.Contains(err.Error(), reason)
			if reason == "" && err != nil || reason != "" && !forbidden {
				t.Errorf("got %v, want the reason %q", err, reason)
			}
			if strings.Contains(fault.MessageOf(err), "claim") {
				t.Errorf("got %q, want it without the reason", fault.MessageOf(err))
			}
		})
	}
}

// TestUserInfoOfSomebodyElse checks that claims about another user are ignored.
func TestUserInfoOfSomebodyElse(t *testing.T) {
	t.Parallel()
	p := idp.Start(t, public)
	cfg := oidcAt(p)
	cfg.OIDCRequiredClaim = "groups=paste-users"
	p.Behave(func(b *idp.Behaviour) {
		b.Account.Groups = []string{"paste-users"}
		b.Tamper = func(claims map[string]any) { claims["sub"] = "another" }
	})
	if got, err := signIn(t, source(t, cfg)); !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %+v, error %v, want %v", got, err, fault.Forbidden)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	full := Client{ID: "a", Secret: "b", URL: "https://id.example/x/"}
	for _, c := range []struct {
		change  func(*Config)
		public  string
		missing []string
	}{
		{func(*Config) {}, "", nil},
		{func(c *Config) { c.GitHub.ID = "a" }, "", []string{"GLUEPOT_GITHUB_CLIENT_SECRET", "GLUEPOT_PUBLIC_URL"}},
		{func(c *Config) { c.GitHub.Secret = "b" }, public, []string{"GLUEPOT_GITHUB_CLIENT_ID"}},
		{func(c *Config) { c.GitHub.URL = "https://github.example" }, public, []string{"GLUEPOT_GITHUB_CLIENT_ID",
			"GLUEPOT_GITHUB_URL is set"}},
		{func(c *Config) { c.GitLab.ID = "a" }, public, []string{"GLUEPOT_GITLAB_CLIENT_SECRET"}},
		{func(c *Config) { c.OIDC.ID = "a" }, public, []string{"GLUEPOT_OIDC_CLIENT_SECRET", "GLUEPOT_OIDC_ISSUER"}},
		{func(c *Config) { c.OIDC.URL = "https://id.example" }, public, []string{"GLUEPOT_OIDC_CLIENT_ID"}},
		{func(c *Config) { c.OIDC = full }, public, nil},
		{func(c *Config) { c.OIDC = full; c.OIDC.URL = "id.example" }, public,
			[]string{`GLUEPOT_OIDC_ISSUER is "id.example"`}},
		{func(c *Config) { c.OIDC = full; c.OIDCRequiredClaim = "groups" }, public, []string{"GLUEPOT_OIDC_REQUIRED_CLAIM"}},
		{func(c *Config) { c.OIDCRequiredClaim = "groups=a" }, public, []string{"GLUEPOT_OIDC_REQUIRED_CLAIM"}},
	} {
		cfg := DefaultConfig()
		c.change(&cfg)
		err := cfg.Validate(c.public)
		if (err == nil) != (c.missing == nil) {
			t.Errorf("got %v, want %v named", err, c.missing)
		}
		for _, name := range c.missing {
			if err != nil && !strings.Contains(err.Error(), name) {
				t.Errorf("got %v, want %s named", err, name)
			}
		}
	}
	if text := fmt.Sprintf("%v %+v", full, full); strings.Contains(text, "b ") || !strings.Contains(text, "[redacted]") {
		t.Errorf("got %s, want no secret", text)
	}
}
