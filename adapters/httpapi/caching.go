package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/gin-gonic/gin"
)

// privateHeader keeps caches away from the answers of endpoints that take a token (RFC 9111, 5.2.2).
var privateHeader = []string{"private, no-store"}

func private(next gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Writer.Header()["Cache-Control"] = privateHeader
		next(c)
	}
}

// noCache makes caches ask again (RFC 9111, 5.2.2.4). It is for whatever may change and has no rule of its own.
var noCache = []string{"no-cache"}

// The catalogue changes with the program only; an hour keeps clients from asking again all the time.
var languageCacheControl = []string{"public, max-age=3600"}

// etagOf returns the ETag of an answer with that hash.
func etagOf(hash [sha256.Size]byte) string {
	return `"` + base64.RawURLEncoding.EncodeToString(hash[:12]) + `"`
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
