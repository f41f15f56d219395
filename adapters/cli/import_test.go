package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schollz/progressbar/v3"

	"github.com/gluepot/gluepot/adapters/pastemyst"
)

// A file may grow while it is read. The bar knows only how long it was at first.
func TestProgressOfGrowingFile(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 3} {
		p := &progress{bar: progressbar.NewOptions64(size, progressbar.OptionSetWriter(io.Discard))}
		if text, err := io.ReadAll(io.TeeReader(strings.NewReader("longer"), p)); err != nil || string(text) != "longer" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// A file in which no record comes ends with the import nevertheless.
func TestReadingEndsWithoutRecords(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	for name, text := range map[string]string{"blank lines": "\n", "one line": "x"} {
		for _, array := range []bool{false, true} {
			file := filepath.Join(t.TempDir(), "users.json")
			if err := os.WriteFile(file, bytes.Repeat([]byte(text), 4<<20), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := new(Commands).openInput(file)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			read := 0
			counted := readerFunc(func(p []byte) (int, error) {
				n, err := in.reader(ctx).Read(p)
				read += n
				cancel(enough)
				return n, err
			})
			for _, err = range pastemyst.Users(counted, array) {
				if err != nil {
					break
				}
			}
			if read > 1<<20 || !errors.Is(err, enough) {
				t.Errorf("%s, array %t: %d bytes were read after the end, %v", name, array, read, err)
			}
			in.close()
		}
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
