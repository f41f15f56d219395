package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestReaderEnds checks that reading a file ends with its context.
func TestReaderEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := OpenInput(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	reader, buffer := in.Reader(ctx), make([]byte, 10)
	if n, err := reader.Read(buffer); n != 10 || err != nil {
		t.Fatalf("got %d bytes, error %v, want 10", n, err)
	}
	cancel()
	if n, err := reader.Read(buffer); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %d bytes, error %v, want none and %v", n, err, context.Canceled)
	}
}
