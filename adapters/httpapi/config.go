package httpapi

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// Config says how the interface is served.
type Config struct {
	BasePath string // prefix of every endpoint: empty, or a path such as /api/v2
	// PublicURL is the address that people use, such as https://paste.example, without a slash at its end. Empty: it is not known.
	PublicURL string
	// RequestTimeout bounds the time a request may wait for the database; then it is answered with 503.
	RequestTimeout time.Duration
	// PasteMaxBody is how long the body of a request may be, in bytes.
	PasteMaxBody int
	// MaxMemory is what bodies on their way and answers that wait for their clients may hold together, in bytes. Beyond it they
	// are answered with 503.
	MaxMemory int
	// TrustedProxies are the addresses and networks whose X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, X-Request-Id and
	// traceparent are believed. Default: none.
	TrustedProxies []string
	// Limits are for each client. Default: none, because behind a proxy that is not trusted all clients have one address.
	Limits limit.Config
	// Pages answers paths that the interface does not have. Default: nil, none.
	Pages Pages `json:"-"`
	// Observe is told of a request that begins, by several at once: its method, or "other", and its route, such as /paste/:id, or "" for
	// one that no route takes. What it returns is told of the answer. Default: nil.
	Observe func(method, route string) (ended func(status int)) `json:"-"`
	// OnLimited is called with the limit that refused a request, one of limit.Names, concurrently. Default: nil.
	OnLimited func(limit string) `json:"-"`
	// Tracing is gin's middleware that traces requests, less those of the health checks. See Route and TraceKey. Default: nil, there is
	// no tracing.
	Tracing []gin.HandlerFunc `json:"-"`
}

// memoryFactor is how many of the longest bodies MaxMemory has to have room for: half of it is one client's, and JSON makes six
// bytes of one.
const memoryFactor = 16

// DefaultConfig returns an interface without a base path.
func DefaultConfig() Config {
	return Config{RequestTimeout: 5 * time.Second, PasteMaxBody: 2 << 20, MaxMemory: 48 << 20}
}

// Slashes separate segments of unreserved characters (RFC 3986): nothing that the router takes for a wildcard.
var basePathPattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// isOrigin reports whether a URL is empty, or has a scheme, a host and nothing else.
func isOrigin(address string) bool {
	parsed, err := url.Parse(address)
	return address == "" || err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Hostname() != "" &&
		address == parsed.Scheme+"://"+parsed.Host
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	wrong := []error{c.Limits.Validate()}
	if !basePathPattern.MatchString(c.BasePath) {
		wrong = append(wrong,
			fmt.Errorf("the HTTP base path %q is neither empty nor a path such as /api/v2, without a slash at its end", c.BasePath))
	}
	if !isOrigin(c.PublicURL) {
		wrong = append(wrong, fmt.Errorf("the public URL %q is not an address such as https://paste.example, without a path", c.PublicURL))
	}
	if c.RequestTimeout <= 0 {
		wrong = append(wrong, fmt.Errorf("the HTTP request timeout is %v: choose a positive time", c.RequestTimeout))
	}
	if c.PasteMaxBody <= 0 {
		wrong = append(wrong, fmt.Errorf("the limit of bodies is %d bytes: choose a positive number", c.PasteMaxBody))
	}
	if least := memoryFactor * c.PasteMaxBody; c.PasteMaxBody > 0 && c.MaxMemory < least {
		wrong = append(wrong, fmt.Errorf("the memory of bodies and answers is %d bytes: choose at least %d, %d times the limit of bodies",
			c.MaxMemory, least, memoryFactor))
	}
	for _, proxy := range c.TrustedProxies {
		address, addrErr := netip.ParseAddr(proxy)
		_, prefixErr := netip.ParsePrefix(proxy)
		if addrErr != nil && prefixErr != nil || address.Zone() != "" {
			wrong = append(wrong, fmt.Errorf("the trusted proxy %q is neither an IP address nor a network such as 10.0.0.0/8", proxy))
		}
	}
	return errors.Join(wrong...)
}
