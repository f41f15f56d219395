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

func (a *API) private(next gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Writer.Header()["Cache-Control"] = privateHeader
		if a.limits != nil {
			c.Set(provesTokenKey, true)
		}
		next(c)
	}
}

// noCache makes caches ask again (RFC 9111, 5.2.2.4). It is for whatever may change and has no rule of its own.
var noCache = []string{"no-cache"}

// The catalogue changes with the program only; an hour keeps clients from asking again all the time.
var languageCacheControl = []string{"public, max-age=3600"}

// etagOf returns the ETag of an answer: its hash, the same on every node.
func etagOf(answer []byte) string { return etagOfSum(xxhash.Sum64(answer)) }

// etagOfSum returns the ETag of an answer with that hash (decision 0041), with one allocation instead of three.
func etagOfSum(sum uint64) string {
	var bytes [8]byte
	binary.BigEndian.PutUint64(bytes[:], sum)
	var text [len(`""`) + 11]byte // 11 digits of six bits hold 64
	text[0], text[len(text)-1] = '"', '"'
	base64.RawURLEncoding.Encode(text[1:], bytes[:])
	return string(text[:])
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

// writeUnlessKnown answers 200 with a body, or 304 when the client has the one with that ETag already.
func writeUnlessKnown(c *gin.Context, contentType, etag []string, body []byte) {
	c.Writer.Header()["Etag"] = etag
	if matchesETag(c.Request.Header["If-None-Match"], etag[0]) {
		notModified(c)
		return
	}
	write(c, contentType, body)
}

// notModified answers that the client has the answer already (RFC 9110, 15.4.5), whose headers are set.
func notModified(c *gin.Context) {
	c.Status(http.StatusNotModified)
	c.Writer.WriteHeaderNow()
}
