package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// servePastes serves an empty store of pastes on a free port.
func servePastes(t *testing.T, change func(*Config)) *Server {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Addr, cfg.DrainDelay = "127.0.0.1:0", 0
	if change != nil {
		change(&cfg)
	}
	api, _ := newPasteAPI(t, cfg, nil)
	server := NewServer(cfg, api, zap.NewNop())
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.http.Close() })
	return server
}

func (p *peer) write(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p, text); err != nil {
		p.t.Fatal(err)
	}
}

func announce(length int) string {
	return fmt.Sprintf("POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
}

// wantStatus reads an answer.
func (p *peer) wantStatus(status int, closes bool) {
	p.t.Helper()
	if response, body := p.receive(); response.StatusCode != status || response.Close != closes {
		p.t.Errorf("got %s, close: %t, %.200s, want %d and %t", response.Status, response.Close, body, status, closes)
	}
}

func TestBodiesOverTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	server := servePastes(t, func(cfg *Config) { cfg.PasteMaxBody = limit })
	chunked := func(length int) string {
		return fmt.Sprintf("POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
			length, strings.Repeat("x", length))
	}
	kept := dial(t, server)
	for _, length := range []int{1, firstBodyHeld - 1, firstBodyHeld, firstBodyHeld + 1, maxBodyHeld, maxBodyHeld + 1, limit} {
		kept.write(announce(length) + strings.Repeat("x", length))
		kept.wantStatus(http.StatusOK, false)
		kept.write(chunked(length))
		kept.wantStatus(http.StatusOK, false)
	}
	announced := dial(t, server)
	announced.write(announce(limit + 1)) // and nothing of it
	announced.wantStatus(http.StatusRequestEntityTooLarge, true)
	announced.isClosed()
	endless := dial(t, server)
	go func() { // until the server has had enough
		_, _ = io.WriteString(endless, "POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
		for {
			if _, err := io.WriteString(endless, "400\r\n"+strings.Repeat("x", 0x400)+"\r\n"); err != nil {
				return
			}
		}
	}()
	endless.wantStatus(http.StatusRequestEntityTooLarge, true)
	continuing := dial(t, server)
	continuing.write(strings.Replace(announce(limit+1), "\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n", 1))
	continuing.wantStatus(http.StatusRequestEntityTooLarge, true)
	kept.write(announce(1) + "x")
	kept.wantStatus(http.StatusOK, false)
}

// A client that sends everything before it reads sees the answer: it is not reset.
func TestRefusedBodyIsDropped(t *testing.T) {
	t.Parallel()
	server := servePastes(t, func(cfg *Config) { cfg.PasteMaxBody = 1000 })
	server.connections.lingering = patience // however slow this machine is
	p := dial(t, server)
	p.write(announce(16<<20) + strings.Repeat("x", 16<<20)) // more than the kernel holds
	p.wantStatus(http.StatusRequestEntityTooLarge, true)
	p.isClosed()
}

func TestBodiesThatDoNotArrive(t *testing.T) {
	t.Parallel()
	server := servePastes(t, func(cfg *Config) { cfg.ReadTimeout = 500 * time.Millisecond })
	slow, long, broken, ended := dial(t, server), dial(t, server), dial(t, server), dial(t, server)
	slow.write(announce(10) + "x")
	long.write(announce(2<<20) + strings.Repeat("x", 1<<20))
	broken.write("POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n")
	broken.wantStatus(http.StatusBadRequest, true)
	broken.isClosed()
	ended.write(announce(10) + "x")
	if half, ok := ended.Conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		t.Fatal("got a connection that is not TCP, want one")
	}
	ended.wantStatus(http.StatusBadRequest, true)
	slow.wantStatus(http.StatusRequestTimeout, true)
	slow.isClosed()
	long.wantStatus(http.StatusRequestTimeout, true)
}

// A body that has begun when the server is told to stop may take its time.
func TestBodiesWhileDraining(t *testing.T) {
	t.Parallel()
	server := servePastes(t, func(cfg *Config) { cfg.DrainTimeout, cfg.ReadTimeout = patience, patience })
	before, after := dial(t, server), dial(t, server)
	before.write(announce(2) + "x")
	server.api.StartDraining()
	after.write(announce(2) + "x")
	stopped := make(chan error, 1)
	go func() { stopped <- server.Stop(t.Context()) }()
	time.Sleep(3 * max(server.connections.lingering, server.silence)) // of which neither may be the end
	for _, p := range []*peer{before, after} {
		p.write("y")
		if response, body := p.receive(); response.StatusCode != http.StatusOK || !strings.Contains(body, `"code":"xy"`) {
			t.Errorf("got %s %s, want 200 and the code", response.Status, body)
		}
		_ = p.Close()
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Bodies on their way hold little memory, whatever they announce; they leave nothing behind.
func TestBodiesOnTheirWay(t *testing.T) {
	const clients, length = 32, 2 << 20
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	server := servePastes(t, func(cfg *Config) {
		cfg.ReadTimeout, cfg.RequestTimeout, cfg.WriteTimeout = patience, patience, 2*patience
	})
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	peers := make([]*peer, clients)
	for i := range peers {
		peers[i] = dial(t, server)
	}
	code := strings.Repeat("x", length)
	before := heap()
	var sending sync.WaitGroup
	for _, p := range peers {
		sending.Go(func() { p.write(announce(length) + code[:length-1]) })
	}
	sending.Wait()
	held := heap() - before
	t.Logf("%d bodies of %d MiB without their last byte hold %d KiB", clients, length>>20, held>>10)
	if held > clients*(maxBodyHeld+64<<10) {
		t.Errorf("got %d KiB held, want at most %d", held>>10, clients*(maxBodyHeld+64<<10)>>10)
	}
	for _, p := range peers {
		sending.Go(func() {
			p.write("x")
			p.wantStatus(http.StatusOK, false)
		})
	}
	sending.Wait()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("got %v left behind, error %v, want nothing", left, err)
	}
}

func TestBodiesWithoutRoom(t *testing.T) {
	api, _ := newPasteAPI(t, DefaultConfig(), nil)
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	long := send(api, http.MethodPost, "/raw", strings.Repeat("x", maxBodyHeld+1))
	if long.Code != http.StatusServiceUnavailable || long.Header().Get("Retry-After") == "" ||
		strings.Contains(long.Body.String(), "missing") {
		t.Errorf("got %d %v %s, want 503, Retry-After and nothing about the folder", long.Code, long.Header(), long.Body)
	}
	if short := send(api, http.MethodPost, "/raw", strings.Repeat("x", maxBodyHeld-1)); short.Code != http.StatusOK {
		t.Errorf("a short one: got %d %s, want 200", short.Code, short.Body)
	}
}

// Long bodies wait for each other, and no longer than their deadline; short ones wait for nobody.
func TestLongBodiesTakeTurns(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.RequestTimeout = 100 * time.Millisecond
	api, _ := newPasteAPI(t, cfg, nil)
	for range cap(api.longBodies) {
		api.longBodies <- struct{}{}
	}
	long := strings.Repeat("x", maxBodyHeld+1)
	if answer := send(api, http.MethodPost, "/raw", long); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503 while others have all places", answer.Code)
	}
	if answer := send(api, http.MethodPost, "/raw", "x"); answer.Code != http.StatusOK {
		t.Errorf("a short one: got %d, want 200", answer.Code)
	}
	<-api.longBodies
	for range 2 { // the first gives its place up
		if answer := send(api, http.MethodPost, "/raw", long); answer.Code != http.StatusOK {
			t.Errorf("got %d, want 200 when a place is free", answer.Code)
		}
	}
}

func TestContentEncoding(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"": false, "identity": false, "IDENTITY , identity": false, ",": false, "gzip": true, "identity,gzip": true, "x-identity": true,
	} {
		if got := encoded([]string{"identity", line}); got != want {
			t.Errorf("%q: got %t, want %t", line, got, want)
		}
	}
}

// Elements that take many times the memory of what a client sends are refused soon.
func TestArraysOfManyElements(t *testing.T) {
	t.Parallel()
	api, _ := newPasteAPI(t, DefaultConfig(), nil)
	for _, element := range []string{`{}`, `""`} {
		name := map[string]string{`{}`: "pasties", `""`: "tags"}[element]
		body := `{"` + name + `":[` + strings.Repeat(element+",", 600_000) + element + `]}`
		answer := send(api, http.MethodPost, "/paste", body)
		want := fmt.Sprintf("%s: there are more than %d.", name, maxParts)
		if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: got %d %s, want 400 and %q", name, answer.Code, answer.Body, want)
		}
	}
}

// Who waits for a place gets it in his turn, or is refused while there would still be time for an answer.
func TestLongBodiesWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate, long := make(longBodies, 1), &body{file: os.Stdin}
		leave, err := gate.enter(t.Context(), long)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := gate.enter(ctx, long); !fault.Is(err, fault.Unavailable) || time.Since(began) != 3*time.Second {
			t.Errorf("got %v after %v, want fault.Unavailable after 3 of 4 seconds", err, time.Since(began))
		}
		if _, err := gate.enter(ctx, new(body)); err != nil {
			t.Errorf("a short one: got %v, want it to enter", err)
		}
		var order []int
		for i := range 3 {
			go func() {
				leave, err := gate.enter(t.Context(), long)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, i)
				leave()
			}()
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		if !slices.Equal(order, []int{0, 1, 2}) {
			t.Errorf("got them entering in the order %v, want that in which they came", order)
		}
	})
}
