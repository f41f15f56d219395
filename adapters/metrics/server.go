package metrics

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// Handler serves the figures at /metrics and Go's profiles at /debug/pprof/. It needs no token, because its listener is
// for operators only.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound) // arguments may hold the database's password
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// notForPages refuses requests from pages in a browser: pages of other sites and, on a loopback listener, pages whose
// own name points at this machine (DNS rebinding). Such a page asks for its own name.
func notForPages(loopback bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
		switch {
		case site == "cross-site" || site == "same-site" || origin != "" && !strings.HasSuffix(origin, "://"+r.Host):
			http.Error(w, "Pages of other sites may not read this.", http.StatusForbidden)
		case loopback && !localHost(r.Host):
			http.Error(w, "Use localhost or an IP address as the host.", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func localHost(host string) bool {
	host = strings.ToLower((&url.URL{Host: host}).Hostname())
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host) != nil
}

// Listen serves a handler on an address in the background, until the server is closed. It fails with fault.Unavailable
// when the address cannot be listened on.
func Listen(ctx context.Context, address string, handler http.Handler, log *zap.Logger) (*http.Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable,
			fmt.Sprintf("Cannot listen on %s. Choose another address with --admin-addr or GLUEPOT_ADMIN_ADDR.", address), err)
	}
	bound, isTCP := listener.Addr().(*net.TCPAddr)
	server := &http.Server{
		Addr: listener.Addr().String(), Handler: notForPages(isTCP && bound.IP.IsLoopback(), handler),
		ErrorLog:     zap.NewStdLog(zap.NewNop()),
		ReadTimeout:  5 * time.Second,
		WriteTimeout: 2 * time.Minute, // net/http/pprof refuses longer profiles
		IdleTimeout:  5 * time.Minute, // only a few scrapers and people connect
	}
	log.Info("serving metrics", zap.String("address", server.Addr))
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are no longer served", zap.Error(err))
		}
	}()
	return server, nil
}
