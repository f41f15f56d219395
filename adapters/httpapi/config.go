package httpapi

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// Config says how the API is served.
type Config struct {
	BasePath string // prefix of every endpoint: empty, or a path such as /api/v2
	// PublicURL is the address that people use, such as https://paste.example or https://example.org/paste, without a
	// trailing slash. Everything is below it, including the base path. Empty: unknown.
	PublicURL string
	// RequestTimeout is how long a request may wait for the database before it is answered with 503.
	RequestTimeout time.Duration
	// PasteMaxBody is the longest body of a request, in bytes.
	PasteMaxBody int
	// MaxMemory is how many bytes all bodies and answers in flight may take together. Beyond that, requests wait for up to
	// two seconds, and are then answered with 503.
	MaxMemory int
	// TrustedProxies are the addresses and networks whose X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host,
	// X-Forwarded-Prefix, X-Request-Id and traceparent are believed. Default: none.
	TrustedProxies []string
	// Limits are for each client. Default: none, because behind an untrusted proxy all clients share one address.
	Limits limit.Config
	// Recent lists the newest public pastes of all users. Default: false.
	Recent bool `json:"-"`
	// Pages answers the paths outside the API. Default: nil, no pages.
	Pages Pages `json:"-"`
	// Beside has what other adapters serve beside the pages, if there are any. Default: none.
	Beside []Routes `json:"-"`
	// Endpoints are those of other adapters, such as package mcp. Default: none.
	Endpoints []Endpoint `json:"-"`
	// Observe is called, concurrently, with the method (or "other") and the route, such as /paste/:id or "", of each
	// request that begins. It returns a function that is called with the status of the answer. Default: nil.
	Observe func(method, route string) (finish func(status int)) `json:"-"`
	// OnLimited is called, concurrently, with the limit that refused a request, one of limit.Names. Default: nil.
	OnLimited func(limit string) `json:"-"`
	// Tracing is middleware that traces requests. See Route and TraceKey. Default: nil, no tracing.
	Tracing []gin.HandlerFunc `json:"-"`
}

// memoryFactor is how many of the longest bodies MaxMemory must hold: one client may use half of it, and a byte may
// become six in JSON.
const memoryFactor = 16

// DefaultConfig returns the configuration of an API without a base path.
func DefaultConfig() Config {
	return Config{RequestTimeout: 5 * time.Second, PasteMaxBody: 2 << 20, MaxMemory: 48 << 20}
}

// Only unreserved characters (RFC 3986): none is a wildcard of the router.
var basePathPattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// isAddress reports whether a URL is empty, or consists of a scheme, a host, and a path as BasePath may have it.
func isAddress(address string) bool {
	u, err := url.Parse(address)
	return address == "" || err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" &&
		address == u.Scheme+"://"+u.Host+u.Path && basePathPattern.MatchString(u.Path)
}

// split returns the scheme and host of the public URL, and its path.
func (c Config) split() (origin, mount string) {
	u, err := url.Parse(c.PublicURL)
	if err != nil || c.PublicURL == "" {
		return "", ""
	}
	return u.Scheme + "://" + u.Host, u.Path
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	wrong := []error{c.Limits.Validate()}
	if !basePathPattern.MatchString(c.BasePath) {
		wrong = append(wrong, fmt.Errorf("GLUEPOT_HTTP_BASE_PATH is %q: "+
			"give a path such as /api/v2, without a slash at its end, or nothing", c.BasePath))
	}
	if !isAddress(c.PublicURL) {
		wrong = append(wrong, fmt.Errorf("GLUEPOT_PUBLIC_URL is %q: give an address such as https://paste.example "+
			"or https://example.org/paste, without a slash at its end", c.PublicURL))
	}
	if c.RequestTimeout <= 0 {
		wrong = append(wrong, fmt.Errorf("GLUEPOT_HTTP_REQUEST_TIMEOUT is %v: choose a positive time", c.RequestTimeout))
	}
	if c.PasteMaxBody <= 0 {
		wrong = append(wrong, fmt.Errorf("GLUEPOT_PASTE_MAX_BODY is %d bytes: choose a positive number", c.PasteMaxBody))
	}
	if least := memoryFactor * c.PasteMaxBody; c.PasteMaxBody > 0 && c.MaxMemory < least {
		wrong = append(wrong, fmt.Errorf("GLUEPOT_HTTP_MAX_MEMORY is %d bytes: "+
			"choose at least %d, %d times GLUEPOT_PASTE_MAX_BODY", c.MaxMemory, least, memoryFactor))
	}
	_, err := parseProxies(c.TrustedProxies)
	return errors.Join(append(wrong, err)...)
}
