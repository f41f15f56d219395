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

// insertInto is a statement that stores empty pastes, with these columns of what is selected.
func insertInto(columns, selected string) string {
	return "INSERT INTO pastes (lifetime, visibility, title, encrypted, pasties, tags, edits, " +
		"content_bytes, history_bytes, " + columns +
		") SELECT 'never', 0, '', false, 0, 0, 0, 0, 0, " + selected
}

// insertOwned stores pastes of a user, in one statement. Their ids have that many digits.
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

// A few lists of this size are more than the kernel keeps for a client that does not read.
const (
	longList   = 10_000
	longDigits = 100
	fewLists   = 8
	fewBytes   = fewLists * longList * longDigits
)

// lookers are clients that must not notice what others do.
const lookers = 8

func look(t *testing.T, node *program.Process) *running {
	t.Helper()
	return load{clients: lookers, pause: time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
}

// untilThere waits until a node has accepted most of that many connections beside those of the lookers; the first may
// be gone already when the last comes.
func untilThere(t *testing.T, node *program.Process, clients int) {
	t.Helper()
	program.Eventually(t, "the clients are connected", func() bool { return node.Connections() > lookers+clients/2 })
}

// untilGone waits until a node has no connections but those of the lookers, and returns how long that took.
func untilGone(t *testing.T, node *program.Process, limit time.Duration) time.Duration {
	t.Helper()
	began := time.Now()
	for node.Connections() > lookers {
		if time.Since(began) > limit {
			t.Errorf("got %d connections open after %v, want at most %d", node.Connections(), limit, lookers)
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return time.Since(began).Round(100 * time.Millisecond)
}

// dial connects to a node with a receive buffer as small as the kernel allows, so that what the client does not
// read, the node has to keep. The connection is closed at the end of the test.
func dial(t *testing.T, node *program.Process) *net.TCPConn {
	t.Helper()
	return dialFrom(t, node, "127.0.0.1")
}

// dialFrom is dial from one of the addresses of this machine, 127.0.0.0/8.
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
	return conn.(*net.TCPConn) //nolint:forcetypeassert // it was dialled so
}

// listRequest asks for the pastes of mortar.
const listRequest = "GET /user/self/pastes HTTP/1.1\r\nHost: gluepot.test\r\nAuthorization: " +
	program.MortarToken + "\r\n\r\n"

// trickle reads a connection at a rate until it ends or stop is closed, and returns how many bytes that were.
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

// wantPeakBelow notes the peak of a node's memory and fails the test if it is above limit.
func wantPeakBelow(t *testing.T, node *program.Process, limit int64) {
	t.Helper()
	peak := peakMemory(t, node)
	record(t, "peak of resident memory", mib(peak), "below "+mib(limit))
	if peak > limit {
		t.Errorf("got %s of memory, want at most %s", mib(peak), mib(limit))
	}
}

// TestSlowClients has a crowd that sends its headers byte by byte, and one that reads long answers at 1 KiB a second:
// the node closes both when their time is over, and serves other clients as before.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	const writers, readers, limit = 64, 64, 5 * time.Minute
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	insertOwned(t, cfg, "mortar01", longList, longDigits)
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_READ_TIMEOUT=3s", "GLUEPOT_HTTP_WRITE_TIMEOUT=8s",
		"GLUEPOT_HTTP_IDLE_TIMEOUT=8s")
	looking := look(t, node)
	time.Sleep(time.Second)
	alone := looking.cut()

	stop := make(chan struct{})
	var slow sync.WaitGroup
	var heard, read atomic.Int64
	for range writers {
		conn := dial(t, node)
		slow.Go(func() {
			for _, b := range []byte("GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\nX-Slow: " + strings.Repeat("s", 200)) {
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
				heard.Add(1)
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
				read.Add(int64(trickle(conn, 1<<10, stop)))
			}
		})
	}
	untilThere(t, node, writers+readers)
	duration := untilGone(t, node, limit)
	beside := looking.stop()
	close(stop)
	slow.Wait()
	record(t, "look-ups alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprintf("look-ups beside %d slow senders and %d slow readers", writers, readers),
		fmt.Sprint(beside, "; ", beside.wait()),
		"all right")
	record(t, "bytes of headers heard and of answers read", fmt.Sprint(heard.Load(), ", ", read.Load()), "")
	record(t, "slow clients let go after", duration, "")
	wantPeakBelow(t, node, readers*fewBytes/2) // of what they asked for
	alone.wantAllRight(t)
	beside.wantAllRight(t)
}

// TestDeafClients requests long lists on connections that are never read: the node closes them when the write timeout
// is over, and they cost next to no memory until then.
func TestDeafClients(t *testing.T) {
	t.Parallel()
	const clients, limit = 64, 5 * time.Minute
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	insertOwned(t, cfg, "mortar01", longList, longDigits)
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_WRITE_TIMEOUT=8s", "GLUEPOT_HTTP_IDLE_TIMEOUT=8s")
	looking := look(t, node)
	for range clients {
		if _, err := io.WriteString(dial(t, node), strings.Repeat(listRequest, fewLists)); err != nil {
			t.Fatal(err)
		}
	}
	untilThere(t, node, clients)
	duration := untilGone(t, node, limit)
	beside := looking.stop()
	record(t, fmt.Sprint("look-ups beside ", clients, " who never read"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "deaf clients let go after", duration, "")
	wantPeakBelow(t, node, clients*fewBytes/2) // of what they asked for
	beside.wantAllRight(t)
}

// TestHostileHeaders sends headers of 1 MiB, headers of thousands of elements and thousands of headers on 200
// connections, again and again: the node's memory stays small and is returned, and others are served.
func TestHostileHeaders(t *testing.T) {
	const (
		clients     = 200
		limit       = 256 << 20
		ordinarily  = 80 << 20
		storm       = 4 * time.Second
		fullRequest = "GET /user/nobody HTTP/1.1\r\nHost: gluepot.test\r\n"
	)
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_REQUEST_TIMEOUT=20s") // 200 clients and the node share a machine
	looking := look(t, node)
	time.Sleep(time.Second)
	alone := looking.cut()
	kinds := []string{
		fullRequest + "X-Huge: " + strings.Repeat("h", 1<<20), // not even ended
		fullRequest + "Accept: " + strings.Repeat("a/b;q=0,", 6<<10) + "\r\n\r\n",
		fullRequest + "Accept: " + strings.Repeat(",", 60<<10) + "\r\n\r\n",
		fullRequest + strings.Repeat("A:\r\n", 250<<10) + "\r\n",
		fullRequest + "If-None-Match: " + strings.Repeat(`"x",`, 15<<10) + "\r\nX-Forwarded-For: " +
			strings.Repeat("1.1.1.1,", 10) + "\r\n\r\n",
	}
	var over atomic.Bool
	var hostile sync.WaitGroup
	var sent atomic.Int64
	for i := range clients {
		hostile.Go(func() {
			for turn := i; !over.Load(); turn++ {
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
	beside := looking.cut()
	over.Store(true)
	hostile.Wait()
	record(t, "look-ups alone", alone.wait(), "all right")
	record(t, fmt.Sprint("look-ups beside ", clients, " hostile connections"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "hostile requests", sent.Load(), "")
	wantPeakBelow(t, node, limit)
	began := time.Now()
	for residentMemory(t, node) > ordinarily && time.Since(began) < 2*program.Patience {
		time.Sleep(100 * time.Millisecond)
	}
	after := residentMemory(t, node)
	record(t, "resident memory after the storm", fmt.Sprint(mib(after), " after ", time.Since(began).Round(time.Second)),
		"below "+mib(ordinarily))
	if after > ordinarily {
		t.Errorf("got %s still in memory, want at most %s", mib(after), mib(ordinarily))
	}
	alone.wantAllRight(t)
	beside.wantAllRight(t)
	looking.stop().wantAllRight(t)
}

// TestSlowReadersOfLongLists requests a list of 6 MB with 32 clients, more than the kernel buffers, which read only
// later, all at once: the node holds as many answers as it may, each complete, and the other clients get a 503.
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
	looking := load{clients: 4, pause: 5 * time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
	time.Sleep(time.Second)
	limit := residentMemory(t, node) + 3*budget

	var readers, reading sync.WaitGroup
	everybody := make(chan struct{})
	var complete, refused atomic.Int64
	for i := range clients {
		conn := dialFrom(t, node, fmt.Sprint("127.0.1.", 1+i%4))
		readers.Add(1)
		reading.Go(func() {
			answer, err := askForList(conn)
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
			<-everybody
			ids, err := countIDs(answer.Body)
			if err != nil || ids != pastes {
				t.Errorf("got %d ids, error %v, want %d", ids, err, pastes)
				return
			}
			complete.Add(1)
		})
	}
	readers.Wait() // each has the beginning of its answer
	memory := residentMemory(t, node)
	beside := looking.cut()
	close(everybody)
	reading.Wait()
	record(t, fmt.Sprintf("answers of %d ids, complete in the end", pastes), complete.Load(), "some")
	record(t, "refused for want of memory", refused.Load(), "the others")
	record(t, "resident memory during that time", mib(memory), "below "+mib(limit))
	record(t, "look-ups during that time", fmt.Sprint(beside, "; ", beside.wait()), "all right")
	wantPeakBelow(t, node, limit)
	if complete.Load() == 0 || refused.Load() == 0 {
		t.Errorf("got %d complete and %d refused, want some of both", complete.Load(), refused.Load())
	}
	beside.wantAllRight(t)
	looking.stop().wantAllRight(t)
}

// askForList asks for a list and reads the beginning of the answer.
func askForList(conn net.Conn) (*http.Response, error) {
	_ = conn.SetDeadline(time.Now().Add(10 * time.Minute))
	if _, err := io.WriteString(conn, listRequest); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), nil)
}

// countIDs counts the elements of a list as far as it comes.
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

// TestHalfRequests holds 2,300 incomplete requests from one address, as many as it gets: others are answered at once.
func TestHalfRequests(t *testing.T) {
	const half, limit = 2300, 256 // the one of an address
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL)
	fresh := load{clients: 4, reconnect: true, pause: 5 * time.Millisecond, to: at(node.Address),
		questions: lookups()}.start(t)
	time.Sleep(time.Second)
	alone := fresh.cut()
	for range half {
		// it may be closed already
		_, _ = io.WriteString(dialFrom(t, node, "127.0.0.2"), "GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\n")
	}
	most := node.Connections()
	time.Sleep(time.Second)
	beside := fresh.stop()
	record(t, "new connections alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprint("new connections beside ", half, " half requests"), fmt.Sprint(beside, "; ", beside.wait()),
		"all right, at once")
	record(t, "half requests that the node had", most, fmt.Sprint("at most ", limit))
	alone.wantAllRight(t)
	beside.wantAllRight(t)
	if longest := beside.percentile(1); longest > 2*time.Second {
		t.Errorf("got an answer after %v, want it at once", longest)
	}
	if most > limit+2*4 || most < limit/2 {
		t.Errorf("got %d connections, want at most the %d of an address, and a few", most, limit)
	}
	program.Eventually(t, "the half requests are let go", func() bool { return node.Connections() == 0 })
}

// TestConnectionFlood opens more connections from one address than it may have, and opens them again when they are
// closed: other addresses are served.
func TestConnectionFlood(t *testing.T) {
	t.Parallel()
	const limit, share, hoarders = 128, 64, 640
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL, fmt.Sprint("GLUEPOT_HTTP_MAX_CONNECTIONS=", limit),
		fmt.Sprint("GLUEPOT_HTTP_MAX_CLIENT_CONNECTIONS=", share))
	fresh := load{clients: 4, reconnect: true, pause: 5 * time.Millisecond, to: at(node.Address),
		questions: lookups()}.start(t)
	time.Sleep(time.Second)
	alone := fresh.cut()
	var over atomic.Bool
	var hoarding sync.WaitGroup
	var opened atomic.Int64
	dialer := net.Dialer{Timeout: answerLimit, LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}
	for range hoarders {
		hoarding.Go(func() {
			for !over.Load() {
				conn, err := dialer.Dial("tcp", node.Address)
				if err != nil {
					continue
				}
				opened.Add(1)
				for !over.Load() {
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
	most := 0
	for range 40 {
		most = max(most, node.Connections())
		time.Sleep(100 * time.Millisecond)
	}
	beside := fresh.stop()
	over.Store(true)
	hoarding.Wait()
	record(t, "new connections alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprint("new connections beside ", hoarders, " that are hoarded"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "hoarded connections, in the end", opened.Load(), "more than the hoarders")
	record(t, "connections that the node had", most, fmt.Sprint("about ", share))
	if most > limit {
		t.Errorf("got %d connections of the node, want at most %d", most, limit)
	}
	if opened.Load() <= hoarders {
		t.Errorf("got %d connections hoarded, want more than %d: the limit was not reached", opened.Load(), hoarders)
	}
	alone.wantAllRight(t)
	beside.wantAllRight(t)
	program.Eventually(t, "the connections are gone", func() bool { return node.Connections() == 0 })
}

// TestUnreadLog answers requests, and says that it is ready, while nobody reads its log: lines are dropped then, and
// counted.
func TestUnreadLog(t *testing.T) {
	const askers = 16
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL)
	release := node.Stderr.Hold(t)
	checks := append(fixtureQuestions(), question{"/readyz", "", func(status int, _ string) bool {
		return status == http.StatusOK
	}})
	asking := load{clients: askers, to: at(node.Address), questions: checks}.start(t)
	const enough = 10_000 // lines for the node and the pipe to be full
	program.Eventually(t, "requests are answered while nobody reads the log", func() bool {
		asking.mu.Lock()
		defer asking.mu.Unlock()
		return asking.tally.asked() >= enough
	})
	unread := asking.stop()
	release()
	node.Signal(syscall.SIGTERM)
	if code := node.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	logged, dropped := 0, 0
	for _, line := range node.Log() {
		if line["msg"] == "request" {
			logged++
		}
		if n, ok := line["dropped"].(float64); ok {
			dropped += int(n)
		}
	}
	// Answers about readiness are below the level of the log.
	ready := (unread.asked() + len(checks) - 1) / len(checks)
	record(t, "requests while nobody reads the log", fmt.Sprint(unread, "; ", unread.wait()), "all right")
	record(t, "lines logged", logged, "")
	record(t, "lines dropped and counted", dropped, "the rest")
	unread.wantAllRight(t)
	if dropped == 0 || logged+dropped < unread.asked()-ready-askers || logged+dropped > unread.asked() {
		t.Errorf("got %d lines and %d dropped ones, want %d in all, and some dropped", logged, dropped, unread.asked())
	}
}

// TestStopWithSlowReaders stops a node whose clients read long answers at 1 KiB a second: it ends in time, and
// succeeds.
func TestStopWithSlowReaders(t *testing.T) {
	t.Parallel()
	const clients, drain = 32, 2 * time.Second
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		insertOwned(t, cfg, "mortar01", longList, longDigits)
		node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_DRAIN_DELAY=200ms", "GLUEPOT_HTTP_DRAIN_TIMEOUT="+drain.String(),
			"GLUEPOT_HTTP_REQUEST_TIMEOUT=25s")
		var begun, reading sync.WaitGroup
		stop := make(chan struct{})
		for range clients {
			conn := dial(t, node)
			begun.Add(1)
			reading.Go(func() {
				_, err := askForList(conn)
				if err == nil { // the kernel may take one answer off the node's hands, but not all
					_, err = io.WriteString(conn, strings.Repeat(listRequest, fewLists))
				}
				begun.Done()
				if err != nil {
					t.Error(err)
					return
				}
				trickle(conn, 1<<10, stop)
			})
		}
		begun.Wait()
		began := time.Now()
		node.Signal(syscall.SIGTERM)
		code := node.Wait() // fails the test when it takes too long
		took := time.Since(began).Round(10 * time.Millisecond)
		close(stop)
		reading.Wait()
		record(t, fmt.Sprint("stop beside ", clients, " slow readers"), took, "")
		record(t, "exit code", code, "0")
		if code != 0 {
			t.Errorf("got exit code %d, want 0: %s", code, &node.Stderr)
		}
	})
}

// TestClientsThatHangUp sends requests and does not wait for the answers, with a reset or without: other clients get
// theirs, and the lost ones leave nothing behind.
func TestClientsThatHangUp(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		insertOwned(t, cfg, "mortar01", longList, longDigits)
		node := program.Serve(t, cfg.URL)
		looking := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: fixtureQuestions()[:2]}.start(t)
		time.Sleep(time.Second)
		alone := looking.cut()
		requests := []string{
			listRequest,
			"GET /data/numPastes HTTP/1.1\r\nHost: gluepot.test\r\n\r\n",
			"GET /user/self HTTP/1.1\r\nHost: gluepot.test\r\nAuthorization: " + program.EpoxyToken + "\r\n\r\n",
			"GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\nContent-Length: 100\r\n\r\nhalf of it",
		}
		var over atomic.Bool
		var hangingUp sync.WaitGroup
		var sent atomic.Int64
		for i := range 8 {
			hangingUp.Go(func() {
				for turn := i; !over.Load(); turn++ {
					conn, err := net.DialTimeout("tcp", node.Address, answerLimit)
					if err != nil {
						continue
					}
					_, _ = io.WriteString(conn, requests[turn%len(requests)])
					time.Sleep(time.Duration(turn%3) * time.Millisecond)
					if turn%2 == 0 {
						_ = conn.(*net.TCPConn).SetLinger(0) //nolint:forcetypeassert // it was dialled so
					}
					_ = conn.Close()
					sent.Add(1)
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		time.Sleep(3 * time.Second)
		beside := looking.stop()
		over.Store(true)
		hangingUp.Wait()
		record(t, "look-ups alone", alone.wait(), "all right")
		record(t, fmt.Sprint("look-ups beside ", sent.Load(), " requests nobody waits for"),
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
