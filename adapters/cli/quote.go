package cli

import (
	"strconv"
	"strings"
)

// Quote quotes what somebody typed, for a message, unless it may hold a password: a database URL is soon in the wrong place.
func Quote(typed string) string {
	if MayHoldPassword(typed) {
		return "something that may hold a password"
	}
	return strconv.Quote(typed)
}

// MayHoldPassword reports whether a text looks as if it had a URL or a connection string in it.
func MayHoldPassword(text string) bool {
	return strings.Contains(text, "://") || strings.Contains(strings.ToLower(text), "password=")
}
