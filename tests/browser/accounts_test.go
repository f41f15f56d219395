package browser

import (
	"archive/zip"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/idp"
	"github.com/gluepot/gluepot/tests/program"
)

// TestAccounts follows a user from signing up to the deletion of the account, with JavaScript and without, on both
// databases. On PostgreSQL, two nodes take turns.
func TestAccounts(t *testing.T) {
	t.Parallel()
	for name, noScript := range map[string]bool{"script": false, "no script": true} {
		followUser := func(t *testing.T, cfg gormstore.Config) {
			providers := idp.ForInstallation(t)
			settings := append(providers.Settings, "GLUEPOT_HTTP_ADDR=127.0.0.1:0")
			nodes := []*program.Process{program.Serve(t, cfg.URL, settings...)}
			if strings.HasPrefix(cfg.URL, "postgres") {
				nodes = append(nodes, program.Serve(t, cfg.URL, settings...))
			}
			startLoadBalancer(t, providers.Address, nodes)
			newVisitor := func() *tab {
				tab := newTab(t, "http://"+providers.Address) // the browser complains about the redirects to the providers
				if noScript {
					tab.disableScript()
				}
				return tab
			}
			ann, other := newVisitor(), newVisitor()
			const (
				oidcLink      = ".ways a[href^='/sign-in/oidc']"
				gitHubLink    = ".ways a[href^='/sign-in/github']"
				signInLink    = ".top nav a[href^='/sign-in']"
				accountLink   = ".top a[href='/account']" // if signed in
				signUpForm    = "form[action='/sign-up']"
				revokeButton  = "button[aria-label='Revoke laptop']"
				gitHubAccount = "button[aria-label='Unlink GitHub']"
			)
			ann.show("/sign-in")
			ann.press(oidcLink, signUpForm)
			if name := evaluate[string](ann, "document.querySelector('#name').value"); name != "Ann-Example" {
				t.Errorf("got the suggested name %q, want Ann-Example, the provider's", name)
			}
			evaluate[bool](ann, "(document.querySelector('#name').value = 'ann') != ''")
			ann.press("button.main", accountLink)
			ann.show("/")
			ann.fill("#code-1", "mine")
			ann.press("button.main", ".pasty")
			pastePath := ann.path()

			ann.press(signOutButton, signInLink)
			ann.press(signInLink, oidcLink)
			ann.press(oidcLink, accountLink)
			ann.show("/account/identities")
			ann.press("button[name=link][value=github]", gitHubAccount)
			if path := ann.path(); path != "/account/identities" {
				t.Errorf("got the page %s after linking GitHub, want /account/identities", path)
			}

			other.show("/sign-in?next=/account")
			other.press(gitHubLink, accountLink)
			ann.show("/account/sessions")
			if sessions := evaluate[int](ann, "document.querySelectorAll('.own li').length"); sessions != 2 {
				t.Errorf("got %d sessions, want 2", sessions)
			}
			ann.press("button[value=others]", ".own li:only-child")
			other.show("/pastes")
			if path := other.path(); path != "/sign-in" {
				t.Errorf("got the page %s after the session was ended elsewhere, want /sign-in", path)
			}

			ann.show("/account/tokens")
			ann.fill("#name", "laptop")
			ann.press("button.main", "#made")
			ann.press(revokeButton, "form.form.narrow")
			ann.do(chromedp.WaitNotPresent(chromedp.CSS(revokeButton)))

			folder := t.TempDir()
			command(ann, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
				Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
				BrowserContextID: chromedp.FromContext(ann.ctx).BrowserContextID,
			})
			ann.show("/account")
			ann.do(ann.click("form[action='/account/export'] button"))
			wantDownload(t, filepath.Join(folder, "ann.zip"), "pastes"+pastePath+"/")

			ann.show("/account/delete")
			ann.fill("#name", "ann")
			ann.press("button.main", signInLink)
			ann.show("/sign-in")
			ann.press(oidcLink, signUpForm)
			for _, tab := range []*tab{ann, other} {
				for _, complaint := range tab.unexpectedComplaints() {
					if !strings.HasPrefix(complaint, "cross-origin: "+providers.OIDC.URL) &&
						!strings.HasPrefix(complaint, "cross-origin: "+providers.GitHub.URL) {
						t.Errorf("got the browser's complaint %s, want none except about redirects to providers", complaint)
					}
				}
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, followUser)
		})
	}
}

// startLoadBalancer starts a proxy at an address, which sends requests to the nodes in turn.
func startLoadBalancer(t *testing.T, address string, nodes []*program.Process) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Uint64
	proxy := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		node := nodes[requests.Add(1)%uint64(len(nodes))]
		r.SetURL(&url.URL{Scheme: "http", Host: node.Address})
		r.Out.Host = r.In.Host
	}})
	_ = proxy.Listener.Close()
	proxy.Listener = listener
	proxy.Start()
	t.Cleanup(proxy.Close)
}

// TestAccountPages checks the pages about accounts for accessibility, in narrow and wide windows.
func TestAccountPages(t *testing.T) {
	t.Parallel()
	providers := idp.ForInstallation(t)
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	settings := append(providers.Settings, "GLUEPOT_DATABASE_URL="+cfg.URL)
	program.Serve(t, cfg.URL, providers.Settings...)
	program.Run(t, settings, "user", "link", "Epoxy", "oidc:sub-99")
	_, stdout, stderr := program.Run(t, settings, "invite", "create", "--note", "For the team that glues")
	_, invitation, ok := strings.Cut(strings.TrimSpace(stdout), "http://"+providers.Address)
	if !ok {
		t.Fatalf("invite create: got %s, %s, want a link to http://%s", stdout, stderr, providers.Address)
	}
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			tab := newTab(t, "http://"+providers.Address) // the browser complains about the redirect to the provider
			tab.setColourScheme(scheme)
			checkPage := func(name string) {
				t.Helper()
				tab.wantAccessible(name)
				for window, width := range map[string]int64{"phone": 320, "wide": tabWidth} {
					tab.do(chromedp.EmulateViewport(width, 800))
					tab.wantFit()
					tab.fullScreenshot(name + "-" + window)
				}
			}
			tab.show(invitation)
			checkPage("invite")
			tab.press(".ways a[href^='/sign-in/oidc']", "form[action='/sign-up']")
			checkPage("sign-up")
			tab.fill("#name", "-")
			tab.press("button.main", "[role=alert]")
			checkPage("sign-up-wrong")
			tab.show("/sign-in")
			checkPage("sign-in")
			tab.signIn(program.EpoxyToken)
			for _, name := range []string{"account", "account/tokens", "account/sessions", "account/identities",
				"account/delete"} {
				tab.show("/" + name)
				checkPage(strings.ReplaceAll(name, "/", "-"))
			}
			tab.show("/account/identities")
			if hints := evaluate[int](tab, "document.querySelectorAll('.ways form .hint').length"); hints != 2 {
				t.Errorf("got %d accounts with the hint that their provider is not offered, want the 2 imported ones", hints)
			}
			tab.show("/account/tokens")
			tab.fill("#name", "a laptop with a name that is rather long, for a name of one")
			tab.press("button.main", "#made")
			checkPage("account-tokens-made")
		})
	}
}

// wantDownload waits for a ZIP file, and checks that the folder in it has a file.
func wantDownload(t *testing.T, path, folder string) {
	t.Helper()
	for deadline := time.Now().Add(program.Patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("got no file %s within %v, want one", path, program.Patience)
		}
	}
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close() //nolint:errcheck // it was only read
	for _, file := range archive.File {
		if strings.HasPrefix(file.Name, folder) {
			return
		}
	}
	t.Errorf("got none of %d files in %s, want at least one", len(archive.File), folder)
}
