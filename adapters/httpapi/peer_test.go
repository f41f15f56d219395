package httpapi

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest/observer"
)

// patience is how long anything may take that a test waits for.
const patience = 2 * time.Minute

// serveStore serves the store on a free port.
func serveStore(t *testing.T, s *store, change func(*Config)) (*Server, *observer.ObservedLogs) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Addr, cfg.DrainDelay = "127.0.0.1:0", 0
	cfg.RequestTimeout, cfg.WriteTimeout = patience, 2*patience
	if change != nil {
		change(&cfg)
	}
	api, lines := newTestAPI(t, s, cfg)
	server := NewServer(cfg, api, api.log)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.http.Close() })
	return server, lines
}

// peer is a client that decides itself what it sends and when it reads.
type peer struct {
	net.Conn

	t      *testing.T
	reader *bufio.Reader
}

func dial(t *testing.T, s *Server) *peer {
	t.Helper()
	c, err := net.DialTimeout("tcp", s.Addr().String(), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &peer{Conn: c, t: t, reader: bufio.NewReader(c)}
}

// dialSlow returns a client to whom no more than tooLong ids can be sent while it does not read.
func dialSlow(t *testing.T, s *Server) *peer {
	t.Helper()
	p := dial(t, s)
	if connection, ok := p.Conn.(*net.TCPConn); !ok || connection.SetReadBuffer(4<<10) != nil {
		t.Fatal("got the buffer that was there, want a small one")
	}
	return p
}

// tooLong is a list of 8 MiB, twice what the kernel keeps of a connection for its client.
const tooLong = 8 << 20 / len(`"p0000000",`)

func (p *peer) send(path string, headers ...string) {
	p.t.Helper()
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: x"}, headers...)
	if _, err := io.WriteString(p, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		p.t.Fatal(err)
	}
}

// receive returns an answer that has been read.
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

func (p *peer) ask(path string) {
	p.t.Helper()
	p.send(path)
	if response, body := p.receive(); response.StatusCode != http.StatusOK {
		p.t.Errorf("%s: got %s %s, want 200", path, response.Status, body)
	}
}

// isClosed waits until the server has closed the connection.
func (p *peer) isClosed() {
	p.t.Helper()
	if n, err := p.reader.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Errorf("got %d bytes, error %v, want the connection to be closed", n, err)
	}
}
