package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"
)

// privateHeader is for answers to a token (RFC 9111, 5.2.2).
var privateHeader = []string{"private, no-store"}

// noCache, the default, makes caches revalidate (RFC 9111, 5.2.2.4).
var noCache = []string{"no-cache"}

// The catalogue changes only with the program.
var languageCacheControl = []string{"public, max-age=3600"}

// etagOf returns the ETag of an answer: a hash, the same on every node.
func etagOf(answer []byte) string { return etagOfSum(xxhash.Sum64(answer)) }

func etagOfSum(sum uint64) string {
	return `"` + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, sum)) + `"`
}

// matchesETag uses the weak comparison of If-None-Match (RFC 9110, 13.1.2).
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

// knows sets the ETag, and answers 304 if the client has an answer with that ETag.
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

// writeUnlessKnown answers 200 with a body, or 304 if the client has one with that ETag.
func writeUnlessKnown(c *gin.Context, contentType, etag []string, body []byte) {
	if !knows(c, etag...) {
		write(c, contentType, body)
	}
}
