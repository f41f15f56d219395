package httpapi

import (
	"context"
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
	api    *API
	cfg    Config
	http   *http.Server
	addr   net.Addr
	failed chan error
}

// NewServer returns a server that does not listen yet.
func NewServer(cfg Config, api *API, logger *zap.Logger) *Server {
	return &Server{
		api:    api,
		cfg:    cfg,
		failed: make(chan error, 1),
		http: &http.Server{
			Handler:        api,
			ReadTimeout:    cfg.ReadTimeout, // of headers as well: requests have next to nothing else
			WriteTimeout:   cfg.WriteTimeout,
			IdleTimeout:    cfg.IdleTimeout,
			MaxHeaderBytes: maxHeaderBytes,
			ErrorLog:       serverLog(logger),
		},
	}
}

// Start listens and serves in the background. It fails with fault.Unavailable when
// the address cannot be listened on.
func (s *Server) Start(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.Addr)
	if err != nil {
		return fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot listen on %s. Choose another address with --http-addr or GLUEPOT_HTTP_ADDR.", s.cfg.Addr), err)
	}
	s.addr = listener.Addr()
	go func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- err
		}
	}()
	return nil
}

// Addr returns the address that Start listens on.
func (s *Server) Addr() net.Addr { return s.addr }

// Failed delivers the error that ended serving, if one does before Stop is called.
func (s *Server) Failed() <-chan error { return s.failed }

// Stop makes readiness fail, waits for load balancers to notice, refuses new connections and waits for
// the requests in flight. It fails when they take longer than the drain timeout or ctx; then they are cut off.
func (s *Server) Stop(ctx context.Context) error {
	s.api.StartDraining()
	select {
	case <-time.After(s.cfg.DrainDelay):
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.DrainTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
		return fmt.Errorf("requests were still in flight: %w", err)
	}
	return nil
}

// serverLog takes what net/http has to say, which clients can provoke at will, at debug level.
func serverLog(logger *zap.Logger) *log.Logger {
	std, err := zap.NewStdLogAt(logger, zap.DebugLevel)
	if err != nil {
		return zap.NewStdLog(logger)
	}
	return std
}
