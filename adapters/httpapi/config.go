package httpapi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"time"
)

// Config says where the interface listens and how patient it is.
type Config struct {
	Addr     string // host:port to listen on; port 0 takes a free one
	BasePath string // what stands before every endpoint: empty, or a path such as /api/v2
	// TLSCertFile and TLSKeyFile are the paths of PEM files with a certificate, followed by those that sign it, and its key. They are
	// read again when they have changed. Without both a Server speaks plain HTTP.
	TLSCertFile, TLSKeyFile string
	// RequestTimeout bounds the time a request may wait for the database; then it is answered with 503.
	RequestTimeout time.Duration
	ReadTimeout    time.Duration // for the whole request to arrive
	WriteTimeout   time.Duration // for the answer to leave; longer than RequestTimeout
	IdleTimeout    time.Duration // how long an unused connection stays open
	// PasteMaxBody is how long the body of a request may be, in bytes.
	PasteMaxBody int
	// MaxConnections is how many may be open. Beyond it one is closed for each new one: one whose client has hung up,
	// or else the one that has been idle longest. 0 means no limit.
	MaxConnections int
	// DrainDelay is how long the server goes on accepting after readiness went false, so that load
	// balancers notice before connections are refused.
	DrainDelay time.Duration
	// DrainTimeout bounds the wait for requests in flight when the server stops.
	DrainTimeout time.Duration
	// TrustedProxies are the addresses and networks whose X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, X-Request-Id and
	// traceparent are believed. Default: none.
	TrustedProxies []string
	// Limits are for each client. Default: none, because behind a proxy that is not trusted all clients have one address.
	Limits Limits
	// Pages answers what is no path of the interface. Default: nil, there is nothing.
	Pages Pages `json:"-"`
	// Observe returns who is told of the requests with a method, or "other", and a route such as /paste/:id, or "" for those
	// that no route takes. Default: nil, nobody is told.
	Observe func(method, route string) RouteObserver `json:"-"`
	// OnLimited is told which limit a request was refused by, one of LimitNames, by several at once. Default: nil, nobody is told.
	OnLimited func(limit string) `json:"-"`
	// Tracer follows requests, less those of the health checks. Default: nil, nobody does.
	Tracer RequestTracer `json:"-"`
}

// maxHeaderBytes is for the request line and all headers; net/http adds 4 KiB of its own. Beyond it net/http
// answers 431.
const maxHeaderBytes = 64 << 10

// DefaultConfig returns a server on 127.0.0.1:8080 without a base path.
func DefaultConfig() Config {
	return Config{
		Addr:           "127.0.0.1:8080",
		RequestTimeout: 5 * time.Second,
		ReadTimeout:    10 * time.Second,
		WriteTimeout:   30 * time.Second,
		IdleTimeout:    2 * time.Minute,
		PasteMaxBody:   2 << 20,
		MaxConnections: 2048,
		DrainDelay:     time.Second,
		DrainTimeout:   15 * time.Second,
	}
}

// Secure reports whether a Server speaks TLS.
func (c Config) Secure() bool { return c.TLSCertFile != "" && c.TLSKeyFile != "" }

// Slashes separate segments of unreserved characters (RFC 3986): nothing that the router takes for a wildcard.
var basePathPattern = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	var wrong []error
	if _, _, err := net.SplitHostPort(c.Addr); err != nil {
		wrong = append(wrong, fmt.Errorf("the HTTP address %q is not HOST:PORT", c.Addr))
	}
	if !basePathPattern.MatchString(c.BasePath) {
		wrong = append(wrong,
			fmt.Errorf("the HTTP base path %q is neither empty nor a path such as /api/v2, without a slash at its end", c.BasePath))
	}
	if (c.TLSCertFile == "") != (c.TLSKeyFile == "") {
		wrong = append(wrong, errors.New("of the HTTP TLS certificate file and key file one is set: set both or neither"))
	}
	for _, timeout := range []struct {
		name  string
		value time.Duration
	}{
		{"request timeout", c.RequestTimeout}, {"read timeout", c.ReadTimeout},
		{"write timeout", c.WriteTimeout}, {"idle timeout", c.IdleTimeout}, {"drain timeout", c.DrainTimeout},
	} {
		if timeout.value <= 0 {
			wrong = append(wrong, fmt.Errorf("the HTTP %s is %v: choose a positive time", timeout.name, timeout.value))
		}
	}
	if c.PasteMaxBody <= 0 {
		wrong = append(wrong, fmt.Errorf("the limit of bodies is %d bytes: choose a positive number", c.PasteMaxBody))
	}
	if c.MaxConnections < 0 {
		wrong = append(wrong, fmt.Errorf("the limit of HTTP connections is %d: choose zero or a positive number", c.MaxConnections))
	}
	if c.Limits.Rate < 0 || c.Limits.Burst < 0 || c.Limits.FailedSignIns < 0 {
		wrong = append(wrong, fmt.Errorf("the limits of a client are %d requests a second, %d at once and %d failed sign-ins a minute: "+
			"choose zero or positive numbers", c.Limits.Rate, c.Limits.Burst, c.Limits.FailedSignIns))
	}
	if c.Limits.Rate > 1_000_000 || c.Limits.Burst > 1_000_000 || c.Limits.FailedSignIns > 1_000_000 {
		wrong = append(wrong, errors.New("a limit of a client is over a million: choose less, or 0 for none"))
	}
	if c.Limits.Burst > 0 && c.Limits.Rate == 0 {
		wrong = append(wrong, errors.New("there is a limit of requests at once, but none of requests a second: choose both"))
	}
	if c.DrainDelay < 0 {
		wrong = append(wrong, fmt.Errorf("the HTTP drain delay is %v: choose zero or a positive time", c.DrainDelay))
	}
	if c.WriteTimeout > 0 && c.WriteTimeout <= c.RequestTimeout {
		wrong = append(wrong, fmt.Errorf("the HTTP write timeout %v is not longer than the request timeout %v",
			c.WriteTimeout, c.RequestTimeout))
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
