package httpapi

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMount sends requests below the public URL's path through proxies that forward the path, remove it, or remove it
// and say so.
func TestMount(t *testing.T) {
	t.Parallel()
	fromBrowser, withPrefix := http.Header{"Accept": browser["Accept"]}, http.Header{"X-Forwarded-Prefix": {"/paste"}}
	for _, c := range []struct {
		mount, method, path string
		header              http.Header
		want                string
	}{
		{"/bin", http.MethodGet, "/bin/healthz", nil, "/healthz"},
		{"/paste", http.MethodGet, "/healthz", nil, "/healthz"},
		{"/paste", http.MethodGet, "/paste", fromBrowser, "/"},
		{"/paste", http.MethodGet, "/paste/", nil, "/"},
		{"/paste", http.MethodGet, "/pastebin", fromBrowser, "/pastebin"},
		{"/paste", http.MethodGet, "/paste/k2j4x8m1", fromBrowser, "/k2j4x8m1"},
		{"/paste", http.MethodGet, "/paste/k2j4x8m1", nil, "/paste/k2j4x8m1"},
		{"/paste", http.MethodGet, "/paste/k2j4x8m1", withPrefix, "/paste/k2j4x8m1"},
		{"/paste", http.MethodGet, "/paste/paste/k2j4x8m1", nil, "/paste/k2j4x8m1"},
		{"/paste", http.MethodDelete, "/paste/k2j4x8m1", nil, "/paste/k2j4x8m1"},
		{"/paste", http.MethodPost, "/paste", http.Header{"Content-Type": {"application/json"}}, "/paste"},
		{"/paste", http.MethodPost, "/paste", http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, "/"},
		{"/paste", http.MethodPost, "/paste/k2j4x8m1/star", nil, "/k2j4x8m1/star"},
		{"/tools/bin", http.MethodGet, "/tools/bin/%2f", nil, "/%2f"},
		{"/tools/bin", http.MethodGet, "/tools/bin/k2j4x8m1", nil, "/k2j4x8m1"},
		{"/tools/bin", http.MethodGet, "/tools", nil, "/tools"},
	} {
		t.Run(strings.Join([]string{c.mount, c.method, c.path}, " "), func(t *testing.T) {
			t.Parallel()
			cfg := DefaultConfig()
			cfg.Pages, cfg.PublicURL, cfg.TrustedProxies = somePages{}, "https://example.org"+c.mount, []string{"192.0.2.1"}
			api, _ := newTestAPI(t, newStore(), cfg)
			r := httptest.NewRequest(c.method, c.path, nil)
			maps.Copy(r.Header, c.header)
			if got := api.mounted(r).URL.EscapedPath(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
