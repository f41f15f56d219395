package faults

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// shippedInstallations are the installations of a public service that we ship, with their memory. The files of a row
// have the same settings.
var shippedInstallations = []struct {
	name   string
	files  []string
	memory int64
}{
	{"kubernetes", []string{"docs/operations/kubernetes/gluepot.yaml", "docs/operations/helm/values.yaml"}, 256 << 20},
	{"compose_and_systemd", []string{"compose.yaml", "docs/operations/systemd/gluepot.service"}, 384 << 20},
}

// shippedSetting matches the settings that limit attackers. Those of addresses and databases differ.
var shippedSetting = regexp.MustCompile(
	`(?m)^[^#\n]*?(GLUEPOT_(?:HTTP_MAX|LIMIT|ANONYMOUS|USER|STORE)_\w+)(?:, value: |: |=)"?(\w+)`)

func shippedSettings(t *testing.T, files []string) (settings []string) {
	t.Helper()
	for i, file := range files {
		content, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		var fileSettings []string
		for _, match := range shippedSetting.FindAllStringSubmatch(string(content), -1) {
			fileSettings = append(fileSettings, match[1]+"="+match[2])
		}
		slices.Sort(fileSettings)
		if len(fileSettings) < 9 || i > 0 && !slices.Equal(fileSettings, settings) {
			t.Fatalf("%s: got %q, want all limits, as in %s: %q", file, fileSettings, files[0], settings)
		}
		settings = fileSettings
	}
	return settings
}

// TestShippedValues runs a node with the settings and the memory that we ship. In turn, strangers repeatedly request
// the page of 2 MB of control characters, hold incomplete requests, guess passwords, and create pastes beyond their
// quota. Others must be answered, and the node must not be killed.
func TestShippedValues(t *testing.T) {
	for _, s := range shippedInstallations {
		t.Run(s.name, func(t *testing.T) {
			cfg := database.SQLite(t)
			program.Fixture(t, cfg)
			node := program.Serve(t, cfg.URL, append(shippedSettings(t, s.files), fmt.Sprint("GOMEMLIMIT=", s.memory/10*9))...)
			group := confine(t, node, s.memory)
			id := createRaw(t, node, strings.Repeat("\x01", 2<<20-100))
			background := load{clients: 4, pause: 100 * time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
			time.Sleep(time.Second)
			background.cut().wantAllRight(t)

			beside := func(attack string, do func()) {
				t.Helper()
				do()
				others := background.cut()
				record(t, "lookups beside "+attack, fmt.Sprint(others, "; ", others.wait()), "all right, or 503")
				others.wantRightOr503(t, answerLimit)
				if others.right == 0 {
					t.Errorf("%s: got no right lookups, want some", attack)
				}
			}
			beside("pages of control characters", func() { pages(t, node, id) })
			beside("half requests", func() {
				for range 1000 {
					conn := dialFrom(t, node, "127.0.0.2")
					_, _ = io.WriteString(conn, "GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\n") // the connection may be closed
				}
				time.Sleep(time.Second)
			})
			beside("passwords", func() { guessPasswords(t, node) })
			beside("pastes beyond the quota", func() { spend(t, node) })
			background.stop()
			wantNotKilled(t, group)
			peak := peakMemory(t, node) - memory(t, node, "RssFile")
			record(t, "peak of memory, without the program's file", mib(peak), "below "+mib(s.memory))
			if peak > s.memory {
				t.Errorf("got %s of memory, want at most %s", mib(peak), mib(s.memory))
			}
		})
	}
}

// pages requests the page of a paste 60 times, 15 times a second, from a few addresses.
func pages(t *testing.T, node *program.Process, id string) {
	t.Helper()
	const number, rate = 60, 15
	var callers sync.WaitGroup
	statuses := make([]int, number)
	for i := range number {
		callers.Go(func() {
			conn := dialFrom(t, node, fmt.Sprint("127.0.3.", 1+i%4))
			_, _ = fmt.Fprintf(conn, "GET /%s HTTP/1.1\r\nHost: gluepot.test\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
				id)
			_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
			answer, err := io.ReadAll(conn)
			if err != nil || len(answer) < len("HTTP/1.1 200") {
				t.Errorf("got %v, want an answer", err)
				return
			}
			_, _ = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &statuses[i])
		})
		time.Sleep(time.Second / rate)
	}
	callers.Wait()
	successes := 0
	for _, status := range statuses {
		if status == http.StatusOK {
			successes++
		} else if status != http.StatusServiceUnavailable {
			t.Errorf("got %d, want the page or 503", status)
		}
	}
	record(t, "pages of control characters", successes, fmt.Sprint("some of ", number))
	if successes == 0 {
		t.Error("got no pages, want some")
	}
}

// guessPasswords tries passwords with 500 clients at once. Some must get 401, and the others 503.
func guessPasswords(t *testing.T, node *program.Process) {
	t.Helper()
	const number = 500
	statuses, begin := make([]int, number), make(chan struct{})
	var callers sync.WaitGroup
	for i := range number {
		conn := dialFrom(t, node, fmt.Sprintf("127.0.%d.%d", 4+i/250, 1+i%250))
		body := fmt.Sprintf("name=user%d&password=tulip+river+stone", i)
		callers.Go(func() {
			<-begin
			_, _ = fmt.Fprintf(conn, "POST /sign-in HTTP/1.1\r\nHost: gluepot.test\r\nAccept: text/html\r\n"+
				"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
				len(body), body)
			_ = conn.SetReadDeadline(time.Now().Add(answerLimit))
			answer, err := io.ReadAll(conn)
			if err != nil || len(answer) < len("HTTP/1.1 401") {
				t.Errorf("got %v and %d bytes, want an answer", err, len(answer))
				return
			}
			_, _ = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &statuses[i])
		})
	}
	close(begin)
	callers.Wait()
	rejections := 0
	for _, status := range statuses {
		if status == http.StatusUnauthorized {
			rejections++
		} else if status != http.StatusServiceUnavailable {
			t.Errorf("got %d, want 401 or 503", status)
		}
	}
	record(t, "rejected passwords", rejections, fmt.Sprint("some of ", number))
	if rejections == 0 {
		t.Error("got no rejected passwords, want some")
	}
}

// spend creates pastes without a token until they are refused, and checks that they are within the quota of an hour.
func spend(t *testing.T, node *program.Process) {
	t.Helper()
	const quota = 60 // of which createRaw used one
	created, refusals := 0, 0
	for range 2 * quota {
		answer, err := http.Post("http://"+node.Address+"/raw", "text/plain", bytes.NewReader([]byte("spam")))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
			created++
		case http.StatusTooManyRequests:
			refusals++
		default:
			t.Errorf("got %s, want the paste or 429", answer.Status)
		}
	}
	record(t, "anonymous pastes of one client", created, fmt.Sprint("at most ", quota))
	if created == 0 || created > quota || refusals == 0 {
		t.Errorf("got %d pastes and %d refusals, want at most %d pastes and some refusals", created, refusals, quota)
	}
}
