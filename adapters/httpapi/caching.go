package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"
)

// privateHeader keeps caches away from the answers of endpoints that take a token (RFC 9111, 5.2.2).
var privateHeader = []string{"private, no-store"}

// noCache makes caches revalidate (RFC 9111, 5.2.2.4). It is the default for answers that may change.
var noCache = []string{"no-cache"}

// The catalogue changes with the program only; an hour keeps clients from asking again all the time.
var languageCacheControl = []string{"public, max-age=3600"}

// etagOf returns the ETag of an answer: its hash, the same on every node.
func etagOf(answer []byte) string { return etagOfSum(xxhash.Sum64(answer)) }

// etagOfSum returns the ETag of an answer with that hash.
func etagOfSum(sum uint64) string {
	return `"` + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, sum)) + `"`
}

// matchesETag compares weakly, as If-None-Match asks for (RFC 9110, 13.1.2).
func matchesETag(ifNoneMatch []string, etag string) bool {
	if !short(ifNoneMatch) {
		return false
	}
	for _, line := range ifNoneMatch {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.Trim(candidate, " \t")
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// knows tells the client the ETag of its answer, and answers 304 when it has the one with that already.
func knows(c *gin.Context, etag ...string) bool {
	header := c.Writer.Header()
	header["Etag"] = etag
	if !matchesETag(c.Request.Header["If-None-Match"], etag[0]) {
		return false
	}
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = noCache
	}
	delete(header, "Content-Encoding")
	c.Status(http.StatusNotModified) // whose headers are set (RFC 9110, 15.4.5)
	c.Writer.WriteHeaderNow()
	return true
}

// writeUnlessKnown answers 200 with a body, or 304 when the client has the one with that ETag already.
func writeUnlessKnown(c *gin.Context, contentType, etag []string, body []byte) {
	if !knows(c, etag...) {
		write(c, contentType, body)
	}
}
