package faults

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestUnreadAnswers requests long answers on 2,048 connections of eight addresses, hundreds of them for the longest
// that a stranger can get, and never reads them. The node has the memory and the settings of the shipped pod, or of the
// compose file and the unit, or the default settings: it must not be killed.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	t.Run("default", func(t *testing.T) {
		t.Parallel()
		leaveUnread(t, 256<<20)
	})
	for _, s := range shipped {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			beside := leaveUnread(t, s.memory, shippedSettings(t, s.files)...)
			if beside.right == 0 || beside.wrong+beside.lost > 0 {
				t.Errorf("look-ups: got %v, want them right or 503: %q", beside, beside.samples)
			}
		})
	}
}

// leaveUnread returns the outcome of look-ups during that time.
func leaveUnread(t *testing.T, podMemory int64, settings ...string) *tally {
	t.Helper()
	const (
		clients   = 2048
		addresses = 8
		longest   = 20 // connections of each address that ask for 12 MiB
		lasting   = 3 * time.Second
	)
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL, append(settings,
		"GLUEPOT_HTTP_REQUEST_TIMEOUT=25s", // only memory refuses, however slow the machine is
		"GLUEPOT_HTTP_WRITE_TIMEOUT=1m", "GLUEPOT_HTTP_IDLE_TIMEOUT=10s",
		fmt.Sprint("GOMEMLIMIT=", podMemory/10*9))...) // as a process sets it that starts in the cgroup
	group := confine(t, node, podMemory)
	// JSON has six bytes for each of these characters.
	long, short := createRaw(t, node, strings.Repeat("\x00", 2<<20)), createRaw(t, node, strings.Repeat("x", 200<<10))
	looking := load{clients: 4, pause: 200 * time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
	const unread = "GET %s HTTP/1.1\r\nHost: gluepot.test\r\n\r\n"
	most := 0
	var asking sync.WaitGroup
	var begun atomic.Int64
	for i := range addresses * longest {
		asking.Go(func() {
			conn := dialFrom(t, node, fmt.Sprint("127.0.2.", 1+i%addresses))
			_, _ = fmt.Fprintf(conn, unread, "/paste/"+long)
			status := make([]byte, len("HTTP/1.1 200"))
			_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
			if _, err := io.ReadFull(conn, status); err == nil && strings.HasSuffix(string(status), "200") {
				begun.Add(1)
			}
		})
	}
	asking.Wait() // the others got a 503: short answers would leave them no memory
	for i := range addresses {
		asking.Go(func() {
			for n := range clients/addresses - longest {
				conn := dialFrom(t, node, fmt.Sprint("127.0.2.", 1+i))
				_, _ = fmt.Fprintf(conn, unread, []string{"/paste/", "/"}[n%2]+short)
			}
		})
	}
	asking.Wait()
	for end := time.Now().Add(lasting); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		most = max(most, node.Connections())
	}
	beside := looking.stop()
	record(t, "connections that do not read", most, "")
	record(t, "answers of 12 MiB that were begun", begun.Load(), "some")
	record(t, "look-ups beside them", fmt.Sprint(beside, "; ", beside.wait()), "")
	record(t, "confined by a memory cgroup", group != "", "")
	peak := peakMemory(t, node) - memory(t, node, "RssFile") // the program itself, which the kernel can read again
	record(t, "peak of memory, without the program's file", mib(peak), "below "+mib(podMemory))
	if peak > podMemory {
		t.Errorf("got %s of memory, want at most %s", mib(peak), mib(podMemory))
	}
	if most < clients/4 || begun.Load() == 0 {
		t.Errorf("got %d connections and %d long answers, want hundreds and some", most, begun.Load())
	}
	wantNotKilled(t, group)
	program.Eventually(t, "the node answers others", func() bool {
		status, _ := node.Get("/user/epoxy", "")
		return status == http.StatusOK
	})
	return beside
}

// wantNotKilled wants a memory cgroup to have ended nothing; "" is none.
func wantNotKilled(t *testing.T, group string) {
	t.Helper()
	if group == "" {
		return
	}
	content, err := os.ReadFile(filepath.Join(group, "memory.oom_control"))
	if err != nil {
		content, err = os.ReadFile(filepath.Join(group, "memory.events"))
	}
	if err != nil || !strings.Contains(string(content), "oom_kill 0") {
		t.Errorf("got %q, error %v, want no kill", content, err)
	}
}

// createRaw creates a paste without a token and returns its id.
func createRaw(t *testing.T, node *program.Process, code string) string {
	t.Helper()
	response, err := http.Post("http://"+node.Address+"/raw", "text/plain", strings.NewReader(code))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing of it is needed
	if response.StatusCode != http.StatusOK {
		t.Fatalf("got %s, want a paste", response.Status)
	}
	return path.Base(response.Header.Get("Location"))
}

// confine gives a node a limit of memory, if this machine lets the test make a cgroup, and returns the folder of that,
// or "".
func confine(t *testing.T, node *program.Process, bytes int64) string {
	t.Helper()
	for _, version := range []struct{ root, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		group := filepath.Join(version.root, "gluepot-test-"+strconv.Itoa(node.Cmd.Process.Pid))
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { // the node is moved back to the root, or has ended
			_ = os.WriteFile(filepath.Join(version.root, "cgroup.procs"), []byte(strconv.Itoa(node.Cmd.Process.Pid)), 0)
			_ = os.Remove(group)
		})
		put := func(name string, value int64) error {
			file, err := os.OpenFile(filepath.Join(group, name), os.O_WRONLY, 0)
			if err != nil { // no cgroup
				return err
			}
			_, err = file.WriteString(strconv.FormatInt(value, 10))
			return errors.Join(err, file.Close())
		}
		if put(version.limit, bytes) == nil && put("cgroup.procs", int64(node.Cmd.Process.Pid)) == nil {
			return group
		}
	}
	return ""
}
