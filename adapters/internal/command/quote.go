package command

import (
	"strconv"
	"strings"
)

// Quote quotes what was typed, for a message, unless it may hold a password: a database URL is soon in the wrong place.
func Quote(typed string) string {
	if MayHoldPassword(typed) {
		return "something that may hold a password"
	}
	return strconv.Quote(typed)
}

// MayHoldPassword reports whether a text looks as if it had a URL or a connection string in it. The address of a site is none, unless
// there is an @ in it.
func MayHoldPassword(text string) bool {
	if _, site, web := strings.Cut(text, "://"); web && strings.HasPrefix(text, "http") && !strings.ContainsAny(site, "@= ") {
		return false
	}
	return strings.Contains(text, "://") || strings.Contains(strings.ToLower(text), "password=")
}
