package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Nobody but its reader ends a file in which no record comes, such as one of blank lines.
func TestReadingEndsWithoutRecords(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "users.json")
	if err := os.WriteFile(file, bytes.Repeat([]byte("\n"), 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := OpenInput(nil, file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	reader := in.Reader(ctx)
	if n, err := io.ReadFull(reader, make([]byte, 1000)); err != nil {
		t.Errorf("got %d bytes, error %v, want 1000", n, err)
	}
	cancel(enough)
	if n, err := reader.Read(make([]byte, 1000)); n > 0 || !errors.Is(err, enough) {
		t.Errorf("after the end: got %d bytes, error %v, want none and %v", n, err, enough)
	}
}
