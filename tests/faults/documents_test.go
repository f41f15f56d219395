package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// documentWriter creates and edits pastes with content over HTTP, on nodes that are killed. Writes that were not
// acknowledged may have happened, but not by half: the title and the code of a paste change together.
type documentWriter struct {
	address atomic.Pointer[string] // of the node that is running; nil: none is
	secret  string
	stop    chan struct{}
	working sync.WaitGroup

	mu                  sync.Mutex // held while a request is under way, and while the pastes are checked
	pastes              []*writtenDocument
	created, edited     int // acknowledged
	unacknowledged      int
	checks, lost, halfs int
}

// writtenDocument is a paste that was acknowledged, and how many edits of it.
type writtenDocument struct {
	id, pasty         string
	acknowledged      int
	tried             int
	acknowledgedTitle string
}

// documentCode is what a paste with that title holds: more than fits into a page of the database.
func documentCode(title string) string { return strings.Repeat("code of "+title+"\n", 1000) }

func startDocuments(t *testing.T, secret string) *documentWriter {
	t.Helper()
	w := &documentWriter{secret: secret, stop: make(chan struct{})}
	w.working.Go(func() {
		client := &http.Client{Timeout: promptly, Transport: &http.Transport{}}
		for n := 0; ; n++ {
			select {
			case <-w.stop:
				return
			default:
			}
			if address := w.address.Load(); address != nil {
				w.step(t, client, *address, n)
			} else {
				time.Sleep(time.Millisecond)
			}
		}
	})
	return w
}

func (w *documentWriter) step(t *testing.T, client *http.Client, address string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	title := fmt.Sprint("title ", n)
	pasty := map[string]any{"title": "a", "code": documentCode(title)}
	body := map[string]any{"title": title, "pasties": []any{pasty}}
	var answer struct {
		ID      string `json:"_id"`
		Pasties []struct {
			ID string `json:"_id"`
		}
		Edits []struct{}
	}
	if len(w.pastes) == 0 || rand.IntN(3) == 0 {
		if w.send(t, client, http.MethodPost, "http://"+address+"/paste", body, &answer) {
			w.created++
			w.pastes = append(w.pastes, &writtenDocument{id: answer.ID, pasty: answer.Pasties[0].ID, acknowledgedTitle: title})
		}
		return
	}
	edited := w.pastes[rand.IntN(len(w.pastes))]
	pasty["_id"] = edited.pasty
	edited.tried++
	if w.send(t, client, http.MethodPatch, "http://"+address+"/paste/"+edited.id, body, &answer) {
		w.edited++
		edited.acknowledgedTitle = title
		if edited.acknowledged = len(answer.Edits) / 2; edited.acknowledged > edited.tried {
			t.Errorf("the paste %s: got %d edits of %d that were tried", edited.id, edited.acknowledged, edited.tried)
		}
	}
}

// send reports whether the request was acknowledged.
func (w *documentWriter) send(t *testing.T, client *http.Client, method, url string, body, answer any) bool {
	text, err := json.Marshal(body)
	if err != nil {
		t.Error(err)
		return false
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(text))
	if err != nil {
		t.Error(err)
		return false
	}
	request.Header.Set("Authorization", w.secret)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil { // the node is gone
		w.unacknowledged++
		time.Sleep(10 * time.Millisecond)
		return false
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	read, err := io.ReadAll(response.Body)
	switch {
	case response.StatusCode == http.StatusServiceUnavailable || err != nil:
		w.unacknowledged++
		time.Sleep(10 * time.Millisecond)
		return false
	case response.StatusCode != http.StatusOK:
		t.Errorf("%s %s: got %d %.200s, want 200 or 503", method, url, response.StatusCode, read)
		return false
	}
	if err := json.Unmarshal(read, answer); err != nil {
		t.Errorf("%s %s: got %.200s, want JSON: %v", method, url, read, err)
		return false
	}
	return true
}

// check reads each paste that was acknowledged, between two requests.
func (w *documentWriter) check(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checks++
	pastes := gormstore.NewPastes(database.Open(t, cfg))
	for _, written := range w.pastes {
		got, err := pastes.DocumentByID(t.Context(), paste.ID(written.id))
		edits := len(got.Edits) / 2
		switch {
		case err != nil || edits < written.acknowledged || edits == written.acknowledged &&
			got.Title != written.acknowledgedTitle:
			w.lost++
			t.Errorf("the paste %s: got %d edits, the title %q, error %v, want at least %d and %q", written.id, edits,
				got.Title, err,
				written.acknowledged, written.acknowledgedTitle)
		case len(got.Edits)%2 != 0 || edits > written.tried || len(got.Pasties) != 1 ||
			got.Pasties[0].Code != documentCode(got.Title):
			w.halfs++
			t.Errorf("the paste %s: got %d entries of edits, %d pasties, the title %q, "+
				"want two for each of at most %d, and its code",
				written.id, len(got.Edits), len(got.Pasties), got.Title, written.tried)
		}
		for i, e := range got.Edits {
			if e.Number != int64(i/2) {
				w.halfs++
				t.Errorf("the paste %s: got number %d at entry %d, want %d", written.id, e.Number, i, i/2)
			}
		}
	}
}
