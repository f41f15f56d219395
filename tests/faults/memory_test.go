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

// TestUnreadAnswers requests long answers on 2,048 connections from eight addresses, some of them the longest that a
// stranger can get, and never reads them. The node has the default settings, or the memory and the settings of the
// shipped pod, or those of the compose file and the unit. It must not be killed.
func TestUnreadAnswers(t *testing.T) {
	t.Parallel()
	t.Run("default", func(t *testing.T) {
		t.Parallel()
		leaveUnread(t, 256<<20)
	})
	for _, s := range shippedInstallations {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			beside := leaveUnread(t, s.memory, shippedSettings(t, s.files)...)
			if beside.right == 0 || beside.wrong+beside.lost > 0 {
				t.Errorf("lookups: got %v, want right answers or 503: %q", beside, beside.samples)
			}
		})
	}
}

// leaveUnread sends requests without reading the answers, and returns the outcome of lookups beside them.
func leaveUnread(t *testing.T, podMemory int64, settings ...string) *tally {
	t.Helper()
	const (
		clients   = 2048
		addresses = 8
		longest   = 20 // connections of each address that request 12 MiB
		lasting   = 3 * time.Second
	)
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL, append(settings,
		"GLUEPOT_HTTP_REQUEST_TIMEOUT=25s", // a slow machine must not cause refusals
		"GLUEPOT_HTTP_WRITE_TIMEOUT=1m", "GLUEPOT_HTTP_IDLE_TIMEOUT=10s",
		fmt.Sprint("GOMEMLIMIT=", podMemory/10*9))...) // as the program sets it when it starts in a cgroup
	group := confine(t, node, podMemory)
	// JSON escapes each of these characters with six bytes.
	long, short := createRaw(t, node, strings.Repeat("\x00", 2<<20)), createRaw(t, node, strings.Repeat("x", 200<<10))
	background := load{clients: 4, pause: 200 * time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
	const unread = "GET %s HTTP/1.1\r\nHost: gluepot.test\r\n\r\n"
	peakConnections := 0
	var callers sync.WaitGroup
	var longAnswers atomic.Int64
	for i := range addresses * longest {
		callers.Go(func() {
			conn := dialFrom(t, node, fmt.Sprint("127.0.2.", 1+i%addresses))
			_, _ = fmt.Fprintf(conn, unread, "/paste/"+long)
			status := make([]byte, len("HTTP/1.1 200"))
			_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
			if _, err := io.ReadFull(conn, status); err == nil && strings.HasSuffix(string(status), "200") {
				longAnswers.Add(1)
			}
		})
	}
	callers.Wait() // the long answers come first: short ones would leave no memory for them
	for i := range addresses {
		callers.Go(func() {
			for n := range clients/addresses - longest {
				conn := dialFrom(t, node, fmt.Sprint("127.0.2.", 1+i))
				_, _ = fmt.Fprintf(conn, unread, []string{"/paste/", "/"}[n%2]+short)
			}
		})
	}
	callers.Wait()
	for end := time.Now().Add(lasting); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		peakConnections = max(peakConnections, node.Connections())
	}
	beside := background.stop()
	record(t, "connections that do not read", peakConnections, "")
	record(t, "answers of 12 MiB that began", longAnswers.Load(), "some")
	record(t, "lookups beside them", fmt.Sprint(beside, "; ", beside.wait()), "")
	record(t, "confined by a memory cgroup", group != "", "")
	peak := peakMemory(t, node) - memory(t, node, "RssFile") // without the program's file, which the kernel can read again
	record(t, "peak of memory, without the program's file", mib(peak), "below "+mib(podMemory))
	if peak > podMemory {
		t.Errorf("got %s of memory, want at most %s", mib(peak), mib(podMemory))
	}
	if peakConnections < clients/4 || longAnswers.Load() == 0 {
		t.Errorf("got %d connections and %d long answers, want at least 512 and 1", peakConnections, longAnswers.Load())
	}
	wantNotKilled(t, group)
	program.Eventually(t, "the node answers other clients", func() bool {
		status, _ := node.Get("/user/epoxy", "")
		return status == http.StatusOK
	})
	return beside
}

// wantNotKilled checks that a memory cgroup has killed no process. group is "" without a cgroup.
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
		t.Errorf("got %q, error %v, want oom_kill 0", content, err)
	}
}

// createRaw creates a paste without a token and returns its id.
func createRaw(t *testing.T, node *program.Process, code string) string {
	t.Helper()
	response, err := http.Post("http://"+node.Address+"/raw", "text/plain", strings.NewReader(code))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is not needed
	if response.StatusCode != http.StatusOK {
		t.Fatalf("got %s, want a paste", response.Status)
	}
	return path.Base(response.Header.Get("Location"))
}

// confine limits a node's memory, if the test may create a cgroup, and returns the folder of the cgroup, or "".
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
			if err != nil { // not a cgroup
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
