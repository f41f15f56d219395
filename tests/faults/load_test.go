package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// answerLimit is how long a client waits for an answer before it takes the request for lost.
const answerLimit = 30 * time.Second

// question is a request and how to tell a right answer to it.
type question struct {
	path, token string
	right       func(status int, body string) bool
}

// exactly is a question to which only a 200 with that body is right.
func exactly(path, token, body string) question {
	return question{path, token, func(status int, got string) bool { return status == http.StatusOK && got == body }}
}

// load is clients that ask one question after another, each over a connection of its own.
type load struct {
	clients   int
	reconnect bool          // a new connection for each request, instead of one that is kept
	pause     time.Duration // of a client between two requests
	// to returns the address to connect to next, or nothing: then the client waits until it does.
	to        func() string
	questions []question      // each client starts at another one
	ask       func() question // instead of questions: makes one that is asked at once
}

// at returns a load's target that is always the same.
func at(address string) func() string { return func() string { return address } }

// tally counts what became of requests.
type tally struct {
	right       int
	unavailable int // answered with 503
	wrong       int // answered with anything else
	refused     int // the connection was not established
	lost        int // the connection was established, but did not bring an answer
	latencies   []time.Duration
	samples     []string // of what was wrong or lost
}

func (a *tally) asked() int { return a.right + a.unavailable + a.wrong + a.refused + a.lost }

// add adds another's counts.
func (a *tally) add(b *tally) {
	a.right += b.right
	a.unavailable += b.unavailable
	a.wrong += b.wrong
	a.refused += b.refused
	a.lost += b.lost
	a.latencies = append(a.latencies, b.latencies...)
	for _, sample := range b.samples {
		a.sample("%s", sample)
	}
}

// String has the counts that are not zero.
func (a *tally) String() string {
	var parts []string
	for _, class := range []struct {
		count int
		name  string
	}{{a.right, "right"}, {a.unavailable, "503"}, {a.wrong, "wrong"}, {a.refused, "refused"}, {a.lost, "lost"}} {
		if class.count > 0 {
			parts = append(parts, fmt.Sprint(class.count, " ", class.name))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// percentile returns the time within which that share of the answers came: 0.5 for the median, 1 for the
// longest.
func (a *tally) percentile(share float64) time.Duration {
	if len(a.latencies) == 0 {
		return 0
	}
	slices.Sort(a.latencies)
	return a.latencies[min(int(share*float64(len(a.latencies))), len(a.latencies)-1)].Round(100 * time.Microsecond)
}

// wait describes the latencies.
func (a *tally) wait() string {
	return fmt.Sprintf("p50 %v, p99 %v, longest %v", a.percentile(0.5), a.percentile(0.99), a.percentile(1))
}

// wantRightOr503 fails the test for every answer that is neither, and for one that took longer than limit.
func (a *tally) wantRightOr503(t *testing.T, limit time.Duration) {
	t.Helper()
	if a.wrong+a.lost > 0 {
		t.Errorf("got %v, want none wrong or lost: %s", a, strings.Join(a.samples, "; "))
	}
	if longest := a.percentile(1); longest > limit {
		t.Errorf("got an answer after %v, want it within %v", longest, limit)
	}
}

// wantAllRight fails the test for every answer that is not right, and if there was none.
func (a *tally) wantAllRight(t *testing.T) {
	t.Helper()
	if a.right == 0 || a.asked() != a.right {
		t.Errorf("got %v, want all right: %s", a, strings.Join(a.samples, "; "))
	}
}

// running is a load that goes on until stop.
type running struct {
	load
	mu      sync.Mutex
	tally   tally
	stopped chan struct{}
	clients sync.WaitGroup
}

// run applies the load for a while.
func (l load) run(t *testing.T, duration time.Duration) *tally {
	t.Helper()
	r := l.start(t)
	time.Sleep(duration)
	return r.stop()
}

// start applies the load until stop, or the end of the test.
func (l load) start(t *testing.T) *running {
	t.Helper()
	r := &running{load: l, stopped: make(chan struct{})}
	for i := range l.clients {
		r.clients.Go(func() { r.client(i) })
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// stop lets each client finish its request and returns what was counted since the last cut.
func (r *running) stop() *tally {
	r.mu.Lock()
	if !r.isStopped() {
		close(r.stopped)
	}
	r.mu.Unlock()
	r.clients.Wait()
	return r.cut()
}

// cut returns what was counted since the last cut.
func (r *running) cut() *tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	counted := r.tally
	r.tally = tally{}
	return &counted
}

// client asks until the load is stopped. Connections that the server announces to close, or that fail,
// are opened anew.
func (r *running) client(turn int) {
	var connection net.Conn
	var reader *bufio.Reader
	hangUp := func() {
		if connection != nil {
			_ = connection.Close()
			connection = nil
		}
	}
	defer hangUp()
	for !r.isStopped() {
		began := time.Now()
		if connection == nil {
			if connection = r.connect(); connection == nil {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			reader = bufio.NewReader(connection)
		}
		var q question
		if r.ask != nil {
			q = r.ask()
		} else {
			q = r.questions[turn%len(r.questions)]
			turn++
		}
		status, body, closing, err := exchange(connection, reader, q, r.reconnect)
		r.note(q, status, body, err, time.Since(began))
		if err != nil || closing || r.reconnect {
			hangUp()
		}
		if r.pause > 0 {
			time.Sleep(r.pause)
		}
	}
}

func (r *running) isStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// connect returns a new connection, or nil.
func (r *running) connect() net.Conn {
	address := r.to()
	if address == "" {
		return nil
	}
	connection, err := net.DialTimeout("tcp", address, answerLimit)
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		if errors.Is(err, syscall.ECONNREFUSED) {
			r.tally.refused++
		} else {
			r.tally.lost++
			r.tally.sample("connect: %v", err)
		}
		return nil
	}
	return connection
}

// note counts what became of a request.
func (r *running) note(q question, status int, body string, err error, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &r.tally
	switch {
	case err != nil:
		a.lost++
		a.sample("%s after %v: %v", q.path, took, err)
		return
	case status == http.StatusServiceUnavailable:
		a.unavailable++
	case q.right(status, body):
		a.right++
	default:
		a.wrong++
		a.sample("%s after %v: %d %.120s", q.path, took, status, body)
	}
	a.latencies = append(a.latencies, took)
}

func (a *tally) sample(format string, args ...any) {
	if len(a.samples) < 5 {
		a.samples = append(a.samples, fmt.Sprintf(format, args...))
	}
}

// exchange sends a request and reads the answer. closing says that the server closes the connection.
func exchange(connection net.Conn, reader *bufio.Reader,
	q question, last bool) (status int, body string, closing bool, err error) {
	_ = connection.SetDeadline(time.Now().Add(answerLimit))
	request := "GET " + q.path + " HTTP/1.1\r\nHost: gluepot.test\r\n"
	if q.token != "" {
		request += "Authorization: " + q.token + "\r\n"
	}
	if last {
		request += "Connection: close\r\n"
	}
	if _, err := io.WriteString(connection, request+"\r\n"); err != nil {
		return 0, "", true, err
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return 0, "", true, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), response.Close, err
}
