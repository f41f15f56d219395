package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/token"
)

func TestRequestID(t *testing.T) {
	t.Parallel()
	direct, _ := newTestAPI(t, newStore(), DefaultConfig())
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"192.0.2.1"} // httptest's
	proxied, lines := newTestAPI(t, newStore(), cfg)
	secret := token.Generate().Reveal()
	for _, c := range []struct {
		api  *API
		id   string
		kept bool
	}{
		{direct, "abc-1", false}, {direct, secret, false},
		{proxied, "abc-1", true}, {proxied, secret, false}, {proxied, "x" + secret[:40], false}, {proxied, "", false},
		{proxied, "a b", false},
	} {
		answer := request(c.api, http.MethodGet, "/user/epoxy", http.Header{requestIDHeader: {c.id}})
		if got := answer.Header().Get(requestIDHeader); (got == c.id) != c.kept || len(got) == 0 {
			t.Errorf("%q: got %q, want it to be kept: %v", c.id, got, c.kept)
		}
	}
	for _, line := range lines.All() {
		if id, _ := line.ContextMap()["request_id"].(string); strings.Contains(id, token.Prefix) {
			t.Errorf("got a token in the log, want none: %v", line)
		}
	}
}
