// Package server runs a handler on a socket of its own: net/http's server with limits on what a client may hold.
package server

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Config has the address and the limits of a Server.
type Config struct {
	// Addr is the host:port to listen on, or unix: and the path of a socket. Port 0 takes a free port. Peers on a socket
	// are trusted proxies: only the user and the group of the process may connect.
	Addr string
	// TLSCertFile and TLSKeyFile are the paths of PEM files with a certificate and its chain, and with its key. They are
	// read again when they change. Without both, the Server speaks plain HTTP.
	TLSCertFile, TLSKeyFile string

	// ReadTimeout bounds the time in which a request must arrive, and WriteTimeout the time in which a client must read
	// the answer. Both start again while data moves at MinRate or faster. The headers of a request must arrive within
	// maxHeaderTimeout.
	ReadTimeout, WriteTimeout time.Duration
	IdleTimeout               time.Duration // how long an unused connection stays open
	// MaxConnections is how many connections may be open. Further ones wait until one is closed. 0 means no limit.
	MaxConnections int
	// MaxClientConnections is how many connections one address, or IPv6 network of 64 bits, may have. Further ones are
	// closed. Trusted proxies are exempt. 0 means no limit.
	MaxClientConnections int
	// DrainDelay is how long the server goes on accepting connections after the readiness check fails, so that load
	// balancers notice before connections are refused.
	DrainDelay time.Duration
	// DrainTimeout bounds the wait for requests in flight when the server stops.
	DrainTimeout time.Duration
}

// maxHeaderTimeout bounds the time for a request's headers, which fit into a few packets.
const maxHeaderTimeout = 5 * time.Second

// maxHeaderBytes bounds the request line and headers. net/http adds 4 KiB, and answers 431 beyond that. Short headers
// take twenty times their length in memory.
const maxHeaderBytes = 16 << 10

// DefaultConfig returns the configuration of a server on 127.0.0.1:8080.
func DefaultConfig() Config {
	return Config{
		Addr:                 "127.0.0.1:8080",
		ReadTimeout:          10 * time.Second,
		WriteTimeout:         30 * time.Second,
		IdleTimeout:          2 * time.Minute,
		MaxConnections:       2048,
		MaxClientConnections: 256,
		DrainDelay:           time.Second,
		DrainTimeout:         15 * time.Second,
	}
}

// Secure reports whether a Server speaks TLS.
func (c Config) Secure() bool { return c.TLSCertFile != "" && c.TLSKeyFile != "" }

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	var wrong []error
	check := func(right bool, format string, args ...any) {
		if !right {
			wrong = append(wrong, fmt.Errorf("GLUEPOT_HTTP_"+format, args...))
		}
	}
	_, _, noAddress := net.SplitHostPort(c.Addr)
	if path, isSocket := c.Socket(); isSocket {
		noAddress = nil
		check(path != "", "ADDR is %q: give HOST:PORT or unix:PATH", c.Addr)
	}
	check(noAddress == nil, "ADDR is %q: give HOST:PORT or unix:PATH", c.Addr)
	check((c.TLSCertFile == "") == (c.TLSKeyFile == ""),
		"TLS_CERT_FILE is %q and GLUEPOT_HTTP_TLS_KEY_FILE %q: set both or neither", c.TLSCertFile, c.TLSKeyFile)
	const positive, zeroOrPositive = " is %v: choose a positive time", " is %v: choose zero or a positive time"
	check(c.ReadTimeout > 0, "READ_TIMEOUT"+positive, c.ReadTimeout)
	check(c.WriteTimeout > 0, "WRITE_TIMEOUT"+positive, c.WriteTimeout)
	check(c.IdleTimeout > 0, "IDLE_TIMEOUT"+positive, c.IdleTimeout)
	check(c.DrainTimeout > 0, "DRAIN_TIMEOUT"+positive, c.DrainTimeout)
	check(c.DrainDelay >= 0, "DRAIN_DELAY"+zeroOrPositive, c.DrainDelay)
	const number = " is %d: choose a positive number, or 0 for no limit"
	check(c.MaxConnections >= 0, "MAX_CONNECTIONS"+number, c.MaxConnections)
	check(c.MaxClientConnections >= 0, "MAX_CLIENT_CONNECTIONS"+number, c.MaxClientConnections)
	return errors.Join(wrong...)
}
