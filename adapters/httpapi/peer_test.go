package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/server"
)

// patience bounds each wait of a test.
const patience = 2 * time.Minute

// serve serves an API on a free port.
func serve(t *testing.T, api *API, change func(*server.Config)) *server.Server {
	t.Helper()
	cfg := server.DefaultConfig()
	cfg.Addr, cfg.DrainDelay = "127.0.0.1:0", 0
	if change != nil {
		change(&cfg)
	}
	s := server.New(cfg, api, zap.NewNop())
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		canceled, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Stop(canceled)
	})
	return s
}

// peer is a client that controls what it sends and when it reads.
type peer struct {
	net.Conn

	t      *testing.T
	reader *bufio.Reader
}

func dial(t *testing.T, s *server.Server) *peer {
	t.Helper()
	c, err := net.DialTimeout("tcp", s.Addr().String(), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &peer{Conn: c, t: t, reader: bufio.NewReader(c)}
}

// receive reads an answer with its body.
func (p *peer) receive() (*http.Response, string) {
	p.t.Helper()
	response, err := http.ReadResponse(p.reader, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response, string(body)
}

// isClosed waits until the server has closed the connection.
func (p *peer) isClosed() {
	p.t.Helper()
	if n, err := p.reader.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Errorf("got %d bytes, error %v, want the connection to be closed", n, err)
	}
}
