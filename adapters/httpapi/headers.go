package httpapi

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/token"
)

// Header values that do not change are made once: a slice for each request would be an allocation.
var (
	nosniff         = []string{"nosniff"}
	nothingAllowed  = []string{"default-src 'none'; frame-ancestors 'none'"}
	sandboxed       = []string{"default-src 'none'; frame-ancestors 'none'; sandbox"}
	noReferrer      = []string{"no-referrer"}
	closeConnection = []string{"close"}
	jsonContentType = []string{mediaJSON}
	noindex         = []string{"noindex"} // for search engines
)

// guard is for the browser that shows an answer: its type is what the answer says, it may load and run nothing and stand in
// no frame, and tells no site where it came from, as the path of a paste may be all that keeps it from others.
func guard(answer http.Header) {
	answer["X-Content-Type-Options"] = nosniff
	answer["Content-Security-Policy"] = nothingAllowed
	answer["Referrer-Policy"] = noReferrer
}

// maxListHeader bounds headers that are lists. Programs send far less; longer ones are ignored.
const maxListHeader = 1 << 10

// short reports whether the lines of a header are at most maxListHeader together.
func short(lines []string) bool {
	length := 0
	for _, line := range lines {
		if length += len(line) + len(","); length > maxListHeader {
			return false
		}
	}
	return true
}

// prefers reports whether Accept names a media type and does not rank another one above it, for which the range counts
// that says most about it (RFC 9110, 12.5.1).
func prefers(accept []string, wanted, otherwise string) bool {
	if !short(accept) {
		return false
	}
	asked, plain := 0, [...]int{-1, -1, -1} // the weights of the three ranges below, -1 where there is none
	family, _, _ := strings.Cut(otherwise, "/")
	for _, line := range accept {
		for mediaRange := range strings.SplitSeq(line, ",") {
			mediaType, parameters, _ := strings.Cut(mediaRange, ";")
			mediaType = strings.Trim(mediaType, " \t")
			if strings.EqualFold(mediaType, wanted) {
				asked = max(asked, quality(parameters))
			}
			for i, covering := range [...]string{otherwise, family + "/*", "*/*"} {
				if strings.EqualFold(mediaType, covering) {
					plain[i] = max(plain[i], quality(parameters))
				}
			}
		}
	}
	for _, weight := range plain {
		if weight >= 0 {
			return asked > 0 && asked >= weight
		}
	}
	return asked > 0
}

// quality returns the weight among the parameters of a media range, in thousandths: 1000 when there is none, and 0,
// which means "not acceptable", when it is not one (RFC 9110, 12.4.2).
func quality(parameters string) int {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		whole, fraction, _ := strings.Cut(value, ".")
		if len(whole) != 1 || len(fraction) > 3 {
			return 0
		}
		weight, err := strconv.ParseUint(whole+(fraction + "000")[:3], 10, 16)
		if err != nil || weight > 1000 {
			return 0
		}
		return int(weight)
	}
	return 1000
}

// Pages of any origin may call: private answers need a token, which a page has only if its user gave it one. Credentials that a
// browser adds by itself are ignored.
var (
	anyOrigin        = []string{"*"}
	exposedHeaders   = []string{"Retry-After, WWW-Authenticate, ETag, X-Request-Id, Location, Gluepot-Delete-Key, RateLimit, RateLimit-Policy"}
	allowedHeaders   = []string{"Authorization, Content-Type, If-None-Match, Gluepot-Delete-Key"}
	preflightSeconds = []string{"86400"} // a day, for which browsers may remember the answer
	noStore          = []string{"no-store"}
	varyOrigin       = []string{"Origin"}
)

// share lets a page read the answer to its request, whatever that will be.
func share(request, answer http.Header) {
	if _, ok := request["Origin"]; ok {
		answer["Access-Control-Allow-Origin"] = anyOrigin
		answer["Access-Control-Expose-Headers"] = exposedHeaders
	}
}

// preflight answers OPTIONS for a path that takes these methods.
func preflight(allowed []string) gin.HandlerFunc {
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header["Allow"] = allowed
		header["Access-Control-Allow-Methods"] = allowed
		header["Access-Control-Allow-Headers"] = allowedHeaders
		header["Access-Control-Max-Age"] = preflightSeconds
		header["Cache-Control"] = noStore
		c.Status(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
	}
}

const requestIDHeader = "X-Request-Id"

func requestID(c *gin.Context) string {
	if id := c.Writer.Header()[requestIDHeader]; len(id) > 0 {
		return id[0]
	}
	return ""
}

func newRequestID() string {
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:8], rand.Uint64()) //nolint:gosec // tells requests apart, keeps no secret
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64()) //nolint:gosec // as above
	var text [2 * len(random)]byte
	hex.Encode(text[:], random[:])
	return string(text[:])
}

// validRequestID accepts an id that a proxy has sent if it is safe to repeat in a header and a log: a client that
// sends its token in the wrong header, through a proxy that hands it on, does not have it logged.
func validRequestID(id string) bool {
	if id == "" || len(id) > 64 || strings.Contains(id, token.Prefix) {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}
