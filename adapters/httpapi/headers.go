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

// guard sets headers for browsers: no sniffing of types, no scripts, resources or frames, and no Referer, as the path of an unlisted
// paste is its secret.
func guard(answer http.Header) {
	answer["X-Content-Type-Options"] = nosniff
	answer["Content-Security-Policy"] = nothingAllowed
	answer["Referrer-Policy"] = noReferrer
}

// maxListHeader bounds list headers. Longer ones are ignored.
const maxListHeader = 1 << 10

func short(lines []string) bool {
	length := 0
	for _, line := range lines {
		if length += len(line) + len(","); length > maxListHeader {
			return false
		}
	}
	return true
}

// prefers reports whether Accept names the wanted media type, and does not rank the other one above it. For the other, the most
// specific range counts (RFC 9110, 12.5.1).
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

// quality returns the weight among the parameters of a media range, in thousandths: 1000 without one, and 0 for an invalid one
// (RFC 9110, 12.4.2).
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

// Pages of any origin may call the interface: it ignores cookies, and a page has a token only if its user gave it one.
var (
	anyOrigin        = []string{"*"}
	exposedHeaders   = []string{"Retry-After, WWW-Authenticate, ETag, X-Request-Id, Location, Gluepot-Delete-Key, RateLimit, RateLimit-Policy"}
	allowedHeaders   = []string{"Authorization, Content-Type, If-None-Match, Gluepot-Delete-Key"}
	preflightSeconds = []string{"86400"} // a day
	noStore          = []string{"no-store"}
	varyOrigin       = []string{"Origin"}
)

// share lets pages of other origins read the answer.
func share(request, answer http.Header) {
	if _, ok := request["Origin"]; ok {
		answer["Access-Control-Allow-Origin"] = anyOrigin
		answer["Access-Control-Expose-Headers"] = exposedHeaders
	}
}

// preflight answers OPTIONS for a path.
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

// validRequestID accepts an id from a proxy if it is safe in a header and in the log. It must not be a token that a client has put into
// the wrong header.
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
