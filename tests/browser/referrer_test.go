package browser

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestNoReferrer sends forms behind a proxy that adds Referrer-Policy: no-referrer, at a name in a local network
// without TLS and at one that browsers trust. At the first, browsers do not send Sec-Fetch-Site, and without the page's
// own policy the Origin would be null.
func TestNoReferrer(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL)
	var (
		mu    sync.Mutex
		forms []http.Header
	)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: server.Address})
			r.Out.Host = r.In.Host
			if r.In.Method == http.MethodPost {
				mu.Lock()
				defer mu.Unlock()
				forms = append(forms, r.In.Header)
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			answer.Header.Add("Referrer-Policy", "no-referrer")
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	lan := strings.Replace(proxy.URL, "127.0.0.1", lanName, 1)
	for origin, site := range map[string]string{lan: "", proxy.URL: "same-origin"} {
		tab := newTab(t, origin)
		tab.show("/")
		tab.fill("#code-1", "x")
		tab.press("button.main", ".pasty")
		tab.signedIn(program.EpoxyToken)
		tab.show("/account/tokens")
		tab.fill("#name", "laptop")
		tab.press("button.main", "#made")
		tab.do(chromedp.WaitVisible(chromedp.CSS("button[aria-label='Revoke laptop']")))
		mu.Lock()
		for _, header := range forms {
			if from, got := header.Get("Origin"), header.Get("Sec-Fetch-Site"); from != origin || got != site {
				t.Errorf("%s: got the Origin %q and Sec-Fetch-Site %q, want where the form is from", origin, from, got)
			}
		}
		if len(forms) < 3 {
			t.Errorf("%s: got %d forms, want three", origin, len(forms))
		}
		forms = nil
		mu.Unlock()
	}
}
