package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// TestLink checks that the answer says where the new paste is: below the public URL, or else the request's host.
func TestLink(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, public, location, link string }{
		{"", "", "/paste/", "http://example.com/paste/"},
		{"/api/v2", "", "/api/v2/paste/", "http://example.com/api/v2/paste/"},
		{"", "https://paste.example", "https://paste.example/paste/", "https://paste.example/paste/"},
	} {
		cfg := DefaultConfig()
		cfg.BasePath, cfg.PublicURL = c.base, c.public
		api, secret := newPasteAPI(t, cfg, nil)
		for path, body := range map[string]string{"/paste": `{"pasties":[{"code":"x"}]}`, "/raw": "x"} {
			for _, token := range []string{"", secret} {
				answer := send(api, http.MethodPost, c.base+path, body, "Authorization", token, "X-Forwarded-Host", "other.example")
				location, key := answer.Header().Get("Location"), answer.Header().Get(deleteKeyHeader)
				id, ok := strings.CutPrefix(location, c.location)
				if answer.Code != http.StatusOK || !ok || len(id) != 8 || (key == "") == (token == "") {
					t.Errorf("%+v, %s: got %d %v, want where the paste is, and a key without a token", c, path, answer.Code,
						answer.Header())
				}
				if path == "/raw" && answer.Body.String() != c.link+id+"\n" {
					t.Errorf("%+v: got %q, want the link and a line end", c, answer.Body)
				}
			}
		}
	}
}
