// Package faultproxy stands between the program and PostgreSQL and breaks the connection on demand.
package faultproxy

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
)

// Proxy passes connections on to a PostgreSQL server until it is told otherwise.
type Proxy struct {
	listener net.Listener

	mu          sync.Mutex
	target      string
	refusing    bool
	passing     *sync.Cond // waited on while stalled
	stalled     bool
	held        int // connections that are stalled with data to pass on
	dropping    bool
	connections map[net.Conn]*atomic.Bool // whether its data is lost; both sides share one

	opened, roundTrips, answered atomic.Int64
}

// Start returns a proxy in front of the database of cfg, and a configuration that connects through it.
func Start(tb testing.TB, cfg gormstore.Config) (*Proxy, gormstore.Config) {
	tb.Helper()
	target, err := url.Parse(cfg.URL)
	if err != nil {
		tb.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{listener: listener, target: target.Host, connections: make(map[net.Conn]*atomic.Bool)}
	p.passing = sync.NewCond(&p.mu)
	tb.Cleanup(func() {
		_ = listener.Close()
		p.Resume()
		p.cut()
	})
	go p.accept()
	target.Host = listener.Addr().String()
	cfg.URL = target.String()
	return p, cfg
}

// Refuse closes every connection, and every new one at once, as if the server were down.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	p.refusing = true
	p.mu.Unlock()
	p.cut()
}

// Move closes every connection, and leads new ones to the server of another URL.
func (p *Proxy) Move(tb testing.TB, to string) {
	tb.Helper()
	target, err := url.Parse(to)
	if err != nil {
		tb.Fatal(err)
	}
	p.mu.Lock()
	p.target = target.Host
	p.mu.Unlock()
	p.cut()
}

// Stall accepts connections and passes nothing on, as if the server or the network hung.
func (p *Proxy) Stall() {
	p.mu.Lock()
	p.stalled = true
	p.mu.Unlock()
}

// Held returns how many connections are stalled with data to pass on.
func (p *Proxy) Held() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held
}

// Drop loses what either side sends and closes nothing, as a network that is cut in two. Connections from before Resume
// stay dead after it, and the server goes on believing that its side of them is alive.
func (p *Proxy) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropping = true
	for _, lost := range p.connections {
		lost.Store(true)
	}
}

// Resume ends Refuse, Stall and Drop. It delivers what Stall held back.
func (p *Proxy) Resume() {
	p.mu.Lock()
	p.refusing, p.stalled, p.dropping = false, false, false
	p.mu.Unlock()
	p.passing.Broadcast()
}

// RoundTrips returns how often a client has waited for the server since the start: the number of
// Sync and Query messages (PostgreSQL documentation, "Frontend/Backend Protocol").
func (p *Proxy) RoundTrips() int64 { return p.roundTrips.Load() }

// Answered returns how many bytes the server has sent since the start.
func (p *Proxy) Answered() int64 { return p.answered.Load() }

// Opened returns how many connections there have been since the start.
func (p *Proxy) Opened() int64 { return p.opened.Load() }

func (p *Proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for connection := range p.connections {
		_ = connection.Close()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.opened.Add(1)
		go p.serve(client)
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // this proxy breaks connections
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // this proxy breaks connections
	lost := new(atomic.Bool)
	p.mu.Lock()
	refusing := p.refusing
	lost.Store(p.dropping)
	p.connections[client], p.connections[server] = lost, lost
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.connections, client)
		delete(p.connections, server)
		p.mu.Unlock()
	}()
	if refusing {
		return
	}
	go func() {
		_ = p.copyRequests(side{server, lost}, client)
		if !lost.Load() {
			_ = server.Close()
		}
	}()
	_ = p.copy(side{client, lost}, server)
}

// side is one side of a connection. Once that is lost, writes get nowhere.
type side struct {
	net.Conn
	lost *atomic.Bool
}

// Write implements io.Writer.
func (s side) Write(p []byte) (int, error) {
	if s.lost.Load() {
		return len(p), nil
	}
	return s.Conn.Write(p)
}

// copyRequests copies message by message, and counts those after which the client waits. The first message of a
// connection has no type.
func (p *Proxy) copyRequests(server io.Writer, client io.Reader) error {
	header := make([]byte, 4)
	for first := true; ; first = false {
		kind := byte(0)
		if !first {
			if _, err := io.ReadFull(client, header[:1]); err != nil {
				return err
			}
			kind = header[0]
		}
		if _, err := io.ReadFull(client, header); err != nil {
			return err
		}
		message := make([]byte, 0, 64)
		if !first {
			message = append(message, kind)
		}
		message = append(message, header...)
		body := make([]byte, binary.BigEndian.Uint32(header)-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return err
		}
		if kind == 'S' || kind == 'Q' {
			p.roundTrips.Add(1)
		}
		p.waitWhileStalled()
		if _, err := server.Write(append(message, body...)); err != nil {
			return err
		}
	}
}

func (p *Proxy) copy(to io.Writer, from io.Reader) error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return err
		}
		p.waitWhileStalled()
		p.answered.Add(int64(n))
		if _, err := to.Write(buffer[:n]); err != nil {
			return err
		}
	}
}

func (p *Proxy) waitWhileStalled() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held++
	defer func() { p.held-- }()
	for p.stalled {
		p.passing.Wait()
	}
}
