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

// TestAccounts follows a user from the first visit to the end of the account, with the script and without, on both
// databases: PostgreSQL has two nodes, which answer in turns.
func TestAccounts(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]bool{"script": false, "no script": true} {
		walk := func(t *testing.T, cfg gormstore.Config) {
			with := idp.ForInstallation(t)
			settings := append(with.Settings, "GLUEPOT_HTTP_ADDR=127.0.0.1:0")
			nodes := []*program.Process{program.Serve(t, cfg.URL, settings...)}
			if strings.HasPrefix(cfg.URL, "postgres") {
				nodes = append(nodes, program.Serve(t, cfg.URL, settings...))
			}
			balance(t, with.Address, nodes)
			newVisitor := func() *tab {
				tab := newTab(t, "http://"+with.Address) // the browser complains about the way to the providers
				if without {
					tab.withoutScript()
				}
				return tab
			}
			ann, elsewhere := newVisitor(), newVisitor()
			const (
				signInWithExample, signInWithGitHub = ".ways a[href^='/sign-in/oidc']", ".ways a[href^='/sign-in/github']"
				signedIn                            = ".top a[href='/account']"
				signOut                             = ".top form button"
			)
			ann.show("/sign-in")
			ann.press(signInWithExample, "form[action='/sign-up']")
			if proposed := evaluate[string](ann, "document.querySelector('#name').value"); proposed != "Ann-Example" {
				t.Errorf("got the name %q proposed, want that of the provider", proposed)
			}
			evaluate[bool](ann, "(document.querySelector('#name').value = 'ann') != ''")
			ann.press("button.main", signedIn)
			ann.show("/")
			ann.fill("#code-1", "mine")
			ann.press("button.main", ".pasty")
			pasted := ann.path()

			ann.press(signOut, ".top nav a[href^='/sign-in']")
			ann.press(".top nav a[href^='/sign-in']", signInWithExample)
			ann.press(signInWithExample, signedIn)
			ann.show("/account/identities")
			ann.press("button[name=link][value=github]", "button[aria-label='Unlink GitHub']")
			if at := ann.path(); at != "/account/identities" {
				t.Errorf("got back to %s, want the accounts", at)
			}

			elsewhere.show("/sign-in?next=/account")
			elsewhere.press(signInWithGitHub, signedIn)
			ann.show("/account/sessions")
			if sessions := evaluate[int](ann, "document.querySelectorAll('.own li').length"); sessions != 2 {
				t.Errorf("got %d sessions, want two", sessions)
			}
			ann.press("button[value=others]", ".own li:only-child")
			elsewhere.show("/pastes")
			if at := elsewhere.path(); at != "/sign-in" {
				t.Errorf("got %s, want to sign in again", at)
			}

			ann.show("/account/tokens")
			ann.fill("#name", "laptop")
			ann.press("button.main", "#made")
			ann.press("button[aria-label='Revoke laptop']", "form.form.narrow")
			ann.do(chromedp.WaitNotPresent(chromedp.CSS("button[aria-label='Revoke laptop']")))

			folder := t.TempDir()
			command(ann, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
				Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder,
				BrowserContextID: chromedp.FromContext(ann.ctx).BrowserContextID,
			})
			ann.show("/account")
			ann.do(ann.click("form[action='/account/export'] button"))
			wantDownload(t, filepath.Join(folder, "ann.zip"), "pastes"+pasted+"/")

			ann.show("/account/delete")
			ann.fill("#name", "ann")
			ann.press("button.main", ".top nav a[href^='/sign-in']")
			ann.show("/sign-in")
			ann.press(signInWithExample, "form[action='/sign-up']")
			for _, tab := range []*tab{ann, elsewhere} {
				for _, complaint := range tab.complain() {
					if !strings.HasPrefix(complaint, "elsewhere: "+with.OIDC.URL) &&
						!strings.HasPrefix(complaint, "elsewhere: "+with.GitHub.URL) {
						t.Errorf("got a complaint from the browser, want none except about the redirect to providers: %s", complaint)
					}
				}
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, walk)
		})
	}
}

// balance has nodes answer in turns at an address.
func balance(t *testing.T, address string, nodes []*program.Process) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var turn atomic.Uint64
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		node := nodes[turn.Add(1)%uint64(len(nodes))]
		r.SetURL(&url.URL{Scheme: "http", Host: node.Address})
		r.Out.Host = r.In.Host
	}})
	_ = front.Listener.Close()
	front.Listener = listener
	front.Start()
	t.Cleanup(front.Close)
}

// TestAccountPages checks the pages about accounts for accessibility, on common screens.
func TestAccountPages(t *testing.T) {
	t.Parallel()
	with := idp.ForInstallation(t)
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	settings := append(with.Settings, "GLUEPOT_DATABASE_URL="+cfg.URL)
	program.Serve(t, cfg.URL, with.Settings...)
	program.Run(t, settings, "user", "link", "Epoxy", "oidc:sub-99")
	_, invited, _ := program.Run(t, settings, "invite", "create", "--note", "For the team that glues")
	_, invitation, found := strings.Cut(strings.TrimSpace(invited), "http://"+with.Address)
	if !found {
		t.Fatalf("got %s, want a link", invited)
	}
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			tab := newTab(t, "http://"+with.Address) // the browser complains about the way to the provider
			tab.prefer(scheme)
			look := func(name string) {
				t.Helper()
				tab.wantUsable(name)
				for what, width := range map[string]int64{"phone": 320, "wide": tabWidth} {
					tab.do(chromedp.EmulateViewport(width, 800))
					tab.wantFit()
					tab.wholePicture(name + "-" + what)
				}
			}
			tab.show(invitation)
			look("invite")
			tab.press(".ways a[href^='/sign-in/oidc']", "form[action='/sign-up']")
			look("sign-up")
			tab.fill("#name", "-")
			tab.press("button.main", "[role=alert]")
			look("sign-up-wrong")
			tab.show("/sign-in")
			look("sign-in")
			tab.signedIn(program.EpoxyToken)
			for _, name := range []string{"account", "account/tokens", "account/sessions", "account/identities",
				"account/delete"} {
				tab.show("/" + name)
				look(strings.ReplaceAll(name, "/", "-"))
			}
			tab.show("/account/identities")
			if off := evaluate[int](tab, "document.querySelectorAll('.ways form .hint').length"); off != 2 {
				t.Errorf("got %d accounts that say their provider is no longer offered, want the two that were imported", off)
			}
			tab.show("/account/tokens")
			tab.fill("#name", "a laptop with a name that is rather long, for a name of one")
			tab.press("button.main", "#made")
			look("account-tokens-made")
		})
	}
}

// wantDownload waits for a ZIP file, and wants a file in that folder of it.
func wantDownload(t *testing.T, path, folder string) {
	t.Helper()
	for deadline := time.Now().Add(program.Patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("got no file %s, want one", path)
		}
	}
	packed, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close() //nolint:errcheck // it is read
	for _, file := range packed.File {
		if strings.HasPrefix(file.Name, folder) {
			return
		}
	}
	t.Errorf("got %d files, want one in %s", len(packed.File), folder)
}
