package fuzzhttp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// delivery is the way in which the requests of a connection are sent.
type delivery int

const (
	pipelined delivery = iota // all at once, then the sending half is closed
	lockstep                  // each after the answer to the previous one; only for well-formed requests
	split                     // in pieces, cut at any byte, with pauses
	reset                     // only a part, then the connection is reset
	held                      // all at once; the connection stays open until the server closes it
	deliveries
)

func (d delivery) String() string {
	return [...]string{"pipelined", "lockstep", "split", "reset", "held"}[d]
}

// script has the requests of one connection.
type script struct {
	index    int
	site     int
	requests [][]byte
	clean    bool  // every request is well formed, and none closes the connection
	twins    []int // requests of a clean script that must get the same answers as the next one
	delivery delivery
	cuts     []int // where split cuts, or reset stops
}

func (s *script) bytes() []byte { return bytes.Join(s.requests, nil) }

// answer is one answer.
type answer struct {
	status int
	head   string // with the line ends
	header http.Header
	body   []byte
}

func (a *answer) String() string { return fmt.Sprintf("%.2000q", a.head+string(a.body)) }

// patience bounds every wait for the server. It is longer than any of its own timeouts.
const patience = 60 * time.Second

// exchange sends a script, and returns the answers and the error that ended them: io.EOF if the server closed the
// connection. headless reports which answers have no body because their request was HEAD.
func (s *script) exchange(address string, way delivery,
	headless func(i int) bool) (answers []*answer, local string, end error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, "", err
	}
	defer conn.Close() //nolint:errcheck // the server closed it, or it is to be reset
	_ = conn.SetDeadline(time.Now().Add(patience))
	tcp := conn.(*net.TCPConn)                         //nolint:forcetypeassert // the network is tcp
	progress := make(chan struct{}, len(s.requests)+1) // of answers
	done := make(chan struct{})
	var sender sync.WaitGroup
	sender.Go(func() { s.send(tcp, way, progress, done) })
	reader := bufio.NewReader(conn)
	for {
		a, err := readAnswer(reader, headless(len(answers)))
		if err != nil {
			end = err
			break
		}
		if a.status < 200 {
			continue
		}
		answers = append(answers, a)
		select {
		case progress <- struct{}{}:
		default:
		}
	}
	close(done)
	_ = conn.Close() // ends a waiting write
	sender.Wait()
	return answers, conn.LocalAddr().String(), end
}

// send ignores errors: a server may stop reading, and only its answers count.
func (s *script) send(conn *net.TCPConn, way delivery, progress, done <-chan struct{}) {
	data := s.bytes()
	switch way {
	case lockstep:
		for _, request := range s.requests {
			if _, err := conn.Write(request); err != nil {
				return
			}
			select {
			case <-progress:
			case <-done:
				return
			}
		}
	case split:
		from := 0
		for i, to := range s.cuts {
			if _, err := conn.Write(data[from:to]); err != nil {
				return
			}
			from = to
			time.Sleep(time.Duration(i%3) * time.Millisecond)
		}
		_, _ = conn.Write(data[from:])
	case reset:
		_, _ = conn.Write(data[:s.cuts[0]])
		if s.cuts[0]%2 == 0 { // in half of the cases the server can begin
			time.Sleep(time.Millisecond)
		}
		_ = conn.SetLinger(0)
		_ = conn.Close()
		return
	case held:
		_, _ = conn.Write(data)
		return
	default:
		_, _ = conn.Write(data)
	}
	_ = conn.CloseWrite()
}

var errNotHTTP = errors.New("not an answer")

// readAnswer is stricter than net/http's own reader.
func readAnswer(r *bufio.Reader, headless bool) (*answer, error) {
	var head strings.Builder
	line := func() (string, error) {
		text, err := r.ReadString('\n')
		head.WriteString(text)
		if err != nil {
			if errors.Is(err, io.EOF) && head.Len() > 0 {
				err = fmt.Errorf("%w: got its end within its head %q", errNotHTTP, head.String())
			}
			return "", err
		}
		text, ok := strings.CutSuffix(text, "\r\n")
		if !ok {
			return "", fmt.Errorf("%w: %q", errNotHTTP, head.String())
		}
		return text, nil
	}
	first, err := line()
	if err != nil {
		return nil, err
	}
	proto, rest, _ := strings.Cut(first, " ")
	code, _, _ := strings.Cut(rest, " ")
	a := &answer{header: http.Header{}}
	if a.status, err = strconv.Atoi(code); err != nil || len(code) != 3 || proto != "HTTP/1.1" && proto != "HTTP/1.0" {
		return nil, fmt.Errorf("%w: got the first line %.200q", errNotHTTP, first)
	}
	for {
		text, err := line()
		if err != nil {
			return nil, err
		}
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("%w: got the header line %.200q", errNotHTTP, text)
		}
		a.header.Add(textproto.CanonicalMIMEHeaderKey(name), strings.TrimSpace(value))
	}
	a.head = head.String()
	if headless || a.status < 200 || a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		return a, nil
	}
	switch length, chunked := a.header.Get("Content-Length"), a.header.Get("Transfer-Encoding") == "chunked"; {
	case chunked:
		if a.body, err = io.ReadAll(httputil.NewChunkedReader(r)); err == nil {
			_, err = line()
		}
	case length != "":
		size, convErr := strconv.Atoi(length)
		if convErr != nil || size < 0 || size > 1<<20 {
			return nil, fmt.Errorf("%w: got the length %q", errNotHTTP, length)
		}
		a.body = make([]byte, size)
		_, err = io.ReadFull(r, a.body)
	default:
		a.body, err = io.ReadAll(r)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: got the end of %q within its body: %w", errNotHTTP, a.head, err)
	}
	return a, nil
}

// cutOff reports whether the kernel reset a connection. It does so if the server closes a connection before it has read
// everything, and answers may then be lost.
func cutOff(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
