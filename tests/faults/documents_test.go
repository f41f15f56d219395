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
// acknowledged may have happened, but not partly: the title and the code of a paste change together.
type documentWriter struct {
	address atomic.Pointer[string] // of the running node, if any
	secret  string
	stop    chan struct{}
	writer  sync.WaitGroup

	mu                  sync.Mutex // held during a request, and while the pastes are checked
	pastes              []*writtenDocument
	created, edited     int // acknowledged requests
	unacknowledged      int
	checks, lost, halfs int
}

// writtenDocument is an acknowledged paste, with the numbers of its acknowledged and of all its edits.
type writtenDocument struct {
	id, pasty         string
	acknowledged      int
	attempts          int
	acknowledgedTitle string
}

// documentCode returns the code of a paste with this title, which is longer than a page of the database.
func documentCode(title string) string { return strings.Repeat("code of "+title+"\n", 1000) }

func startDocuments(t *testing.T, secret string) *documentWriter {
	t.Helper()
	w := &documentWriter{secret: secret, stop: make(chan struct{})}
	w.writer.Go(func() {
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
	document := w.pastes[rand.IntN(len(w.pastes))]
	pasty["_id"] = document.pasty
	document.attempts++
	if w.send(t, client, http.MethodPatch, "http://"+address+"/paste/"+document.id, body, &answer) {
		w.edited++
		document.acknowledgedTitle = title
		if document.acknowledged = len(answer.Edits) / 2; document.acknowledged > document.attempts {
			t.Errorf("the paste %s: got %d edits, want at most %d, the number of attempts", document.id, document.acknowledged,
				document.attempts)
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
	if err != nil { // the node was killed
		w.unacknowledged++
		time.Sleep(10 * time.Millisecond)
		return false
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(response.Body)
	switch {
	case response.StatusCode == http.StatusServiceUnavailable || err != nil:
		w.unacknowledged++
		time.Sleep(10 * time.Millisecond)
		return false
	case response.StatusCode != http.StatusOK:
		t.Errorf("%s %s: got %d %.200s, want 200 or 503", method, url, response.StatusCode, content)
		return false
	}
	if err := json.Unmarshal(content, answer); err != nil {
		t.Errorf("%s %s: got %.200s, want JSON: %v", method, url, content, err)
		return false
	}
	return true
}

// check reads each acknowledged paste, between two requests.
func (w *documentWriter) check(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checks++
	pastes := gormstore.NewPastes(database.Open(t, cfg))
	for _, document := range w.pastes {
		got, err := pastes.DocumentByID(t.Context(), paste.ID(document.id))
		edits := len(got.Edits) / 2
		switch {
		case err != nil || edits < document.acknowledged || edits == document.acknowledged &&
			got.Title != document.acknowledgedTitle:
			w.lost++
			t.Errorf("the paste %s: got %d edits, the title %q, error %v, want at least %d and %q", document.id, edits,
				got.Title, err,
				document.acknowledged, document.acknowledgedTitle)
		case len(got.Edits)%2 != 0 || edits > document.attempts || len(got.Pasties) != 1 ||
			got.Pasties[0].Code != documentCode(got.Title):
			w.halfs++
			t.Errorf("the paste %s: got %d entries of edits, %d pasties, the title %q, "+
				"want two entries for each of at most %d edits, and the title's code",
				document.id, len(got.Edits), len(got.Pasties), got.Title, document.attempts)
		}
		for i, e := range got.Edits {
			if e.Number != int64(i/2) {
				w.halfs++
				t.Errorf("the paste %s: got number %d at entry %d, want %d", document.id, e.Number, i, i/2)
			}
		}
	}
}
