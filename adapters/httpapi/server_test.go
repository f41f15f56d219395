package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// patience is how long anything may take that a test waits for.
const patience = 2 * time.Minute

// store is one in memory, whose lookups wait while it is held and whose lists are as long and as broken as a test likes.
type store struct {
	secret  token.Secret
	ids     int
	failure error // after the last id

	waiting chan struct{} // receives one for each lookup that waits
	held    chan struct{} // closed: go on
}

func newStore() *store {
	s := &store{secret: token.Generate(), waiting: make(chan struct{}, 1000), held: make(chan struct{})}
	close(s.held)
	return s
}

func (s *store) StaleByName(_ context.Context, name user.Name) (user.User, error) {
	select {
	case <-s.held:
	default:
		s.waiting <- struct{}{}
		<-s.held
	}
	return user.User{ID: "hiqpz8s5", Name: name, PublicProfile: true}, nil
}

func (s *store) ByHash(context.Context, token.Hash) (token.Token, error) {
	return token.Token{ID: "k1", Owner: "hiqpz8s5", Hash: s.secret.Hash()}, nil
}

func (s *store) RecordUse(token.ID, time.Time) {}

func (s *store) EachActiveID(_ context.Context, _ user.ID, visit func([]byte) error) error {
	id := []byte("p")
	for i := range s.ids {
		if err := visit(strconv.AppendInt(id, int64(firstID+i), 10)); err != nil {
			return err
		}
	}
	return s.failure
}

const firstID = 1_000_000 // so that all have as many digits

// list is what the store's list is as an answer.
func (s *store) list() string {
	var list strings.Builder
	for i := range s.ids {
		fmt.Fprintf(&list, `,"p%d"`, firstID+i)
	}
	return "[" + strings.TrimPrefix(list.String(), ",") + "]"
}

func (s *store) useCases() UseCases {
	return UseCases{
		CheckUserExists: users.NewCheckExists(s), ShowProfile: users.NewShowProfile(s),
		ListOwnPastes:      pastes.NewListOwn(s, s, s, time.Now),
		FindLanguageByName: languages.NewFindByName(copies{}),
	}
}

// copies is a port that returns a new language each time.
type copies struct{}

func (copies) ByName(name string) (*language.Language, bool) {
	switch name {
	case "Go":
		return &language.Language{Name: "Go", Mode: "go", MIMETypes: []string{"text/x-go"}, Extensions: []string{"go"}, Color: "#00add8"}, true
	case "Gone":
		return &language.Language{Name: "Gone", Mode: "null"}, true
	}
	return nil, false
}

func (copies) ByAlias(alias string) (*language.Language, bool) {
	if alias == "golang" { // as a newer catalogue has it
		return &language.Language{Name: "Go", Mode: "go", MIMETypes: []string{"text/x-go"}, Extensions: []string{"go", "gox"}, Color: "#00add8"}, true
	}
	return nil, false
}

func newTestAPI(t *testing.T, s *store, cfg Config) (*API, *observer.ObservedLogs) {
	t.Helper()
	core, lines := observer.New(zap.DebugLevel)
	known, _ := copies{}.ByName("Go")
	api, err := New(cfg, s.useCases(), []*language.Language{known}, func(context.Context) error { return nil }, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	return api, lines
}

// serveStore serves the store on a free port.
func serveStore(t *testing.T, s *store, change func(*Config)) (*Server, *observer.ObservedLogs) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Addr, cfg.DrainDelay = "127.0.0.1:0", 0
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
		t.Fatal("the buffer is as large as before")
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
		p.t.Errorf("%s: %s %s", path, response.Status, body)
	}
}

// isClosed waits until the server has closed the connection.
func (p *peer) isClosed() {
	p.t.Helper()
	if n, err := p.reader.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Errorf("the connection is not closed: %d bytes, %v", n, err)
	}
}

func stop(t *testing.T, server *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// Whoever has a connection gets an answer, those that the kernel has established and nobody has accepted included.
func TestStopLosesNothing(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("kept=%t", kept), func(t *testing.T) {
			t.Parallel()
			var answered, lost atomic.Int64
			for range 3 {
				server, _ := serveStore(t, newStore(), func(cfg *Config) { cfg.DrainTimeout = patience })
				server.silence = patience // however slow this machine is
				var clients sync.WaitGroup
				for range 16 {
					clients.Go(func() {
						for {
							c, err := net.DialTimeout("tcp", server.Addr().String(), patience)
							if err != nil {
								return // refused: it has stopped
							}
							_ = c.SetDeadline(time.Now().Add(patience))
							reader := bufio.NewReader(c)
							for again := true; again; {
								_, err := io.WriteString(c, "GET /user/epoxy HTTP/1.1\r\nHost: x\r\n\r\n")
								var response *http.Response
								if err == nil {
									response, err = http.ReadResponse(reader, nil)
								}
								if err == nil {
									_, err = io.Copy(io.Discard, response.Body)
									_ = response.Body.Close()
								}
								if err != nil {
									lost.Add(1)
									break
								}
								answered.Add(1)
								again = kept && !response.Close
							}
							_ = c.Close()
						}
					})
				}
				for target := answered.Load() + 500; answered.Load() < target; {
					runtime.Gosched()
				}
				stop(t, server)
				clients.Wait()
			}
			t.Logf("%d answered, %d lost", answered.Load(), lost.Load())
			if lost.Load() > 0 {
				t.Errorf("%d requests were lost", lost.Load())
			}
		})
	}
}

func TestDraining(t *testing.T) {
	t.Parallel()
	s := newStore()
	server, _ := serveStore(t, s, func(cfg *Config) { cfg.DrainDelay = time.Minute })
	kept, idle, pipelining, old, sending := dial(t, server), dial(t, server), dial(t, server), dial(t, server), dial(t, server)
	for _, p := range []*peer{kept, idle, pipelining} {
		p.ask("/user/epoxy")
	}
	s.held = make(chan struct{})
	kept.send("/user/epoxy")
	<-s.waiting // it is in flight
	stopped := make(chan struct{})
	ctx, endDelay := context.WithCancel(t.Context())
	go func() {
		defer close(stopped)
		_ = server.Stop(ctx)
	}()
	fresh := dial(t, server)
	for status := 0; status != http.StatusServiceUnavailable; {
		fresh.send("/readyz")
		response, _ := fresh.receive()
		if status = response.StatusCode; response.Close {
			fresh = dial(t, server)
		}
	}
	close(s.held)
	if response, _ := kept.receive(); response.StatusCode != http.StatusOK || response.Close {
		t.Errorf("a request from before: %s, close: %t", response.Status, response.Close)
	}
	kept.send("/user/epoxy")
	if _, err := io.WriteString(pipelining, strings.Repeat("GET /user/epoxy HTTP/1.1\r\nHost: x\r\n\r\n", 500)); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(old, "GET /user/epoxy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(sending, "POST /user/epoxy HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"); err != nil {
		t.Error(err)
	}
	for what, p := range map[string]*peer{"kept": kept, "pipelining": pipelining, "HTTP/1.0": old, "a body": sending} {
		response, body := p.receive()
		if !response.Close || body == "" {
			t.Errorf("%s: %s, close: %t", what, response.Status, response.Close)
		}
		p.isClosed()
	}
	select {
	case <-stopped:
		t.Error("stopped before the end of the delay")
	default:
	}
	endDelay()
	idle.isClosed()
	<-stopped
}

func TestStopCutsOffSlowReaders(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.ids = tooLong
	server, lines := serveStore(t, s, func(cfg *Config) { cfg.DrainTimeout = time.Second })
	slow := dialSlow(t, server)
	slow.send("/user/self/pastes", "Authorization: "+s.secret.Reveal())
	if _, err := slow.reader.ReadString('\n'); err != nil { // the answer has begun
		t.Fatal(err)
	}
	stop(t, server)
	cutOff := lines.FilterLevelExact(zap.WarnLevel).FilterField(zap.Int("connections", 1))
	if cutOff.Len() != 1 {
		t.Errorf("the log has %v", lines.All())
	}
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	stop(t, NewServer(DefaultConfig(), api, zap.NewNop()))
}

// Whoever stops waits for the requests in flight, and no longer.
func TestStopTwice(t *testing.T) {
	t.Parallel()
	s := newStore()
	server, _ := serveStore(t, s, nil)
	p := dial(t, server)
	s.held = make(chan struct{})
	p.send("/user/epoxy")
	<-s.waiting
	stopped := make(chan error, 2)
	for range cap(stopped) {
		go func() { stopped <- server.Stop(t.Context()) }()
	}
	<-server.served
	time.Sleep(server.silence) // both wait for the connection
	close(s.held)
	if response, _ := p.receive(); response.StatusCode != http.StatusOK {
		t.Error(response.Status)
	}
	_ = p.Close()
	for range cap(stopped) {
		select {
		case err := <-stopped:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(server.cfg.DrainTimeout / 2):
			t.Error("it waits for a connection that is closed")
		}
	}
	stop(t, server)
}

// A stop that has no time closes the socket at once, which is no failure of serving.
func TestStopWithoutTime(t *testing.T) {
	t.Parallel()
	server, _ := serveStore(t, newStore(), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
	select {
	case err := <-server.Failed():
		t.Error(err)
	case <-time.After(100 * time.Millisecond):
	}
}

// areIdle waits until the server knows what its clients have seen: that they are answered.
func (s *connections) areIdle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		busy := slices.ContainsFunc(s.open, func(c *connection) bool { return c.waiting.Load() == 0 })
		s.mu.Unlock()
		if !busy {
			return
		}
	}
	t.Error("some connections are not idle")
}

// A client that reads what it is sent is not closed for another one, however long its answer.
func TestConnectionLimitSparesReaders(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.ids = tooLong
	server, _ := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = 1 })
	reading := dial(t, server)
	reading.send("/user/self/pastes", "Authorization: "+s.secret.Reveal())
	response, err := http.ReadResponse(reading.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		dial(t, server).isClosed()
	}
	n, err := io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if err != nil || n != response.ContentLength {
		t.Errorf("%d bytes of %d, %v", n, response.ContentLength, err)
	}
}

func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := newStore()
	server, lines := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = 4 })
	first, second, third := dial(t, server), dial(t, server), dial(t, server)
	for _, p := range []*peer{first, second, third, first} { // the second is idle longest
		p.ask("/user/epoxy")
		server.connections.areIdle(t)
	}
	silent := dial(t, server)
	dial(t, server).ask("/healthz") // in favour of the second
	second.isClosed()
	if lines.FilterLevelExact(zap.WarnLevel).Len() != 1 {
		t.Errorf("the log has %v", lines.All())
	}

	// All at work: nobody is closed, and nobody let in.
	s.held = make(chan struct{})
	for _, p := range []*peer{first, third, silent} {
		p.send("/user/epoxy")
		<-s.waiting
	}
	fourth := dial(t, server)
	fourth.send("/user/epoxy")
	<-s.waiting
	dial(t, server).isClosed()
	close(s.held)
	for _, p := range []*peer{first, third, silent, fourth} {
		if response, _ := p.receive(); response.StatusCode != http.StatusOK {
			t.Error(response.Status)
		}
	}
}

// Who sends no body, or does not read, gives way like one who is idle.
func TestConnectionLimitAndThoseMidway(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.ids = tooLong
	server, _ := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = 1 })
	s.held = make(chan struct{})
	bodiless := dial(t, server)
	if _, err := io.WriteString(bodiless, "GET /user/epoxy HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-s.waiting
	time.Sleep(stalling)
	deaf := dialSlow(t, server)
	bodiless.isClosed()
	close(s.held)
	deaf.send("/user/self/pastes", "Authorization: "+s.secret.Reveal())
	if _, err := deaf.reader.ReadString('\n'); err != nil { // the answer has begun
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(stalling / 10) { // until the buffers are full, new ones are closed
		p := dial(t, server)
		_, _ = io.WriteString(p, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err := http.ReadResponse(p.reader, nil)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("who does not read keeps everybody out: %v", err)
		}
		_ = p.Close()
	}
}

func TestGeneralOptions(t *testing.T) {
	t.Parallel()
	server, lines := serveStore(t, newStore(), nil)
	p := dial(t, server)
	if _, err := io.WriteString(p, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if response, body := p.receive(); response.StatusCode != http.StatusNotFound || !strings.Contains(body, `"status":404`) {
		t.Errorf("%s %s", response.Status, body)
	}
	if lines.FilterMessage("request").FilterField(zap.String("method", "OPTIONS")).Len() != 1 {
		t.Errorf("the log has %v", lines.All())
	}
}

// 64 KiB of headers are read, in a thousand lines, and not much more.
func TestHeaderLimits(t *testing.T) {
	t.Parallel()
	server, _ := serveStore(t, newStore(), nil)
	for header, status := range map[string]int{
		"Accept: " + strings.Repeat("a/b,", 15<<10):        http.StatusOK,
		"Accept: " + strings.Repeat("a/b,", 20<<10):        http.StatusRequestHeaderFieldsTooLarge,
		strings.TrimSpace(strings.Repeat("A:\r\n", 1000)):  http.StatusOK,
		strings.TrimSpace(strings.Repeat("A:\r\n", 10000)): http.StatusBadRequest,
	} {
		p := dial(t, server)
		p.ask("/healthz")
		p.send("/healthz", header)
		if response, err := http.ReadResponse(p.reader, nil); err != nil || response.StatusCode != status {
			t.Errorf("%d bytes %.10q...: %v, %v", len(header), header, response, err)
		}
	}

	// A body of many lines is not many headers.
	p := dial(t, server)
	p.send("/healthz", "Content-Length: 3000\r\n\r\n"+strings.Repeat("\n", 3000-len("\r\n\r\n")))
	if response, err := http.ReadResponse(p.reader, nil); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("a body of many lines: %v, %v", response, err)
	}

	// Many small requests at once are not many headers.
	p = dial(t, server)
	const requests = 2000
	go func() { _, _ = io.WriteString(p, strings.Repeat("GET /healthz HTTP/1.1\nHost:\n\n", requests)) }()
	for range requests {
		if response, _ := p.receive(); response.StatusCode != http.StatusOK {
			t.Fatal(response.Status)
		}
	}
}

// Readers that take their time hold little memory, however long the answer.
func TestSlowReadersMemory(t *testing.T) {
	const readers = 8
	s := newStore()
	s.ids = tooLong
	server, _ := serveStore(t, s, nil)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peers := make([]*peer, readers)
	for i := range peers {
		peers[i] = dialSlow(t, server)
		peers[i].send("/user/self/pastes", "Authorization: "+s.secret.Reveal())
	}
	for _, p := range peers {
		if _, err := p.reader.ReadString('\n'); err != nil { // the answer has begun
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 10
	t.Logf("%d readers of 8 MiB hold %d KiB", readers, held)
	if held > readers*1024 {
		t.Errorf("%d readers hold %d KiB", readers, held)
	}
}
