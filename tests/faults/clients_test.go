package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// insertInto returns a statement that stores empty pastes, with the values of these columns from a selection.
func insertInto(columns, selection string) string {
	return "INSERT INTO pastes (lifetime, visibility, title, encrypted, pasties, tags, edits, " +
		"content_bytes, history_bytes, " + columns +
		") SELECT 'never', 0, '', false, 0, 0, 0, 0, 0, " + selection
}

// insertOwned stores pastes of a user in one statement. Their ids have this many digits.
func insertOwned(t *testing.T, cfg gormstore.Config, owner string, count, digits int) {
	t.Helper()
	query := insertInto("id, owner_id, created_at",
		"lpad(n::text, $3, '0'), $1, now() - n * interval '1 second' FROM generate_series(1, $2) n")
	if onSQLite(cfg) {
		query = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $2)
			` + insertInto("id, owner_id, created_at", "printf('%0*d', $3, n), $1, -n FROM numbers")
	}
	if _, err := database.SQL(t, cfg).ExecContext(t.Context(), query, owner, count, digits); err != nil {
		t.Fatal(err)
	}
}

// A few lists of this size are more than the kernel buffers for a client that does not read.
const (
	longList   = 10_000
	longDigits = 100
	fewLists   = 8
	fewBytes   = fewLists * longList * longDigits
)

// lookupClients is how many clients of startLookups send lookups, which others must not slow down.
const lookupClients = 8

func startLookups(t *testing.T, node *program.Process) *runningLoad {
	t.Helper()
	return load{clients: lookupClients, pause: time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
}

// waitForClients waits until a node has accepted more than half of this many connections, beside those of startLookups:
// the first may be closed when the last is accepted.
func waitForClients(t *testing.T, node *program.Process, clients int) {
	t.Helper()
	program.Eventually(t, "the clients are connected", func() bool { return node.Connections() > lookupClients+clients/2 })
}

// waitUntilGone waits until a node has no connections except those of startLookups, and returns how long that took.
func waitUntilGone(t *testing.T, node *program.Process, limit time.Duration) time.Duration {
	t.Helper()
	start := time.Now()
	for node.Connections() > lookupClients {
		if time.Since(start) > limit {
			t.Errorf("got %d open connections after %v, want at most %d", node.Connections(), limit, lookupClients)
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(start).Round(100 * time.Millisecond)
}

// dial connects to a node with the smallest receive buffer that the kernel allows, so that the node has to keep what
// the client does not read. The connection is closed at the end of the test.
func dial(t *testing.T, node *program.Process) *net.TCPConn {
	t.Helper()
	return dialFrom(t, node, "127.0.0.1")
}

// dialFrom is like dial, from one of the machine's addresses 127.0.0.0/8.
func dialFrom(t *testing.T, node *program.Process, address string) *net.TCPConn {
	t.Helper()
	dialer := net.Dialer{Timeout: answerLimit, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	dialer.Control = func(_, _ string, raw syscall.RawConn) error {
		var err error
		return errors.Join(raw.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		}),
			err)
	}
	conn, err := dialer.Dial("tcp", node.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn) //nolint:forcetypeassert // the network is tcp
}

// listRequest asks for the pastes of mortar.
const listRequest = "GET /user/self/pastes HTTP/1.1\r\nHost: gluepot.test\r\nAuthorization: " +
	program.MortarToken + "\r\n\r\n"

// trickle reads from a connection at a rate until it ends or stop is closed, and returns the number of bytes.
func trickle(conn net.Conn, bytesPerSecond int, stop <-chan struct{}) (total int) {
	buffer := make([]byte, max(1, bytesPerSecond/10))
	for {
		_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
		n, err := conn.Read(buffer)
		total += n
		if err != nil {
			return total
		}
		select {
		case <-stop:
			return total
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// wantPeakBelow records the peak of a node's memory, and fails the test if it is above limit.
func wantPeakBelow(t *testing.T, node *program.Process, limit int64) {
	t.Helper()
	peak := peakMemory(t, node)
	record(t, "peak of resident memory", mib(peak), "below "+mib(limit))
	if peak > limit {
		t.Errorf("got %s of memory, want at most %s", mib(peak), mib(limit))
	}
}

// TestSlowClients starts 64 clients that send their headers byte by byte, and 64 that read long answers at 1 KiB a
// second. The node must close both when their time is over, and serve other clients as before.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const writers, readers, limit = 64, 64, 5 * time.Minute
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	insertOwned(t, cfg, "mortar01", longList, longDigits)
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_READ_TIMEOUT=3s", "GLUEPOT_HTTP_WRITE_TIMEOUT=8s",
		"GLUEPOT_HTTP_IDLE_TIMEOUT=8s")
	background := startLookups(t, node)
	time.Sleep(time.Second)
	alone := background.cut()

	stop := make(chan struct{})
	var slow sync.WaitGroup
	var headerBytes, answerBytes atomic.Int64
	for range writers {
		conn := dial(t, node)
		slow.Go(func() {
			for _, b := range []byte("GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\nX-Slow: " + strings.Repeat("s", 200)) {
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
				headerBytes.Add(1)
				select {
				case <-stop:
					return
				case <-time.After(time.Second):
				}
			}
		})
	}
	for range readers {
		conn := dial(t, node)
		slow.Go(func() {
			if _, err := io.WriteString(conn, strings.Repeat(listRequest, fewLists)); err == nil {
				answerBytes.Add(int64(trickle(conn, 1<<10, stop)))
			}
		})
	}
	waitForClients(t, node, writers+readers)
	duration := waitUntilGone(t, node, limit)
	beside := background.stop()
	close(stop)
	slow.Wait()
	record(t, "lookups alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprintf("lookups beside %d slow senders and %d slow readers", writers, readers),
		fmt.Sprint(beside, "; ", beside.wait()),
		"all right")
	record(t, "bytes of headers sent and of answers read", fmt.Sprint(headerBytes.Load(), ", ", answerBytes.Load()), "")
	record(t, "slow clients disconnected after", duration, "")
	wantPeakBelow(t, node, readers*fewBytes/2) // half of the lists that they request
	alone.wantAllRight(t)
	beside.wantAllRight(t)
}

// TestDeafClients requests long lists on connections from which it never reads. The node must close them after the
// write timeout, and they must cost little memory until then.
func TestDeafClients(t *testing.T) {
	t.Parallel()
	const clients, limit = 64, 5 * time.Minute
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	insertOwned(t, cfg, "mortar01", longList, longDigits)
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_WRITE_TIMEOUT=8s", "GLUEPOT_HTTP_IDLE_TIMEOUT=8s")
	background := startLookups(t, node)
	for range clients {
		if _, err := io.WriteString(dial(t, node), strings.Repeat(listRequest, fewLists)); err != nil {
			t.Fatal(err)
		}
	}
	waitForClients(t, node, clients)
	duration := waitUntilGone(t, node, limit)
	beside := background.stop()
	record(t, fmt.Sprint("lookups beside ", clients, " clients that never read"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "deaf clients disconnected after", duration, "")
	wantPeakBelow(t, node, clients*fewBytes/2) // half of the lists that they request
	beside.wantAllRight(t)
}

// TestHostileHeaders repeatedly sends headers of 1 MiB, headers of thousands of elements, and thousands of headers on
// 200 connections. The node's memory must stay small and be released, and others must be served.
func TestHostileHeaders(t *testing.T) {
	const (
		clients     = 200
		limit       = 256 << 20
		normal      = 48 << 20 // without pages of the program's file, which the system drops when memory is short
		storm       = 4 * time.Second
		fullRequest = "GET /user/nobody HTTP/1.1\r\nHost: gluepot.test\r\n"
	)
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_REQUEST_TIMEOUT=20s") // 200 clients share the machine with the node
	background := startLookups(t, node)
	time.Sleep(time.Second)
	alone := background.cut()
	kinds := []string{
		fullRequest + "X-Huge: " + strings.Repeat("h", 1<<20), // and no end
		fullRequest + "Accept: " + strings.Repeat("a/b;q=0,", 6<<10) + "\r\n\r\n",
		fullRequest + "Accept: " + strings.Repeat(",", 60<<10) + "\r\n\r\n",
		fullRequest + strings.Repeat("A:\r\n", 250<<10) + "\r\n",
		fullRequest + "If-None-Match: " + strings.Repeat(`"x",`, 15<<10) + "\r\nX-Forwarded-For: " +
			strings.Repeat("1.1.1.1,", 10) + "\r\n\r\n",
	}
	var done atomic.Bool
	var hostile sync.WaitGroup
	var sent atomic.Int64
	for i := range clients {
		hostile.Go(func() {
			for turn := i; !done.Load(); turn++ {
				conn, err := net.DialTimeout("tcp", node.Address, answerLimit)
				if err != nil {
					continue
				}
				_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
				_, _ = io.WriteString(conn, kinds[turn%len(kinds)])
				_, _ = http.ReadResponse(bufio.NewReader(conn), nil)
				_ = conn.Close()
				sent.Add(1)
			}
		})
	}
	time.Sleep(storm)
	beside := background.cut()
	done.Store(true)
	hostile.Wait()
	record(t, "lookups alone", alone.wait(), "all right")
	record(t, fmt.Sprint("lookups beside ", clients, " hostile connections"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "hostile requests", sent.Load(), "")
	wantPeakBelow(t, node, limit)
	start := time.Now()
	for memory(t, node, "RssAnon") > normal && time.Since(start) < 2*program.Patience {
		time.Sleep(100 * time.Millisecond)
	}
	after := memory(t, node, "RssAnon")
	record(t, "memory after the storm", fmt.Sprint(mib(after), " after ", time.Since(start).Round(time.Second)),
		"below "+mib(normal))
	if after > normal {
		t.Errorf("got %s of memory after the storm, want at most %s", mib(after), mib(normal))
	}
	alone.wantAllRight(t)
	beside.wantAllRight(t)
	background.stop().wantAllRight(t)
}

// TestSlowReadersOfLongLists requests a list of 6 MB, more than the kernel buffers, with 32 clients, which read later,
// all at once. The node must hold as many complete answers as it may, and refuse the other clients with a 503.
func TestSlowReadersOfLongLists(t *testing.T) {
	t.Parallel()
	const clients, pastes = 32, 60_000
	const budget = 48 << 20
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	insertOwned(t, cfg, "mortar01", pastes, longDigits)
	if _, err := database.SQL(t, cfg).ExecContext(t.Context(), "VACUUM ANALYZE pastes"); err != nil {
		t.Fatal(err)
	}
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_REQUEST_TIMEOUT=4m", "GLUEPOT_HTTP_WRITE_TIMEOUT=8m",
		fmt.Sprint("GLUEPOT_HTTP_MAX_MEMORY=", budget), "GOMEMLIMIT=200MiB")
	background := load{clients: 4, pause: 5 * time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
	time.Sleep(time.Second)
	limit := residentMemory(t, node) + 3*budget

	var readers, callers sync.WaitGroup
	begin := make(chan struct{})
	var complete, refused atomic.Int64
	for i := range clients {
		conn := dialFrom(t, node, fmt.Sprint("127.0.1.", 1+i%4))
		readers.Add(1)
		callers.Go(func() {
			answer, err := requestList(conn)
			readers.Done()
			switch {
			case err != nil:
				t.Error(err)
				return
			case answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
				refused.Add(1)
				return
			case answer.StatusCode != http.StatusOK:
				t.Errorf("got %s, want 200 or 503", answer.Status)
				return
			}
			<-begin
			ids, err := countIDs(answer.Body)
			if err != nil || ids != pastes {
				t.Errorf("got %d ids, error %v, want %d", ids, err, pastes)
				return
			}
			complete.Add(1)
		})
	}
	readers.Wait() // each has read the beginning of its answer
	memory := residentMemory(t, node)
	beside := background.cut()
	close(begin)
	callers.Wait()
	record(t, fmt.Sprintf("complete answers of %d ids", pastes), complete.Load(), "some")
	record(t, "refused for lack of memory", refused.Load(), "the others")
	record(t, "resident memory during that time", mib(memory), "below "+mib(limit))
	record(t, "lookups during that time", fmt.Sprint(beside, "; ", beside.wait()), "all right")
	wantPeakBelow(t, node, limit)
	if complete.Load() == 0 || refused.Load() == 0 {
		t.Errorf("got %d complete answers and %d refusals, want some of both", complete.Load(), refused.Load())
	}
	beside.wantAllRight(t)
	background.stop().wantAllRight(t)
}

// requestList requests a list, and reads the beginning of the answer.
func requestList(conn net.Conn) (*http.Response, error) {
	_ = conn.SetDeadline(time.Now().Add(10 * time.Minute))
	if _, err := io.WriteString(conn, listRequest); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
}

// countIDs counts the elements of a list, until it ends or breaks off.
func countIDs(list io.Reader) (count int, err error) {
	buffer := make([]byte, 64<<10)
	last := byte(0)
	for {
		n, err := list.Read(buffer)
		count += strings.Count(string(buffer[:n]), ",")
		if n > 0 {
			last = buffer[n-1]
		}
		if errors.Is(err, io.EOF) && last == ']' {
			return count + 1, nil
		}
		if err != nil {
			return count, err
		}
	}
}

// TestHalfRequests sends 2,300 incomplete requests from one address, and keeps those open that it can. Other clients
// must be answered at once.
func TestHalfRequests(t *testing.T) {
	const half, limit = 2300, 256 // the limit of an address
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL)
	reconnecting := load{clients: 4, reconnect: true, pause: 5 * time.Millisecond, to: at(node.Address),
		questions: lookups()}.start(t)
	time.Sleep(time.Second)
	alone := reconnecting.cut()
	for range half {
		// The connection may be closed already.
		_, _ = io.WriteString(dialFrom(t, node, "127.0.0.2"), "GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\n")
	}
	connections := node.Connections()
	time.Sleep(time.Second)
	beside := reconnecting.stop()
	record(t, "new connections alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprint("new connections beside ", half, " half requests"), fmt.Sprint(beside, "; ", beside.wait()),
		"all right, at once")
	record(t, "half requests that the node had", connections, fmt.Sprint("at most ", limit))
	alone.wantAllRight(t)
	beside.wantAllRight(t)
	if longest := beside.percentile(1); longest > 2*time.Second {
		t.Errorf("got an answer after %v, want at most 2 s", longest)
	}
	if connections > limit+2*4 || connections < limit/2 {
		t.Errorf("got %d connections, want about %d, the limit of an address", connections, limit)
	}
	program.Eventually(t, "the half requests are closed", func() bool { return node.Connections() == 0 })
}

// TestConnectionFlood opens more connections from one address than it may have, and opens them again when they are
// closed. Other addresses must be served.
func TestConnectionFlood(t *testing.T) {
	t.Parallel()
	const limit, share, hoarders = 128, 64, 640
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL, fmt.Sprint("GLUEPOT_HTTP_MAX_CONNECTIONS=", limit),
		fmt.Sprint("GLUEPOT_HTTP_MAX_CLIENT_CONNECTIONS=", share))
	reconnecting := load{clients: 4, reconnect: true, pause: 5 * time.Millisecond, to: at(node.Address),
		questions: lookups()}.start(t)
	time.Sleep(time.Second)
	alone := reconnecting.cut()
	var done atomic.Bool
	var clients sync.WaitGroup
	var opened atomic.Int64
	dialer := net.Dialer{Timeout: answerLimit, LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}
	for range hoarders {
		clients.Go(func() {
			for !done.Load() {
				conn, err := dialer.Dial("tcp", node.Address)
				if err != nil {
					continue
				}
				opened.Add(1)
				for !done.Load() {
					_ = conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
					if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
						break
					}
				}
				_ = conn.Close()
				time.Sleep(time.Second)
			}
		})
	}
	peak := 0
	for range 40 {
		peak = max(peak, node.Connections())
		time.Sleep(100 * time.Millisecond)
	}
	beside := reconnecting.stop()
	done.Store(true)
	clients.Wait()
	record(t, "new connections alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprint("new connections beside ", hoarders, " hoarded ones"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "hoarded connections in all", opened.Load(), "more than the hoarders")
	record(t, "connections that the node had", peak, fmt.Sprint("about ", share))
	if peak > limit {
		t.Errorf("got %d connections of the node, want at most %d", peak, limit)
	}
	if opened.Load() <= hoarders {
		t.Errorf("got %d hoarded connections, want more than %d: the limit was not reached", opened.Load(), hoarders)
	}
	alone.wantAllRight(t)
	beside.wantAllRight(t)
	program.Eventually(t, "the connections are gone", func() bool { return node.Connections() == 0 })
}

// TestUnreadLog checks that a node answers requests and is ready while nobody reads its log, and that it drops and
// counts the lines.
func TestUnreadLog(t *testing.T) {
	const clients = 16
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL)
	release := node.Stderr.Hold(t)
	checks := append(fixtureQuestions(), question{"/readyz", "", func(status int, _ string) bool {
		return status == http.StatusOK
	}})
	background := load{clients: clients, to: at(node.Address), questions: checks}.start(t)
	const enough = 10_000 // lines that fill the node's buffer and the pipe
	program.Eventually(t, "requests are answered while nobody reads the log", func() bool {
		background.mu.Lock()
		defer background.mu.Unlock()
		return background.tally.asked() >= enough
	})
	total := background.stop()
	release()
	node.Signal(syscall.SIGTERM)
	if code := node.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	lines, dropped := 0, 0
	for _, line := range node.Log() {
		if line["msg"] == "request" {
			lines++
		}
		if n, ok := line["dropped"].(float64); ok {
			dropped += int(n)
		}
	}
	// Requests for readiness are below the log's level.
	ready := (total.asked() + len(checks) - 1) / len(checks)
	record(t, "requests while nobody reads the log", fmt.Sprint(total, "; ", total.wait()), "all right")
	record(t, "lines in the log", lines, "")
	record(t, "lines dropped and counted", dropped, "the rest")
	total.wantAllRight(t)
	if dropped == 0 || lines+dropped < total.asked()-ready-clients || lines+dropped > total.asked() {
		t.Errorf("got %d lines and %d dropped ones, want %d in all and some dropped", lines, dropped, total.asked())
	}
}

// TestStopWithSlowReaders stops a node whose clients read long answers at 1 KiB a second. It must exit in time and
// successfully.
func TestStopWithSlowReaders(t *testing.T) {
	t.Parallel()
	const clients, drain = 32, 2 * time.Second
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		insertOwned(t, cfg, "mortar01", longList, longDigits)
		node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_DRAIN_DELAY=200ms", "GLUEPOT_HTTP_DRAIN_TIMEOUT="+drain.String(),
			"GLUEPOT_HTTP_REQUEST_TIMEOUT=25s")
		var ready, readers sync.WaitGroup
		stop := make(chan struct{})
		for range clients {
			conn := dial(t, node)
			ready.Add(1)
			readers.Go(func() {
				_, err := requestList(conn)
				if err == nil { // the kernel can buffer one answer, but not all
					_, err = io.WriteString(conn, strings.Repeat(listRequest, fewLists))
				}
				ready.Done()
				if err != nil {
					t.Error(err)
					return
				}
				trickle(conn, 1<<10, stop)
			})
		}
		ready.Wait()
		start := time.Now()
		node.Signal(syscall.SIGTERM)
		code := node.Wait() // fails the test if it takes too long
		elapsed := time.Since(start).Round(10 * time.Millisecond)
		close(stop)
		readers.Wait()
		record(t, fmt.Sprint("stop beside ", clients, " slow readers"), elapsed, "")
		record(t, "exit code", code, "0")
		if code != 0 {
			t.Errorf("got exit code %d, want 0: %s", code, &node.Stderr)
		}
	})
}

// TestClientsThatHangUp sends requests without waiting for the answers, and closes the connections with or without a
// reset. Other clients must get their answers, and nothing may remain of the closed connections.
func TestClientsThatHangUp(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		insertOwned(t, cfg, "mortar01", longList, longDigits)
		node := program.Serve(t, cfg.URL)
		background := load{clients: 8, pause: time.Millisecond, to: at(node.Address),
			questions: fixtureQuestions()[:2]}.start(t)
		time.Sleep(time.Second)
		alone := background.cut()
		requests := []string{
			listRequest,
			"GET /data/numPastes HTTP/1.1\r\nHost: gluepot.test\r\n\r\n",
			"GET /user/self HTTP/1.1\r\nHost: gluepot.test\r\nAuthorization: " + program.EpoxyToken + "\r\n\r\n",
			"GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\nContent-Length: 100\r\n\r\nhalf of it",
		}
		var done atomic.Bool
		var clients sync.WaitGroup
		var sent atomic.Int64
		for i := range 8 {
			clients.Go(func() {
				for turn := i; !done.Load(); turn++ {
					conn, err := net.DialTimeout("tcp", node.Address, answerLimit)
					if err != nil {
						continue
					}
					_, _ = io.WriteString(conn, requests[turn%len(requests)])
					time.Sleep(time.Duration(turn%3) * time.Millisecond)
					if turn%2 == 0 {
						_ = conn.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // the network is tcp
					}
					_ = conn.Close()
					sent.Add(1)
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		time.Sleep(3 * time.Second)
		beside := background.stop()
		done.Store(true)
		clients.Wait()
		record(t, "lookups alone", alone.wait(), "all right")
		record(t, fmt.Sprint("lookups beside ", sent.Load(), " requests without a waiting client"),
			fmt.Sprint(beside, "; ", beside.wait()), "all right")
		alone.wantAllRight(t)
		beside.wantAllRight(t)
		program.Eventually(t, "their connections are closed", func() bool { return node.Connections() == 0 })
		wantPeakBelow(t, node, 256<<20)
		if status, body := node.Get("/data/numPastes", ""); status != http.StatusOK {
			t.Errorf("afterwards: got %d %s, want 200", status, body)
		}
	})
}
