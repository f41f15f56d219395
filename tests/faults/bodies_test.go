package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

const (
	bodyClients = 64
	longLength  = 2 << 20 // the default limit of a body
	shortLength = 2 << 10
	// bodyMemory is the limit of a node's memory while bodyClients send long bodies, of 128 MiB in all.
	bodyMemory = 400 << 20
)

// senders are clients that create the same paste, each over its own connection.
type senders struct {
	body, code []byte // code is escaped, as in body
	mu         sync.Mutex
	tally
	created []string // ids of acknowledged pastes
}

// newSenders returns senders of a body of this many bytes, with as many escapes as real code has.
func newSenders(t *testing.T, length int) *senders {
	t.Helper()
	const before, after = `{"title":"a","pasties":[{"code":"`, `"}]}`
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode("\tfmt.Fprintf(w, \"%d: <größer>\\n\", i) // as it was\n"); err != nil {
		t.Fatal(err)
	}
	quoted := bytes.TrimSpace(line.Bytes())
	inner := quoted[1 : len(quoted)-1]
	code := bytes.Repeat(inner, (length-len(before)-len(after))/len(inner))
	body := append(append([]byte(before), code...), after...)
	return &senders{body: append(body, bytes.Repeat([]byte(" "), length-len(body))...), code: code}
}

// run starts bodyClients. Each sends as long as more, which gets whether its last paste was stored, returns true. After
// a 503 it waits before it tries again.
func (s *senders) run(t *testing.T, node *program.Process, more func(stored bool) bool) {
	t.Helper()
	var clients sync.WaitGroup
	for range bodyClients {
		clients.Go(func() {
			var conn net.Conn
			var reader *bufio.Reader
			var answer bytes.Buffer
			for stored := false; more(stored); {
				if conn == nil {
					var err error
					if conn, err = net.DialTimeout("tcp", node.Address, answerLimit); err != nil {
						t.Error(err)
						return
					}
					reader = bufio.NewReader(conn)
				}
				answer.Reset()
				start := time.Now()
				response, err := s.send(conn, reader, &answer)
				s.note(response, answer.Bytes(), err, time.Since(start))
				stored = err == nil && response.StatusCode == http.StatusOK
				if err != nil || response.Close {
					_ = conn.Close()
					conn = nil
				}
				if !stored {
					time.Sleep(time.Second + rand.N(time.Second))
				}
			}
			if conn != nil {
				_ = conn.Close()
			}
		})
	}
	clients.Wait()
}

func (s *senders) send(conn net.Conn, reader *bufio.Reader, answer *bytes.Buffer) (*http.Response, error) {
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	_, err := fmt.Fprintf(conn, "POST /paste HTTP/1.1\r\nHost: gluepot.test\r\nContent-Length: %d\r\n\r\n", len(s.body))
	if err == nil {
		_, err = conn.Write(s.body)
	}
	if err != nil {
		return nil, fmt.Errorf("while sending: %w", err)
	}
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	_, err = answer.ReadFrom(response.Body)
	return response, err
}

// note counts the outcome of a request.
func (s *senders) note(response *http.Response, answer []byte, err error, latency time.Duration) {
	const beginning, idLength = `{"_id":"`, 8
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.lost++
		s.sample("after %v: %v", latency, err)
		return
	case response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") != "":
		s.unavailable++
	case response.StatusCode == http.StatusOK && bytes.HasPrefix(answer, []byte(beginning)) &&
		bytes.Contains(answer, s.code):
		s.right++
		s.created = append(s.created, string(answer[len(beginning):len(beginning)+idLength]))
	default:
		s.wrong++
		s.sample("after %v: %d %.120s", latency, response.StatusCode, answer)
	}
	s.latencies = append(s.latencies, latency)
}

// wantStored checks that the acknowledged pastes are stored.
func (s *senders) wantStored(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	var code string
	if err := json.Unmarshal(fmt.Appendf(nil, `"%s"`, s.code), &code); err != nil {
		t.Fatal(err)
	}
	pastes := gormstore.NewPastes(database.Open(t, cfg))
	for _, id := range s.created {
		got, err := pastes.DocumentByID(t.Context(), paste.ID(id))
		if err != nil || len(got.Pasties) != 1 || got.Pasties[0].Code != code {
			t.Errorf("the paste %s: got %d pasties, error %v, want one with the code that was sent", id, len(got.Pasties), err)
		}
	}
}

// processorTime returns the processor time that a process has used.
func processorTime(t *testing.T, p *program.Process) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	var ticks int
	for _, field := range strings.Fields(rest)[11:13] { // in user mode and in the kernel
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}

// TestBurstOfLongBodies sends 2 MiB with each of 64 clients of one address at once, more than the node can hold. They
// must wait for their turn, or get a 503, and all must be stored in the end.
func TestBurstOfLongBodies(t *testing.T) {
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		node := program.Serve(t, cfg.URL)
		before, start := processorTime(t, node), time.Now()
		burst := newSenders(t, longLength)
		burst.run(t, node, func(stored bool) bool { return !stored })
		elapsed := time.Since(start).Round(10 * time.Millisecond)
		record(t, fmt.Sprint(bodyClients, " bodies of ", mib(longLength), " at once"),
			fmt.Sprint(&burst.tally, "; ", burst.wait()),
			"right or 503")
		record(t, "time for all of them", fmt.Sprint(elapsed, "; processor time of the node for each: ",
			(processorTime(t, node)-before)/bodyClients), "")
		wantPeakBelow(t, node, bodyMemory)
		burst.wantRightOr503(t, answerLimit)
		if burst.right != bodyClients {
			t.Errorf("got %d stored pastes, want %d", burst.right, bodyClients)
		}
		burst.wantStored(t, cfg)
	})
}

// wantNotSlowed checks that the p99 of lookups is at most three times that beside an ordinary load, plus a moment for a
// busy machine.
func wantNotSlowed(t *testing.T, lookups, ordinary *tally) {
	t.Helper()
	const moment = 100 * time.Millisecond
	if limit := 3*ordinary.percentile(0.99) + moment; lookups.percentile(0.99) > limit {
		t.Errorf("got a p99 of %v, want at most %v: three times %v, and %v", lookups.percentile(0.99), limit,
			ordinary.percentile(0.99), moment)
	}
}

// TestLongBodies sends 2 MiB repeatedly with each of 64 clients. They share the processors with the node and the
// database. That is why lookups are compared with those beside the same clients sending 2 KiB each, not with those on
// an idle machine.
func TestLongBodies(t *testing.T) {
	const lasting = 3 * time.Second
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		node := program.Serve(t, cfg.URL)
		background := startLookups(t, node)
		time.Sleep(2 * time.Second)
		alone := background.cut()
		send := func(length int) (sent *senders, beside *tally) {
			sent = newSenders(t, length)
			end := time.Now().Add(lasting)
			sent.run(t, node, func(bool) bool { return time.Now().Before(end) })
			beside = background.cut()
			record(t, fmt.Sprint(bodyClients, " clients that send ", length>>10, " KiB repeatedly"),
				fmt.Sprint(&sent.tally, "; ", sent.wait()),
				"right or 503")
			record(t, "lookups beside them", fmt.Sprint(beside, "; ", beside.wait()), "all right")
			sent.wantRightOr503(t, answerLimit)
			beside.wantAllRight(t)
			return sent, beside
		}
		record(t, "lookups alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
		alone.wantAllRight(t)
		_, besideShort := send(shortLength)
		long, besideLong := send(longLength)
		record(t, "p99 of the lookups beside 2 MiB", fmt.Sprint(besideLong.percentile(0.99)),
			"within 3 times that beside 2 KiB")
		wantPeakBelow(t, node, bodyMemory)
		wantNotSlowed(t, besideLong, besideShort)
		if long.right == 0 {
			t.Errorf("got %v, want some stored pastes", &long.tally)
		}
		long.wantStored(t, cfg)
	})
}

// TestSlowBodies announces 2 MiB with each of 64 clients and sends a byte a second. The node must refuse those for
// which it has no memory, and cut off the others when their time is over, without slowing other clients.
func TestSlowBodies(t *testing.T) {
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_READ_TIMEOUT=5s")
	background := startLookups(t, node)
	time.Sleep(2 * time.Second)
	alone, idle := background.cut(), residentMemory(t, node)
	var senders sync.WaitGroup
	var late atomic.Int64
	for range bodyClients {
		conn := dial(t, node)
		senders.Go(func() {
			_, err := fmt.Fprintf(conn, "POST /paste HTTP/1.1\r\nHost: gluepot.test\r\nContent-Length: %d\r\n\r\n", longLength)
			done := make(chan struct{})
			senders.Go(func() {
				defer close(done)
				_ = conn.SetReadDeadline(time.Now().Add(program.Patience))
				response, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil || !response.Close {
					t.Errorf("got %v, error %v, want an answer and the end of the connection", response, err)
					return
				}
				switch response.StatusCode {
				case http.StatusRequestTimeout:
					late.Add(1)
				case http.StatusServiceUnavailable:
				default:
					t.Errorf("got %s, want 408 or 503", response.Status)
				}
			})
			for err == nil {
				select {
				case <-done:
					return
				case <-time.After(time.Second):
					_, err = io.WriteString(conn, "{")
				}
			}
		})
	}
	waitForClients(t, node, bodyClients)
	senders.Wait()
	beside := background.stop()
	record(t, "lookups alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprint("lookups beside ", bodyClients, " clients that announce 2 MiB and send a byte a second"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right, p99 within 3 times")
	record(t, "resident memory before", mib(idle), "")
	record(t, "bodies that the node waited for", late.Load(), "some")
	if late.Load() == 0 {
		t.Error("got no 408, want one for each body that the node waited for")
	}
	wantPeakBelow(t, node, bodyMemory)
	alone.wantAllRight(t)
	beside.wantAllRight(t)
	wantNotSlowed(t, beside, alone)
}
