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

// maxHeaderBytes is the program's limit for the head of a request, as it is documented.
const maxHeaderBytes = 16 << 10

// reference is net/http and nothing else, with the program's limits. What it makes of the bytes of a connection,
// requests for a handler and answers of its own, is what the program has to make of them: it decides which
// requests are malformed, and how many there are.
//
// It reads the bodies that the program reads, because that decides what comes after them.
type reference struct {
	address string
	base    string
	conns   sync.Map // from the client's address to *seen
}

// seen is what the handler got on one connection.
type seen struct {
	mu       sync.Mutex
	requests []*http.Request
	once     sync.Once
	closed   chan struct{}
}

func (r *reference) conn(client string) *seen {
	s, ok := r.conns.Load(client)
	if !ok {
		s, _ = r.conns.LoadOrStore(client, &seen{closed: make(chan struct{})})
	}
	return s.(*seen) //nolint:forcetypeassert // it holds nothing else
}

// reachedHeader tells the handler's answers from net/http's.
const reachedHeader = "X-Reached"

type seenKey struct{}

func startReference(t *testing.T, base string) *reference {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{address: listener.Addr().String(), base: base}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			s := request.Context().Value(seenKey{}).(*seen) //nolint:forcetypeassert // see ConnContext
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
			return context.WithValue(ctx, seenKey{}, r.conn(c.RemoteAddr().String()))
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

// received is a body that was read as the program reads it.
type received struct {
	bytes.Buffer
	large, broken bool
}

// Close implements io.Closer.
func (*received) Close() error { return nil }

// maxBody is the program's limit for bodies, as it is documented.
const maxBody = 2 << 20

// receive reads the body of a request and leaves it there. It returns false where the program closes the connection.
func receive(request *http.Request) bool {
	body := new(received)
	if body.large = request.ContentLength > maxBody; !body.large {
		_, err := body.ReadFrom(io.LimitReader(request.Body, maxBody+1))
		body.large = body.Len() > maxBody
		body.broken = err != nil
	}
	request.Body = body
	return !body.large && !body.broken
}

// expectation is one answer that has to come: the program's own to a request, or net/http's.
type expectation struct {
	request *http.Request // nil: net/http answers
	own     *answer
	last    bool // net/http closes the connection after it, whatever else has been sent
}

// expect returns what has to be answered to a script. It is complete unless the connection was cut off before
// net/http's own last answer was read.
func (r *reference) expect(s *script) (expected []expectation, complete bool, err error) {
	// The handler's answers have no body whatever the method; net/http's always have one.
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
		return untilCrowded(expected), false, nil
	}
	return expected, complete, nil
}

// manyLines of shortHeader are far more than the program takes. net/http has no such limit, and answers for the
// program when it is told that it cannot read on.
const (
	shortHeader = "M:\r\n"
	manyLines   = 6000
)

// untilCrowded returns what is expected before the limit to header lines, or whatever else is malformed, ends a
// connection.
func untilCrowded(expected []expectation) []expectation {
	for i, e := range expected {
		if e.request == nil || len(e.request.Header["M"]) >= manyLines-1 {
			return expected[:i]
		}
	}
	return expected
}
