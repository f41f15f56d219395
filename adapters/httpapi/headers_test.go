package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
)

func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{
		"", "Bearer x", "token  y ", "bEARER", "Basic eDp5", "\t", "application/problem+json;q=0.5, */*", `W/"a", "`, "a;q=;;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		c.Request.Header["Authorization"] = []string{value}
		presented := presentedToken(c)
		if !strings.Contains(value, presented) || strings.HasPrefix(presented, " ") || strings.HasSuffix(presented, " ") {
			t.Errorf("%q: got the token %q, want a part of it without spaces around", value, presented)
		}
		prefers([]string{value}, mediaProblem, mediaJSON)
		acceptsGzip([]string{value})
		matchesETag([]string{value}, `"a"`)
		if validRequestID(value) && strings.ContainsAny(value, "\r\n\x00\" ") {
			t.Errorf("the request id %q: got valid, want invalid", value)
		}
	})
}

// Headers of many elements cost no more than a look at their length.
func TestHeadersOfManyElements(t *testing.T) {
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"0.0.0.0/0"}
	api, _ := newTestAPI(t, newStore(), cfg)
	api.log = zap.NewNop()
	many := func(element string) []string { return []string{strings.Repeat(element, 60<<10/len(element))} }
	for name, values := range map[string][]string{
		"Accept": many("a/b;q=0.5,"), "Accept-Encoding": many("a;q=0.5,"), "If-None-Match": many(`"x",`),
		"X-Forwarded-For": many("10.0.0.1,"), "Authorization": many("a "),
		"Cookie": many("a=b;"), requestIDHeader: many("a"),
	} {
		for _, target := range []string{"/data/language?name=Go", "/nowhere", "/", "/docs/swagger-ui.css"} {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			allocations := func() float64 {
				return testing.AllocsPerRun(10, func() { api.ServeHTTP(nowhere{http.Header{}}, r) })
			}
			plain := allocations()
			r.Header[name] = values
			if got := allocations(); got > plain+20 {
				t.Errorf("%s with %s: got %v allocations, want at most 20 more than %v", target, name, got, plain)
			}
		}
	}
	if prefers([]string{mediaProblem + strings.Repeat(",a/b", 400)}, mediaProblem, mediaJSON) ||
		!prefers([]string{"text/html", mediaProblem}, mediaProblem, mediaJSON) {
		t.Error("got Accept read otherwise, want the first KiB of it")
	}
}
