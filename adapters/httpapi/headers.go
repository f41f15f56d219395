package httpapi

import (
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

// Constant headers are made once, to save an allocation in each request.
var (
	closeConnection   = []string{"close"}
	noStore           = []string{"no-store"}
	varyOrigin        = []string{"Origin"} // as Access-Control-Allow-Origin does
	varyAuthorization = []string{"Origin, Authorization"}
	noindex           = []string{"noindex"} // for search engines

	privateNoStore       = []string{"private, no-store"}    // for answers to a token (RFC 9111, 5.2.2)
	noCache              = []string{"no-cache"}             // the default: caches revalidate (RFC 9111, 5.2.2.4)
	languageCacheControl = []string{"public, max-age=3600"} // the catalogue changes only with the program

	jsonContentType    = []string{mediaJSON}
	problemContentType = []string{mediaProblem}
	textContentType    = []string{mediaText + "; charset=utf-8"}

	// securityHeaders keep browsers from sniffing types, loading anything, framing an answer, and sending a Referer: the
	// path of an unlisted paste is its secret.
	securityHeaders = http.Header{
		"X-Content-Type-Options":  {"nosniff"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
		"Referrer-Policy":         {"no-referrer"},
	}
	// corsHeaders let pages of any origin call the API: it ignores cookies, and a page has a token only if its user gave
	// it one.
	corsHeaders = http.Header{
		"Access-Control-Allow-Origin": {"*"},
		"Access-Control-Expose-Headers": {"Retry-After, WWW-Authenticate, ETag, X-Request-Id, Location, " +
			"Gluepot-Delete-Key, RateLimit, RateLimit-Policy"},
	}
	preflightHeaders = http.Header{
		"Access-Control-Allow-Headers": {"Authorization, Content-Type, If-None-Match, Gluepot-Delete-Key"},
		"Access-Control-Max-Age":       {"86400"}, // a day
		"Cache-Control":                noStore,
	}
)

// maxAccept bounds the Accept header. A longer one is ignored.
const maxAccept = 1 << 10

// prefers reports whether Accept names the preferred media type, and does not rank the other one above it. The weight
// of the other is that of the most specific range that covers it (RFC 9110, 12.5.1).
func prefers(accept []string, preferred, other string) bool {
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
			weight, _ = strconv.ParseFloat(q, 64) // 0 if it is not a number
		}
		weights[name] = max(weights[name], weight)
	}
	family, _, _ := strings.Cut(other, "/")
	for _, coveringRange := range []string{other, family + "/*", "*/*"} {
		if weight, ok := weights[coveringRange]; ok {
			return weights[preferred] > 0 && weights[preferred] >= weight
		}
	}
	return weights[preferred] > 0
}

// allMethods are the methods that endpoints take.
const allMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// preflight answers OPTIONS for a path, with the CORS headers of a preflight. Browsers may send extra headers, besides
// those of all paths.
func preflight(allowed string, extra ...string) gin.HandlerFunc {
	const name = "Access-Control-Allow-Headers"
	header := maps.Clone(preflightHeaders)
	header.Set(name, strings.Join(append([]string{header.Get(name)}, extra...), ", "))
	return func(c *gin.Context) {
		maps.Copy(c.Writer.Header(), header)
		c.Header("Access-Control-Allow-Methods", allowed)
		answerOptions(c, allowed)
	}
}

// answerOptions answers OPTIONS without a body.
func answerOptions(c *gin.Context, allowed string) {
	c.Header("Allow", allowed)
	c.Status(http.StatusNoContent)
	c.Writer.WriteHeaderNow()
}
