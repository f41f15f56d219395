package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trusted   []string
		remote    string
		forwarded []string
		client    string
		proxied   bool
	}{
		{nil, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1", false},
		{nil, "[2001:db8::1]:1234", nil, "2001:db8::1", false},
		{nil, "@", nil, "@", false}, // a UNIX socket
		{[]string{"fe80::/10"}, "[fe80::1%eth0]:1234", []string{"203.0.113.9"}, "203.0.113.9", true},
		{[]string{"fe80::1"}, "[fe80::1%eth0]:1234", []string{"203.0.113.9, fe80::1%eth1"}, "203.0.113.9", true},
		{[]string{"fe80::1"}, "[fe80::2%eth0]:1234", []string{"203.0.113.9"}, "fe80::2%eth0", false},
		{[]string{"10.0.0.0/8"}, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1", false},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9"}, "203.0.113.9", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9:5678"}, "203.0.113.9", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"[2001:db8::9]:5678, 10.0.0.2:80"}, "2001:db8::9", true},
		{[]string{"10.0.0.0/8"}, "[::ffff:10.0.0.1]:1234", []string{"203.0.113.9"}, "203.0.113.9", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", nil, "10.0.0.1", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9, 198.51.100.2 ,10.0.0.2"}, "198.51.100.2", true},
		// a proxy that adds a line
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9", "198.51.100.2"}, "198.51.100.2", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9, x"}, "10.0.0.1", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"10.0.0.3,10.0.0.2"}, "10.0.0.3", true},
		{[]string{"10.0.0.1"}, "10.0.0.1:1234", []string{"2001:db8::2"}, "2001:db8::2", true},
		{[]string{"0.0.0.0/0"}, "10.0.0.1:1234", []string{strings.Repeat("10.0.0.1,", 5000) + "10.0.0.2"}, "10.0.0.1", true},
	} {
		trusted, err := parseProxies(c.trusted)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.remote
		r.Header["X-Forwarded-For"], r.Header["X-Real-Ip"] = c.forwarded, []string{"198.51.100.66"}
		if client, proxied := trusted.client(r); client != c.client || proxied != c.proxied {
			t.Errorf("%q by way of %q, trusting %q: got %s, %t, want %s, %t", c.remote, c.forwarded, c.trusted, client,
				proxied, c.client, c.proxied)
		}
	}
}

// TestRequestUntouched checks that the request stays unchanged: an embedder's middleware may log it afterwards.
func TestRequestUntouched(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"192.0.2.1"}
	api, _ := newTestAPI(t, new(store), cfg)
	for _, method := range []string{"GET", "PROPFIND"} {
		r := httptest.NewRequest(method, "/data/language?name=Go", nil)
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		r.Header.Set("X-Forwarded-Proto", "https")
		r.Header.Set("X-Forwarded-Host", "paste.example")
		before := [4]string{r.Method, r.Host, r.RemoteAddr, r.URL.Scheme}
		api.ServeHTTP(httptest.NewRecorder(), r)
		if after := [4]string{r.Method, r.Host, r.RemoteAddr, r.URL.Scheme}; after != before {
			t.Errorf("got the request %q, want %q unchanged", after, before)
		}
	}
}
