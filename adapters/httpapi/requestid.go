package httpapi

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/token"
)

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
