package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestReaderEnds wants a file to be read no further once its context has ended.
func TestReaderEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<30); err != nil { // too long to be read to its end meanwhile
		t.Fatal(err)
	}
	in, err := OpenInput(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(t.Context())
	reader, some := in.Reader(ctx), make([]byte, 10)
	if n, err := reader.Read(some); n != 10 || err != nil {
		t.Fatalf("got %d bytes, error %v, want 10", n, err)
	}
	cancel()
	if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{reader}, some); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %d further bytes, error %v, want %v before the end", n, err, os.ErrClosed)
	}
}
