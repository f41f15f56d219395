package fuzzhttp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/program"
)

// canary is in every invented path, query, header and token. A log that contains it has leaked something.
const canary = "canary"

// deceptive is the X-Real-IP of clients, which the program ignores.
const deceptive = "203.0.113.77"

// secrets are texts that no line of a log may contain, in lower case.
var secrets = []string{
	canary, deceptive, strings.ToLower(program.EpoxyToken), program.MortarToken, "epoxy", "mortar", "putty",
	"languageext?", "name=",
	"extension=",
}

// line is a line of the log.
type line struct {
	Message   string  `json:"msg"`
	RequestID string  `json:"request_id"`
	Method    string  `json:"method"`
	Route     string  `json:"route"`
	Status    int     `json:"status"`
	Duration  float64 `json:"duration_ms"`
	Client    string  `json:"client"`
	Address   string  `json:"address"` // of the line "serving"
	Dropped   int     `json:"dropped"` // number of lines dropped before this one
}

// requestLine is the expected line of a request.
type requestLine struct {
	method string
	routes []string
	status int
}

// newRequestLine returns the line that an answer must cause.
func newRequestLine(s *site, r *http.Request, w want, status int) requestLine {
	method := r.Method
	if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}, method) {
		method = "other"
	}
	line := requestLine{method, []string{""}, status}
	if method == http.MethodPut {
		line.routes = append(line.routes, route[upload]) // also at the path of an endpoint that does not accept PUT
	}
	if r.URL.Path == "/" {
		line.routes = append(line.routes, "/") // the documentation or an upload
	}
	if e, name := find(s.base, r); e != nothing {
		pattern := route[e]
		if e == upload && name == "" {
			pattern = "/"
		}
		if e != alive && e != ready && e != upload {
			pattern = s.base + pattern
		}
		line.routes = append(line.routes, pattern, pattern+"/")
		if w.endpoint != nothing && status < http.StatusMethodNotAllowed && status != http.StatusNotFound &&
			method != "OPTIONS" {
			line.routes = line.routes[1:] // only its handler answers so
		}
	}
	return line
}

// logOracle reads the log of a program while it is written, and compares it with the answers.
type logOracle struct {
	site *site

	mu       sync.Mutex
	rest     []byte
	chunks   [][]byte
	more     *sync.Cond
	ended    bool
	settled  bool // ignore further lines, whose requests are repetitions
	dying    bool // the rest of the log is a dump of goroutines
	lines    int
	dropped  int // number of dropped lines, as the log says
	expected map[string]requestLine
	early    map[string]line // lines whose answers have not been judged yet
	problems map[string]string
	patience time.Duration
	address  chan string
}

func newLogOracle(s *site) *logOracle {
	l := &logOracle{
		site: s, expected: map[string]requestLine{}, early: map[string]line{}, problems: map[string]string{},
		patience: program.Patience, address: make(chan string, 1),
	}
	l.more = sync.NewCond(&l.mu)
	go l.read()
	return l
}

// Write implements io.Writer. It never makes the program wait.
func (l *logOracle) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chunks = append(l.chunks, bytes.Clone(p))
	l.more.Signal()
	return len(p), nil
}

func (l *logOracle) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.more.Signal()
}

func (l *logOracle) read() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for len(l.chunks) == 0 {
			if l.ended {
				return
			}
			l.more.Wait()
		}
		chunks := l.chunks
		l.chunks = nil
		for _, chunk := range chunks {
			l.rest = append(l.rest, chunk...)
			for !l.dying {
				text, rest, complete := bytes.Cut(l.rest, []byte("\n"))
				if !complete {
					break
				}
				l.rest = rest
				l.line(text)
			}
			l.rest = bytes.Clone(l.rest)
		}
	}
}

func (l *logOracle) problem(class, format string, args ...any) {
	if _, ok := l.problems[class]; !ok {
		l.problems[class] = fmt.Sprintf(format, args...)
	}
}

func (l *logOracle) line(text []byte) {
	l.lines++
	var got line
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&got); err != nil || decoder.More() {
		l.problem("a line of the log is not one JSON object", "%q: %v", text, err)
		return
	}
	lower := string(bytes.ToLower(text))
	for _, secret := range secrets {
		if strings.Contains(lower, secret) {
			l.problem(fmt.Sprintf("the log has %q", secret), "%q", text)
		}
	}
	switch {
	case got.Dropped > 0:
		l.dropped += got.Dropped
	case got.Message == "serving":
		l.address <- got.Address
	case got.Message != "request":
		if bytes.Contains(text, []byte("panic")) {
			l.problem("panic", "%q", text)
		}
	case !l.settled:
		l.request(got, text)
	}
}

func (l *logOracle) request(got line, text []byte) {
	client, err := netip.ParseAddr(got.Client)
	if err != nil || !l.site.trusting && !client.IsLoopback() {
		l.problem("wrong client in the log", "%q", text)
	}
	if got.RequestID == "" || got.Duration < 0 {
		l.problem("incomplete line", "%q", text)
	}
	if want, ok := l.expected[got.RequestID]; ok {
		delete(l.expected, got.RequestID)
		l.compare(want, got)
		return
	}
	if _, ok := l.early[got.RequestID]; ok {
		l.problem("two lines for one request", "%q", text)
	}
	l.early[got.RequestID] = got
}

func (l *logOracle) compare(want requestLine, got line) {
	if got.Method != want.method || got.Status != want.status || !slices.Contains(want.routes, got.Route) {
		l.problem("the log says something else", "got %+v, want %+v", got, want)
	}
}

// expect adds the line that an answer must cause.
func (l *logOracle) expect(id string, want requestLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.settled || id == "" { // judgeID reports an empty one
		return
	}
	if got, ok := l.early[id]; ok {
		delete(l.early, id)
		l.compare(want, got)
		return
	}
	l.expected[id] = want
}

// settle waits until each answer has its line.
func (l *logOracle) settle() {
	missing := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.expected) - l.dropped
	}
	for deadline := time.Now().Add(l.patience); missing() > 0 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = true
	for id, want := range l.expected {
		if len(l.expected) > l.dropped {
			l.problem("an answer has no line in the log", "%d of them; %q: %+v", len(l.expected), id, want)
		}
	}
}

// drops returns how many lines the program has dropped, as it says.
func (l *logOracle) drops() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

func (l *logOracle) lineCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

func (l *logOracle) report(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for class, text := range l.problems {
		t.Errorf("%s: %s", class, text)
	}
}

// goroutines ends the program with a dump, and returns how many goroutines it had.
func (l *logOracle) goroutines() int {
	l.mu.Lock()
	l.dying = true
	l.mu.Unlock()
	l.site.Signal(syscall.SIGQUIT)
	l.site.Wait() // then its standard error was read to the end
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(append(l.rest, bytes.Join(l.chunks, nil)...), []byte("\ngoroutine "))
}
