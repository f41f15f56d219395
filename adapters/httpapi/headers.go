package httpapi

import (
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

// Headers that do not change are made once: a slice for each request would be an allocation.
var (
	closeConnection   = []string{"close"}
	noStore           = []string{"no-store"}
	varyOrigin        = []string{"Origin"} // as Access-Control-Allow-Origin does
	varyAuthorization = []string{"Origin, Authorization"}
	noindex           = []string{"noindex"} // for search engines

	privateHeader        = []string{"private, no-store"}    // for answers to a token (RFC 9111, 5.2.2)
	noCache              = []string{"no-cache"}             // the default: caches revalidate (RFC 9111, 5.2.2.4)
	languageCacheControl = []string{"public, max-age=3600"} // the catalogue changes only with the program

	jsonContentType    = []string{mediaJSON}
	problemContentType = []string{mediaProblem}
	textContentType    = []string{mediaText + "; charset=utf-8"}

	// guarded is for browsers: no sniffing of types, no scripts, resources or frames, and no Referer, as the path of an
	// unlisted paste is its secret.
	guarded = http.Header{
		"X-Content-Type-Options":  {"nosniff"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
		"Referrer-Policy":         {"no-referrer"},
	}
	// Pages of any origin may call the interface: it ignores cookies, and a page has a token only if its user gave it one.
	shared = http.Header{
		"Access-Control-Allow-Origin": {"*"},
		"Access-Control-Expose-Headers": {"Retry-After, WWW-Authenticate, ETag, X-Request-Id, Location, " +
			"Gluepot-Delete-Key, RateLimit, RateLimit-Policy"},
	}
	preflighted = http.Header{
		"Access-Control-Allow-Headers": {"Authorization, Content-Type, If-None-Match, Gluepot-Delete-Key"},
		"Access-Control-Max-Age":       {"86400"}, // a day
		"Cache-Control":                noStore,
	}
)

// maxAccept bounds the header Accept. A longer one is ignored.
const maxAccept = 1 << 10

// prefers reports whether Accept names the wanted media type, and does not rank the other one above it. For the other,
// the most specific range counts (RFC 9110, 12.5.1).
func prefers(accept []string, wanted, otherwise string) bool {
	ranges := strings.Join(accept, ",")
	if len(ranges) > maxAccept {
		return false
	}
	weights := make(map[string]float64)
	for mediaRange := range strings.SplitSeq(ranges, ",") {
		name, parameters, err := mime.ParseMediaType(mediaRange)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, ok := parameters["q"]; ok {
			weight, _ = strconv.ParseFloat(q, 64) // 0 for what is no number
		}
		weights[name] = max(weights[name], weight)
	}
	family, _, _ := strings.Cut(otherwise, "/")
	for _, covering := range []string{otherwise, family + "/*", "*/*"} {
		if weight, ok := weights[covering]; ok {
			return weights[wanted] > 0 && weights[wanted] >= weight
		}
	}
	return weights[wanted] > 0
}

// allMethods are those that endpoints take.
const allMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// preflight answers OPTIONS for a path.
func preflight(allowed string) gin.HandlerFunc {
	return func(c *gin.Context) {
		maps.Copy(c.Writer.Header(), preflighted)
		c.Header("Access-Control-Allow-Methods", allowed)
		answerOptions(c, allowed)
	}
}

// answerOptions answers OPTIONS.
func answerOptions(c *gin.Context, allowed string) {
	c.Header("Allow", allowed)
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
}
