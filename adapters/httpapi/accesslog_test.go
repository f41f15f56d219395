package httpapi

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// keeper is an embedder's core that encodes what it was given when it likes.
type keeper struct {
	zapcore.LevelEnabler

	mu    sync.Mutex
	lines []keptLine
}

type keptLine struct {
	entry  zapcore.Entry
	fields []zapcore.Field // the slice that was given, not a copy
}

func (k *keeper) With([]zapcore.Field) zapcore.Core { return k }
func (k *keeper) Sync() error                       { return nil }
func (k *keeper) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, k)
}

func (k *keeper) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines = append(k.lines, keptLine{entry, fields})
	return nil
}

// Entries and fields belong to whoever is given them: after many requests at once each line still tells of its own.
func TestLogLinesMayBeKept(t *testing.T) {
	t.Parallel()
	const clients, rounds = 8, 50
	type told struct {
		route  string
		status int64
		level  zapcore.Level
	}
	kinds := map[string]told{
		"/user/epoxy":             {"/user/:username", http.StatusOK, zap.InfoLevel},
		"/user/epoxy/exists":      {"/user/:username/exists", http.StatusOK, zap.InfoLevel},
		"/user/self/pastes":       {"/user/self/pastes", http.StatusOK, zap.InfoLevel},
		"/data/language?name=":    {"/data/language", http.StatusBadRequest, zap.InfoLevel},
		"/data/language?name=Go/": {"/data/language", http.StatusNotFound, zap.InfoLevel},
		"/readyz":                 {"/readyz", http.StatusServiceUnavailable, zap.ErrorLevel},
	}
	s := newStore()
	core := &keeper{LevelEnabler: zap.DebugLevel}
	hooked := zap.Hooks(func(zapcore.Entry) error { return nil }) // wraps the core
	unready := func(context.Context) error { return errDraining }
	api, err := New(DefaultConfig(), s.modules(), unready, zap.New(core, hooked))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	want := map[string]told{} // by request id
	var asking sync.WaitGroup
	for range clients {
		asking.Go(func() {
			for range rounds {
				for path, line := range kinds {
					answer := request(api, http.MethodGet, path, http.Header{"Authorization": {s.secret.Reveal()}})
					mu.Lock()
					want[answer.Header().Get(requestIDHeader)] = line
					mu.Unlock()
				}
			}
		})
	}
	asking.Wait()
	if got, want := len(core.lines), clients*rounds*len(kinds); got != want {
		t.Fatalf("got %d lines, want %d", got, want)
	}
	for _, line := range core.lines {
		encoder := zapcore.NewMapObjectEncoder()
		for _, field := range line.fields {
			field.AddTo(encoder)
		}
		id, _ := encoder.Fields["request_id"].(string)
		route, _ := encoder.Fields["route"].(string)
		status, _ := encoder.Fields["status"].(int64)
		got := told{route, status, line.entry.Level}
		if want, asked := want[id]; !asked || got != want || line.entry.Message != "request" {
			t.Errorf("request %s: got %q %+v, want %q %+v", id, line.entry.Message, got, "request", want)
		}
		delete(want, id) // a second line about it would be wrong
	}
}
