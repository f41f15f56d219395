// Package signin lets users sign in with GitHub, GitLab and OpenID Connect.
package signin

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/domain/identity"
)

// Client holds the credentials of this installation at a provider. A provider without an ID is off.
type Client struct {
	ID     string
	Secret Secret
	URL    string // the provider's address; for OpenID Connect its issuer
}

// Secret is a text that is never printed.
type Secret string

// String hides the text.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[redacted]"
}

// Config lists the providers.
type Config struct {
	GitHub Client
	GitLab Client
	OIDC   Client
	// OIDCName is the provider's name on the button.
	OIDCName string
	// OIDCScopes are the scopes to ask for, separated by spaces.
	OIDCScopes string
	// OIDCRequiredClaim is NAME=VALUE or email_domain=example.org. Accounts without that value are turned away.
	OIDCRequiredClaim string
}

// The addresses of the public services, whose accounts imported users have.
const (
	publicGitHub = "https://github.com"
	publicGitLab = "https://gitlab.com"
)

// DefaultConfig has no provider.
func DefaultConfig() Config {
	return Config{
		GitHub: Client{URL: publicGitHub}, GitLab: Client{URL: publicGitLab}, OIDCName: "OpenID Connect",
		OIDCScopes: "openid profile",
	}
}

// Validate returns one error that names every setting that is missing or wrong. publicURL is the address of this
// installation.
func (c Config) Validate(publicURL string) error {
	var wrong []error
	for _, p := range []struct {
		client      Client
		prefix, url string
		public      string // the URL that need not be set
	}{
		{c.GitHub, "GLUEPOT_GITHUB_", "URL", publicGitHub}, {c.GitLab, "GLUEPOT_GITLAB_", "URL", publicGitLab},
		{c.OIDC, "GLUEPOT_OIDC_", "ISSUER", ""},
	} {
		parsed, err := url.Parse(p.client.URL)
		if p.client.URL != "" && (err != nil || parsed.Scheme != "https" && parsed.Scheme != "http" || parsed.Host == "" ||
			parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "") {
			wrong = append(wrong, fmt.Errorf("%s%s is %q: give an address such as https://id.example", p.prefix, p.url,
				p.client.URL))
		}
		settings := []struct{ name, value string }{
			{p.prefix + "CLIENT_ID", p.client.ID}, {p.prefix + "CLIENT_SECRET", string(p.client.Secret)},
			{p.prefix + p.url, p.client.URL}, {"GLUEPOT_PUBLIC_URL", publicURL},
		}
		set := ""
		for _, setting := range settings[:3] {
			if set == "" && setting.value != "" && setting.value != p.public {
				set = setting.name
			}
		}
		for _, setting := range settings {
			if set != "" && setting.value == "" {
				wrong = append(wrong, fmt.Errorf("%s is missing: signing in needs it, as %s is set", setting.name, set))
			}
		}
	}
	if name, value, _ := strings.Cut(c.OIDCRequiredClaim, "="); c.OIDCRequiredClaim != "" && (name == "" || value == "") {
		wrong = append(wrong, fmt.Errorf("GLUEPOT_OIDC_REQUIRED_CLAIM is %q: give a claim such as groups=paste-users",
			c.OIDCRequiredClaim))
	}
	if c.OIDC.ID == "" && c.OIDCRequiredClaim != "" {
		wrong = append(wrong,
			errors.New("GLUEPOT_OIDC_REQUIRED_CLAIM is for OpenID Connect, which GLUEPOT_OIDC_CLIENT_ID turns on"))
	}
	return errors.Join(wrong...)
}

// Providers returns the providers that are on. The configuration must be valid.
func (c Config) Providers(publicURL string) []identity.Provider {
	var providers []identity.Provider
	add := func(name, label, public string, client Client, provider func(oauth) identity.ProviderClient) {
		if client.ID == "" {
			return
		}
		if name != "oidc" { // an issuer may end with a slash
			client.URL = strings.TrimSuffix(client.URL, "/")
		}
		key := name
		if client.URL != public {
			key += "@" + client.URL
		}
		p := provider(newOAuth(label, client, publicURL+"/sign-in/"+name+"/callback"))
		providers = append(providers, identity.Provider{ProviderClient: p, Name: name, Label: label, Key: key})
	}
	add("github", "GitHub", publicGitHub, c.GitHub, func(o oauth) identity.ProviderClient { return newGitHub(o) })
	add("gitlab", "GitLab", publicGitLab, c.GitLab, func(o oauth) identity.ProviderClient {
		return newOIDC(o, "openid", "")
	})
	add("oidc", c.OIDCName, "", c.OIDC, func(o oauth) identity.ProviderClient {
		return newOIDC(o, c.OIDCScopes, c.OIDCRequiredClaim)
	})
	return providers
}
