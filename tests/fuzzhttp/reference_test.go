package fuzzhttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// maxHeaderBytes is the program's documented limit for the head of a request.
const maxHeaderBytes = 16 << 10

// reference is a bare net/http server with the program's limits. It decides which requests a connection has and which
// are malformed. The program must do the same.
//
// It reads the same bodies as the program, because the next request begins after them.
type reference struct {
	address string
	base    string
	conns   sync.Map // from the client's address to *connection
}

// connection has the requests that the handler got on one connection.
type connection struct {
	mu       sync.Mutex
	requests []*http.Request
	once     sync.Once
	closed   chan struct{}
}

func (r *reference) conn(client string) *connection {
	s, ok := r.conns.Load(client)
	if !ok {
		s, _ = r.conns.LoadOrStore(client, &connection{closed: make(chan struct{})})
	}
	return s.(*connection) //nolint:forcetypeassert // the map has no other values
}

// reachedHeader marks the handler's answers, as opposed to net/http's own.
const reachedHeader = "X-Reached"

type connectionKey struct{}

func startReference(t *testing.T, base string) *reference {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{address: listener.Addr().String(), base: base}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			s := request.Context().Value(connectionKey{}).(*connection) //nolint:forcetypeassert // see ConnContext
			if takesBody(base, request) && !receive(request) {
				w.Header().Set("Connection", "close")
			}
			s.mu.Lock()
			w.Header().Set(reachedHeader, strconv.Itoa(len(s.requests)))
			s.requests = append(s.requests, request)
			s.mu.Unlock()
			w.WriteHeader(http.StatusNoContent)
		}),
		ReadTimeout:                  patience,
		MaxHeaderBytes:               maxHeaderBytes,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, r.conn(c.RemoteAddr().String()))
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				s := r.conn(c.RemoteAddr().String())
				s.once.Do(func() { close(s.closed) })
			}
		},
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return r
}

// readBody is a body that was read as the program reads it.
type readBody struct {
	bytes.Buffer
	large, broken bool
}

// Close implements io.Closer.
func (*readBody) Close() error { return nil }

// maxBody is the program's documented limit for bodies.
const maxBody = 2 << 20

// receive replaces the body of a request by a readBody. It returns false if the program closes the connection.
func receive(request *http.Request) bool {
	body := new(readBody)
	if body.large = request.ContentLength > maxBody; !body.large {
		_, err := body.ReadFrom(io.LimitReader(request.Body, maxBody+1))
		body.large = body.Len() > maxBody
		body.broken = err != nil
	}
	request.Body = body
	return !body.large && !body.broken
}

// expectation is an expected answer: of the program to a request, or of net/http.
type expectation struct {
	request *http.Request // nil if net/http answers
	own     *answer
	last    bool // whether the connection is closed after it
}

// expect returns the expected answers to a script. They are complete unless the connection was cut off before the last
// answer of net/http itself was read.
func (r *reference) expect(s *script) (expected []expectation, complete bool, err error) {
	// The handler's answers never have a body, and net/http's own always have one.
	answers, client, end := s.exchange(r.address, pipelined, func(int) bool { return false })
	if !errors.Is(end, io.EOF) && !cutOff(end) {
		return nil, false, end
	}
	conn := r.conn(client)
	if complete = errors.Is(end, io.EOF); !complete {
		select {
		case <-conn.closed:
		case <-time.After(patience):
			return nil, false, errors.New("the reference did not close the connection")
		}
	}
	r.conns.Delete(client)
	conn.mu.Lock()
	defer conn.mu.Unlock()
	next := 0
	for _, a := range answers {
		if a.header.Get(reachedHeader) == "" {
			expected = append(expected, expectation{own: a, last: true})
			continue
		}
		expected = append(expected, expectation{request: conn.requests[next], last: a.header.Get("Connection") == "close"})
		next++
	}
	for ; next < len(conn.requests); next++ {
		expected = append(expected, expectation{request: conn.requests[next], last: next == len(conn.requests)-1})
	}
	if bytes.Count(s.bytes(), []byte(shortHeader)) >= manyLines {
		return untilLimit(expected), false, nil
	}
	return expected, complete, nil
}

// manyLines of shortHeader are far more than the program accepts. net/http has no such limit, and answers for the
// program when the program stops it reading.
const (
	shortHeader = "M:\r\n"
	manyLines   = 6000
)

// untilLimit returns the expected answers before the limit of header lines, or another malformed request, ends a
// connection.
func untilLimit(expected []expectation) []expectation {
	for i, e := range expected {
		if e.request == nil || len(e.request.Header["M"]) >= manyLines-1 {
			return expected[:i]
		}
	}
	return expected
}
