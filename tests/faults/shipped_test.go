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

// shipped are the values for a public service that we ship, and the memory that goes with them. Files of one row ship
// the same.
var shipped = []struct {
	name   string
	files  []string
	memory int64
}{
	{"kubernetes", []string{"docs/operations/kubernetes/gluepot.yaml", "docs/operations/helm/values.yaml"}, 256 << 20},
	{"compose_and_systemd", []string{"compose.yaml", "docs/operations/systemd/gluepot.service"}, 384 << 20},
}

// shippedSetting is one that matters to attackers; those about addresses and databases are an installation's own.
var shippedSetting = regexp.MustCompile(
	`(?m)^[^#\n]*?(GLUEPOT_(?:HTTP_MAX|LIMIT|ANONYMOUS|USER|STORE)_\w+)(?:, value: |: |=)"?(\w+)`)

func shippedSettings(t *testing.T, files []string) (settings []string) {
	t.Helper()
	for i, file := range files {
		content, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		var own []string
		for _, match := range shippedSetting.FindAllStringSubmatch(string(content), -1) {
			own = append(own, match[1]+"="+match[2])
		}
		slices.Sort(own)
		if len(own) < 9 || i > 0 && !slices.Equal(own, settings) {
			t.Fatalf("%s: got %q, want all limits, as in %s: %q", file, own, files[0], settings)
		}
		settings = own
	}
	return settings
}

// TestShippedValues runs a node with the settings and the memory that we ship. Strangers request the page of 2 MB of
// control characters again and again, hold incomplete requests, guess passwords, and create pastes beyond their quota,
// one after the other: others are answered all the time, and the node is not killed.
func TestShippedValues(t *testing.T) {
	for _, s := range shipped {
		t.Run(s.name, func(t *testing.T) {
			cfg := database.SQLite(t)
			program.Fixture(t, cfg)
			node := program.Serve(t, cfg.URL, append(shippedSettings(t, s.files), fmt.Sprint("GOMEMLIMIT=", s.memory/10*9))...)
			group := confine(t, node, s.memory)
			hard := createRaw(t, node, strings.Repeat("\x01", 2<<20-100))
			looking := load{clients: 4, pause: 100 * time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
			time.Sleep(time.Second)
			looking.cut().wantAllRight(t)

			beside := func(attack string, do func()) {
				t.Helper()
				do()
				others := looking.cut()
				record(t, "look-ups beside "+attack, fmt.Sprint(others, "; ", others.wait()), "all right, or 503")
				others.wantRightOr503(t, answerLimit)
				if others.right == 0 {
					t.Errorf("%s: got no look-up answered", attack)
				}
			}
			beside("pages of control characters", func() { pages(t, node, hard) })
			beside("half requests", func() {
				for range 1000 {
					conn := dialFrom(t, node, "127.0.0.2")
					_, _ = io.WriteString(conn, "GET /user/epoxy HTTP/1.1\r\nHost: gluepot.test\r\n") // it may be closed already
				}
				time.Sleep(time.Second)
			})
			beside("passwords", func() { guessPasswords(t, node) })
			beside("pastes beyond the quota", func() { spend(t, node) })
			looking.stop()
			wantNotKilled(t, group)
			peak := peakMemory(t, node) - memory(t, node, "RssFile")
			record(t, "peak of memory, without the program's file", mib(peak), "below "+mib(s.memory))
			if peak > s.memory {
				t.Errorf("got %s of memory, want at most %s", mib(peak), mib(s.memory))
			}
		})
	}
}

// pages asks for the page of a paste for a while, from a few addresses: 15 a second.
func pages(t *testing.T, node *program.Process, id string) {
	t.Helper()
	const number, rate = 60, 15
	var asking sync.WaitGroup
	statuses := make([]int, number)
	for i := range number {
		asking.Go(func() {
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
	asking.Wait()
	rows := 0
	for _, status := range statuses {
		if status == http.StatusOK {
			rows++
		} else if status != http.StatusServiceUnavailable {
			t.Errorf("got %d, want the page or 503", status)
		}
	}
	record(t, "pages of control characters that were shown", rows, fmt.Sprint("some of ", number))
	if rows == 0 {
		t.Error("got no page shown")
	}
}

// guessPasswords has 500 clients try a password at once: some are told that it is wrong, the others to come again.
func guessPasswords(t *testing.T, node *program.Process) {
	t.Helper()
	const number = 500
	statuses, begin := make([]int, number), make(chan struct{})
	var guessing sync.WaitGroup
	for i := range number {
		conn := dialFrom(t, node, fmt.Sprintf("127.0.%d.%d", 4+i/250, 1+i%250))
		body := fmt.Sprintf("name=user%d&password=tulip+river+stone", i)
		guessing.Go(func() {
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
	guessing.Wait()
	compared := 0
	for _, status := range statuses {
		if status == http.StatusUnauthorized {
			compared++
		} else if status != http.StatusServiceUnavailable {
			t.Errorf("got %d, want 401 or 503", status)
		}
	}
	record(t, "passwords that were compared", compared, fmt.Sprint("some of ", number))
	if compared == 0 {
		t.Error("got no password compared")
	}
}

// spend creates pastes without a token until that is refused, and wants it to be within the quota of an hour.
func spend(t *testing.T, node *program.Process) {
	t.Helper()
	const quota = 60 // createRaw has used one
	created, limited := 0, 0
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
			limited++
		default:
			t.Errorf("got %s, want the paste or 429", answer.Status)
		}
	}
	record(t, "anonymous pastes of one client", created, fmt.Sprint("at most ", quota))
	if created == 0 || created > quota || limited == 0 {
		t.Errorf("got %d pastes, and %d refused, want at most %d", created, limited, quota)
	}
}
