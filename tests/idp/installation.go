package idp

import (
	"testing"

	"github.com/gluepot/gluepot/tests/freeport"
)

// Installation is a server whose users sign in with both providers.
type Installation struct {
	Address  string   // to listen on
	Settings []string // environment variables
	OIDC     *Provider
	GitHub   *GitHub
}

// ForInstallation starts both providers for a server at which everybody may sign up.
func ForInstallation(t testing.TB) Installation {
	t.Helper()
	address := freeport.Address(t)
	i := Installation{Address: address, OIDC: Start(t, "http://"+address), GitHub: StartGitHub(t)}
	i.Settings = []string{
		"GLUEPOT_HTTP_ADDR=" + address, "GLUEPOT_PUBLIC_URL=http://" + address, "GLUEPOT_REGISTRATION=open",
		"GLUEPOT_OIDC_ISSUER=" + i.OIDC.URL, "GLUEPOT_OIDC_NAME=Example", "GLUEPOT_OIDC_CLIENT_ID=" + ClientID,
		"GLUEPOT_OIDC_CLIENT_SECRET=" + ClientSecret,
		"GLUEPOT_GITHUB_URL=" + i.GitHub.URL, "GLUEPOT_GITHUB_CLIENT_ID=" + ClientID,
		"GLUEPOT_GITHUB_CLIENT_SECRET=" + ClientSecret,
	}
	return i
}
