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

// TestNoReferrer sends forms through a proxy that adds Referrer-Policy: no-referrer, at 127.0.0.1 and at a name in a
// local network without TLS. Browsers do not trust the name: they send no Sec-Fetch-Site, and without the page's own
// Referrer-Policy, the Origin would be null.
func TestNoReferrer(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL)
	var (
		mu      sync.Mutex
		headers []http.Header // of the forms
	)
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: server.Address})
			r.Out.Host = r.In.Host
			if r.In.Method == http.MethodPost {
				mu.Lock()
				defer mu.Unlock()
				headers = append(headers, r.In.Header)
			}
		},
		ModifyResponse: func(response *http.Response) error {
			response.Header.Add("Referrer-Policy", "no-referrer")
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	lanURL := strings.Replace(proxy.URL, "127.0.0.1", lanName, 1)
	for origin, wantFetchSite := range map[string]string{lanURL: "", proxy.URL: "same-origin"} {
		tab := newTab(t, origin)
		tab.show("/")
		tab.fill("#code-1", "x")
		tab.press("button.main", ".pasty")
		tab.signIn(program.EpoxyToken)
		tab.show("/account/tokens")
		tab.fill("#name", "laptop")
		tab.press("button.main", "#made")
		tab.do(chromedp.WaitVisible(chromedp.CSS("button[aria-label='Revoke laptop']")))
		mu.Lock()
		for _, header := range headers {
			gotOrigin, fetchSite := header.Get("Origin"), header.Get("Sec-Fetch-Site")
			if gotOrigin != origin || fetchSite != wantFetchSite {
				t.Errorf("got Origin %q and Sec-Fetch-Site %q, want %q and %q", gotOrigin, fetchSite, origin, wantFetchSite)
			}
		}
		if len(headers) < 3 {
			t.Errorf("%s: got %d forms, want at least 3", origin, len(headers))
		}
		headers = nil
		mu.Unlock()
	}
}
