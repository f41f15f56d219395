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

// question is a request, with a function that recognises a right answer.
type question struct {
	path, token string
	right       func(status int, body string) bool
}

// exactly returns a question to which only a 200 with this body is right.
func exactly(path, token, body string) question {
	return question{path, token, func(status int, got string) bool { return status == http.StatusOK && got == body }}
}

// load is a number of clients that ask one question after another, each over its own connection.
type load struct {
	clients   int
	reconnect bool          // use a new connection for each request
	pause     time.Duration // of a client between two requests
	// to returns the address to connect to next, or "", upon which the client waits and calls it again.
	to        func() string
	questions []question      // each client starts with another one
	ask       func() question // returns the next question, instead of questions
}

// at returns a function for load.to that always returns the same address.
func at(address string) func() string { return func() string { return address } }

// tally counts the outcomes of requests.
type tally struct {
	right       int
	unavailable int // answered with 503
	wrong       int // another answer
	refused     int // the connection was not established
	lost        int // the connection was established, but no answer came
	latencies   []time.Duration
	samples     []string // descriptions of wrong and lost ones
}

func (a *tally) asked() int { return a.right + a.unavailable + a.wrong + a.refused + a.lost }

// add adds the counts of b.
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

// String returns the counts that are not zero.
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

// percentile returns the time within which this share of the answers came: 0.5 for the median, 1 for the longest.
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

// wantRightOr503 fails the test if an answer was neither, or took longer than limit.
func (a *tally) wantRightOr503(t *testing.T, limit time.Duration) {
	t.Helper()
	if a.wrong+a.lost > 0 {
		t.Errorf("got %v, want none wrong or lost: %s", a, strings.Join(a.samples, "; "))
	}
	if longest := a.percentile(1); longest > limit {
		t.Errorf("got an answer after %v, want all within %v", longest, limit)
	}
}

// wantAllRight fails the test if an answer was not right, or if there was none.
func (a *tally) wantAllRight(t *testing.T) {
	t.Helper()
	if a.right == 0 || a.asked() != a.right {
		t.Errorf("got %v, want all right: %s", a, strings.Join(a.samples, "; "))
	}
}

// runningLoad is a load that runs until stop.
type runningLoad struct {
	load
	mu      sync.Mutex
	tally   tally
	done    chan struct{}
	clients sync.WaitGroup
}

// run applies the load for a while.
func (l load) run(t *testing.T, duration time.Duration) *tally {
	t.Helper()
	r := l.start(t)
	time.Sleep(duration)
	return r.stop()
}

// start applies the load until stop or the end of the test.
func (l load) start(t *testing.T) *runningLoad {
	t.Helper()
	r := &runningLoad{load: l, done: make(chan struct{})}
	for i := range l.clients {
		r.clients.Go(func() { r.client(i) })
	}
	t.Cleanup(func() { r.stop() })
	return r
}

// stop lets each client finish its request, and returns the counts since the last cut.
func (r *runningLoad) stop() *tally {
	r.mu.Lock()
	if !r.isStopped() {
		close(r.done)
	}
	r.mu.Unlock()
	r.clients.Wait()
	return r.cut()
}

// cut returns the counts since the last cut, and resets them.
func (r *runningLoad) cut() *tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.tally
	r.tally = tally{}
	return &counts
}

// client asks until the load is stopped. It replaces connections that fail, or that the server is about to close.
func (r *runningLoad) client(turn int) {
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
		start := time.Now()
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
		r.note(q, status, body, err, time.Since(start))
		if err != nil || closing || r.reconnect {
			hangUp()
		}
		if r.pause > 0 {
			time.Sleep(r.pause)
		}
	}
}

func (r *runningLoad) isStopped() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// connect returns a new connection, or nil.
func (r *runningLoad) connect() net.Conn {
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

// note counts the outcome of a request.
func (r *runningLoad) note(q question, status int, body string, err error, latency time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &r.tally
	switch {
	case err != nil:
		a.lost++
		a.sample("%s after %v: %v", q.path, latency, err)
		return
	case status == http.StatusServiceUnavailable:
		a.unavailable++
	case q.right(status, body):
		a.right++
	default:
		a.wrong++
		a.sample("%s after %v: %d %.120s", q.path, latency, status, body)
	}
	a.latencies = append(a.latencies, latency)
}

func (a *tally) sample(format string, args ...any) {
	if len(a.samples) < 5 {
		a.samples = append(a.samples, fmt.Sprintf(format, args...))
	}
}

// exchange sends a request and reads the answer. closing says whether the server closes the connection.
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
