package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestLongAnswers(t *testing.T) {
	for _, ids := range []int{0, 1, 1000, maxHeld/11 - 1, maxHeld / 11, maxHeld/11 + 1, 100_000, maxShared/11 + 1} {
		s := newStore()
		s.ids = ids
		api, _ := newTestAPI(t, s, DefaultConfig())
		folder := t.TempDir()
		t.Setenv("TMPDIR", folder)
		authorization := http.Header{"Authorization": {s.secret.Reveal()}}
		answer := request(api, http.MethodGet, "/user/self/pastes", authorization)
		if answer.Code != http.StatusOK || answer.Body.String() != s.list() {
			t.Errorf("%d ids: got %d and %d bytes, want 200 and %d", ids, answer.Code, answer.Body.Len(), len(s.list()))
		}
		length := strconv.Itoa(len(s.list()))
		if got := answer.Header().Get("Content-Length"); got != length && ids >= 1000 {
			t.Errorf("%d ids: got the length %q, want %s", ids, got, length)
		}

		// What was collected is not sent when the rest does not come, and nothing is left behind.
		s.failure = fault.New(fault.Unavailable, "away")
		answer = request(api, http.MethodGet, "/user/self/pastes", authorization)
		if answer.Code != http.StatusServiceUnavailable || !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%d ids and a failure: got %d %.100s, want 503 and nothing of the list", ids, answer.Code, answer.Body)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("left behind: got %v, error %v, want nothing", left, err)
		}
	}
}

func TestLongAnswersWithoutRoom(t *testing.T) {
	s := newStore()
	s.ids = tooLong
	api, lines := newTestAPI(t, s, DefaultConfig())
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	authorization := http.Header{"Authorization": {s.secret.Reveal()}}
	answer := request(api, http.MethodGet, "/user/self/pastes", authorization)
	if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" ||
		strings.Contains(answer.Body.String(), "TMPDIR") {
		t.Errorf("got %d %v %.300s, want 503, Retry-After and nothing about TMPDIR", answer.Code, answer.Header(), answer.Body)
	}
	if cause, _ := lines.All()[0].ContextMap()["error"].(string); !strings.Contains(cause, "missing") {
		t.Errorf("got the log %v, want the missing folder to be named in it", lines.All())
	}
	// A HEAD needs none.
	answer = request(api, http.MethodHead, "/user/self/pastes", authorization)
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Length") != strconv.Itoa(len(s.list())) {
		t.Errorf("HEAD: got %d %v, want 200 and the length %d", answer.Code, answer.Header(), len(s.list()))
	}
	s.failure = errors.New("x")
	if answer = request(api, http.MethodHead, "/user/self/pastes", authorization); answer.Code != http.StatusInternalServerError {
		t.Errorf("HEAD and a failure: got %d, want 500", answer.Code)
	}
}

// Answers that are held at the same time have so much memory in all. Those for which there is none are in files, with the same
// ETag, and what they had is there again for others.
func TestLongAnswersShareMemory(t *testing.T) {
	t.Parallel()
	const length = 1 << 20
	api := new(API)
	collect := func() *longAnswer {
		answer := api.newLongAnswer(false)
		answer.tagged = true
		for answer.length() < length {
			answer.text.WriteString(strings.Repeat("answer, ", 1<<10))
			if err := answer.spill(); err != nil {
				t.Fatal(err)
			}
		}
		return answer
	}
	const held = maxHeldInAll / (length - maxHeld)
	var answers []*longAnswer
	etags := make(map[string]int)
	for range held + 2 {
		answer := collect()
		etag, err := answer.etag()
		if err != nil {
			t.Fatal(err)
		}
		answers, etags[etag] = append(answers, answer), etags[etag]+1
	}
	inMemory := 0
	for _, answer := range answers {
		if answer.file == nil {
			inMemory++
		}
		recorder := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(recorder)
		if err := answer.send(c, jsonContentType); err != nil {
			t.Fatal(err)
		}
		if got := recorder.Body.String(); got != strings.Repeat("answer, ", length/8) {
			t.Errorf("got %d bytes, want the %d that were collected", len(got), length)
		}
	}
	if inMemory != held || len(etags) != 1 {
		t.Errorf("got %d answers in memory and the ETags %v, want %d and the same one for all", inMemory, etags, held)
	}
	for _, answer := range answers {
		answer.release()
	}
	if taken := api.answers.taken.Load(); taken != 0 {
		t.Errorf("got %d bytes taken when there is no answer, want 0", taken)
	}
	again := collect()
	defer again.release()
	if again.file != nil {
		t.Error("got a file for an answer that is alone, want none")
	}
}

// Readers that take their time hold little memory, however long the answer.
func TestSlowReadersMemory(t *testing.T) {
	const readers = 3
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
		status, err := p.reader.ReadString('\n') // the answer has begun
		if err != nil || !strings.Contains(status, " 200 ") {
			t.Fatalf("got %q, error %v, want 200", status, err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 10
	t.Logf("%d readers of 8 MiB hold %d KiB", readers, held)
	if held > readers*1024 {
		t.Errorf("got %d KiB held for %d readers, want at most 1024 each", held, readers)
	}
}
