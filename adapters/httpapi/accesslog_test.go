package httpapi

import (
	"context"
	"net/http"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// keeper is a host's core that encodes what it was given when it likes.
type keeper struct {
	zapcore.LevelEnabler

	kept *[][]zapcore.Field
}

func (k keeper) With([]zapcore.Field) zapcore.Core { return k }
func (k keeper) Sync() error                       { return nil }
func (k keeper) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, k)
}

func (k keeper) Write(_ zapcore.Entry, fields []zapcore.Field) error {
	*k.kept = append(*k.kept, fields)
	return nil
}

func TestLogFieldsMayBeKept(t *testing.T) {
	t.Parallel()
	var kept [][]zapcore.Field
	s := newStore()
	hooked := 0
	log := zap.New(keeper{zap.DebugLevel, &kept}, zap.Hooks(func(zapcore.Entry) error { hooked++; return nil }))
	api, err := New(DefaultConfig(), s.modules(), func(context.Context) error { return nil }, log)
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"/user/:username", "/user/:username/exists", "/user/self/pastes"}
	for _, path := range []string{"/user/epoxy", "/user/epoxy/exists", "/user/self/pastes"} {
		request(api, http.MethodGet, path, http.Header{"Authorization": {s.secret.Reveal()}})
	}
	if len(kept) != len(wanted) || hooked != len(wanted) {
		t.Fatalf("got %d lines and %d calls of the hook, want %d each", len(kept), hooked, len(wanted))
	}
	for i, fields := range kept {
		encoder := zapcore.NewMapObjectEncoder()
		for _, field := range fields {
			field.AddTo(encoder)
		}
		if encoder.Fields["route"] != wanted[i] {
			t.Errorf("line %d: got %v, want the route %s", i, encoder.Fields, wanted[i])
		}
	}
}
