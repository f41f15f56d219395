package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// Handler is what a Server runs.
type Handler interface {
	http.Handler
	// StartDraining makes the readiness check fail, and every answer close its connection.
	StartDraining()
	// TrustsProxy reports whether an address is a trusted proxy's. Those may have any number of connections.
	TrustsProxy(address netip.Addr) bool
}

// Server runs a handler on a socket.
type Server struct {
	cfg      Config
	handler  Handler
	http     *http.Server
	listener *listener
	failed   chan error
	log      *zap.Logger
}

// New returns a server that does not listen yet.
func New(cfg Config, handler Handler, log *zap.Logger) *Server {
	// Clients can cause net/http's messages, so the level is debug. NewStdLogAt fails only for unknown levels.
	errorLog, _ := zap.NewStdLogAt(log, zap.DebugLevel)
	return &Server{
		cfg: cfg, handler: handler, failed: make(chan error, 1), log: log,
		http: &http.Server{
			Handler:                      handler,
			ReadHeaderTimeout:            min(cfg.ReadTimeout, maxHeaderTimeout),
			ReadTimeout:                  cfg.ReadTimeout,
			WriteTimeout:                 cfg.WriteTimeout,
			IdleTimeout:                  cfg.IdleTimeout,
			MaxHeaderBytes:               maxHeaderBytes,
			ErrorLog:                     errorLog,
			DisableGeneralOptionsHandler: true, // the handler answers and logs "OPTIONS *"
		},
	}
}

// Start listens and serves in the background. It fails with fault.Unavailable if it cannot listen on the address, and
// with fault.Invalid if it cannot use the certificate.
func (s *Server) Start(ctx context.Context) error {
	var secure *tls.Config
	var err error
	if s.cfg.Secure() {
		if secure, err = newTLS(s.cfg.TLSCertFile, s.cfg.TLSKeyFile, s.log); err != nil {
			return err
		}
	}
	socket, err := s.cfg.listen(ctx)
	if err != nil {
		return fault.Wrap(fault.Unavailable,
			fmt.Sprintf("Cannot listen on %s. Choose another address with --http-addr or GLUEPOT_HTTP_ADDR.", s.cfg.Addr), err)
	}
	s.listener = &listener{
		Listener: socket, server: s, slots: make(chan struct{}, cmp.Or(s.cfg.MaxConnections, math.MaxInt)),
		closed: make(chan struct{}), open: make(map[netip.Addr]int),
	}
	var accepting net.Listener = s.listener
	if secure != nil {
		accepting = tls.NewListener(s.listener, secure)
	}
	go func() {
		if err := s.http.Serve(accepting); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return nil
}

// Addr returns the address that Start listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Failed receives the error that ended serving before Stop was called.
func (s *Server) Failed() <-chan error { return s.failed }

// Stop makes the readiness check fail and connections close after their next answer. It waits for load balancers to
// notice, refuses new connections, and waits for requests in flight. It cuts off and logs those that remain at the end
// of the drain timeout or of ctx.
func (s *Server) Stop(ctx context.Context) error {
	s.handler.StartDraining()
	if s.listener == nil {
		return nil
	}
	select {
	case <-time.After(s.cfg.DrainDelay):
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) == nil {
		return nil
	}
	if n := len(s.listener.slots); n > 0 { // nothing is accepted any more
		s.log.Warn("requests were still in flight at the end of the drain timeout and were cut off",
			zap.Int("connections", n))
	}
	return s.http.Close()
}
