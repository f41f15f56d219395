package httpapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// Server runs an API on a socket.
type Server struct {
	api         *API
	cfg         Config
	http        *http.Server
	listener    *listener
	connections *connections
	served      chan struct{} // closed when nothing is accepted any more
	silence     time.Duration // how long a connection has to have brought nothing to be closed at the end of draining
	failed      chan error
	log         *zap.Logger
}

// connectionKey is that of a request's connection among its context's values.
type connectionKey struct{}

// NewServer returns a server that does not listen yet.
func NewServer(cfg Config, api *API, logger *zap.Logger) *Server {
	s := &Server{
		api:         api,
		cfg:         cfg,
		connections: &connections{limit: cfg.MaxConnections, log: logger, lingering: 250 * time.Millisecond},
		served:      make(chan struct{}),
		silence:     500 * time.Millisecond,
		failed:      make(chan error, 1),
		log:         logger,
	}
	s.http = &http.Server{
		Handler:        http.HandlerFunc(s.serve),
		ReadTimeout:    cfg.ReadTimeout, // of headers as well: bodies are short
		WriteTimeout:   cfg.WriteTimeout,
		IdleTimeout:    cfg.IdleTimeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       serverLog(logger),
		ConnState:      stateChanged,
		ConnContext: func(ctx context.Context, accepted net.Conn) context.Context {
			if c := carrierOf(accepted); c != nil {
				ctx = context.WithValue(ctx, connectionKey{}, c)
			}
			return ctx
		},
		DisableGeneralOptionsHandler: true, // the interface answers "OPTIONS *" too, and logs it
	}
	return s
}

// Start listens and serves in the background. It fails with fault.Unavailable when
// the address cannot be listened on, and with fault.Invalid when the certificate cannot be used.
func (s *Server) Start(ctx context.Context) error {
	var secured *tls.Config
	if s.cfg.Secure() {
		certificate, err := loadCertificate(s.cfg.TLSCertFile, s.cfg.TLSKeyFile, s.log)
		if err != nil {
			return err
		}
		secured = certificate.secured()
	}
	var config net.ListenConfig
	config.SetMultipathTCP(false) // refuseNew knows plain TCP only
	opened, err := config.Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fault.Wrap(fault.Unavailable,
			fmt.Sprintf("Cannot listen on %s. Choose another address with --http-addr or GLUEPOT_HTTP_ADDR.", s.cfg.Addr), err)
	}
	s.listener = &listener{TCPListener: opened.(*net.TCPListener), connections: s.connections} //nolint:forcetypeassert // what "tcp" means
	s.listener.tls = secured
	go func() {
		err := s.http.Serve(s.listener)
		close(s.served)
		if !errors.Is(err, errFinished) && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) { // by Stop
			s.failed <- err
		}
	}()
	return nil
}

// Addr returns the address that Start listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Failed delivers the error that ended serving, if one does before Stop is called.
func (s *Server) Failed() <-chan error { return s.failed }

// serve is the interface, in front of which the connection learns what it has to know of a request. While many
// connections are open, a request ends with its client's connection (decision 0030).
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, draining, crowded := r.ContentLength != 0, s.api.draining.Load(), s.connections.crowded()
	if !body && !draining && !crowded {
		s.api.ServeHTTP(w, r)
		return
	}
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok { // another listener's
		s.api.ServeHTTP(w, r)
		return
	}
	c.last.Store(draining)
	timeout := s.cfg.RequestTimeout
	if body { // an endpoint reads it, or net/http, which waits for it to be over
		c.waitMidway()
		timeout += s.cfg.ReadTimeout
	}
	if body && draining { // receive allows more
		_ = c.SetReadDeadline(time.Now().Add(s.connections.lingering))
	}
	if crowded {
		ctx, done := s.connections.forRequest(r.Context(), c, timeout)
		defer done()
		r = r.WithContext(ctx)
	}
	s.api.ServeHTTP(w, r)
}

// Stop makes readiness fail and every answer the last one of its connection, waits for load balancers to notice,
// refuses new connections, and answers every request on those that were established, if it arrives without
// delay. Those that take longer than the drain timeout or ctx are cut off, which the log says.
func (s *Server) Stop(ctx context.Context) error {
	s.api.StartDraining()
	if s.listener == nil {
		return nil
	}
	select {
	case <-time.After(s.cfg.DrainDelay):
	case <-s.served: // it has failed: nobody can come any more
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	s.listener.finish()
	select {
	case <-s.served:
	case <-ctx.Done():
		_ = s.listener.Close()
		<-s.served
	}
	empty := s.connections.whenEmpty()
	again := time.NewTicker(s.silence / 10)
	defer again.Stop()
	for done := false; !done; {
		s.connections.dismiss(s.silence)
		select {
		case <-empty:
			done = true
		case <-ctx.Done():
			done = true
		case <-again.C:
		}
	}
	if left := s.connections.cutOff(); left > 0 {
		s.log.Warn("requests were still in flight at the end of the drain timeout and were cut off", zap.Int("connections", left))
	}
	return s.http.Close()
}

// serverLog takes what net/http has to say, which clients can provoke at will, at debug level.
func serverLog(logger *zap.Logger) *log.Logger {
	std, err := zap.NewStdLogAt(logger, zap.DebugLevel)
	if err != nil {
		return zap.NewStdLog(logger)
	}
	return std
}
