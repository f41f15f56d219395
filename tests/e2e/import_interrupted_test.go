package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// writeTo writes a file and returns its path.
func writeTo(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestImportInterrupted interrupts imports whose input stays open. They must keep rejected records and count stored
// ones.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	const pastes = 2000 // two batches; then the import waits for more
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		for _, stdin := range []bool{true, false} {
			t.Run(signal.String(), func(t *testing.T) {
				t.Parallel()
				url, folder := database.SQLite(t).URL, t.TempDir()
				args, name := []string{"import", "pastemyst", "--json", "--rejects-dir", folder, "--pastes"}, "stdin"
				var p *program.Process
				var input *os.File
				if stdin {
					r, w, err := os.Pipe()
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close() //nolint:errcheck // the program has its own
					p, input = program.StartReading(t, r, []string{"GLUEPOT_DATABASE_URL=" + url}, append(args, "-")...), w
				} else {
					name = "fifo"
					fifo := filepath.Join(t.TempDir(), name)
					if err := syscall.Mkfifo(fifo, 0o600); err != nil {
						t.Fatal(err)
					}
					file, err := os.OpenFile(fifo, os.O_RDWR, 0) // does not wait for a reader
					if err != nil {
						t.Fatal(err)
					}
					p, input = program.Start(t, []string{"GLUEPOT_DATABASE_URL=" + url}, append(args, fifo)...), file
				}
				defer input.Close() //nolint:errcheck // everything was written
				var text strings.Builder
				for i := range pastes {
					id := id36('p', i)
					if i == 1 {
						id = "not an id"
					}
					text.WriteString(`{"_id":"` + id + `","createdAt":1,"pasties":[]}` + "\n")
				}
				if _, err := input.WriteString(text.String()); err != nil {
					t.Fatal(err)
				}
				rejects := filepath.Join(folder, "pastes-"+name+".rejects")
				program.Eventually(t, "a record is rejected", func() bool {
					_, err := os.Stat(rejects)
					return err == nil && strings.Contains(p.Stderr.String(), ":2: ")
				})
				p.Signal(signal)
				code, got, report := endOfImport(t, p)
				if text, err := os.ReadFile(rejects); err != nil ||
					string(text) != `{"_id":"not an id","createdAt":1,"pasties":[]}`+"\n" {
					t.Errorf("got the rejects %q, error %v, want the second record", text, err)
				}
				if signal != syscall.SIGKILL {
					if code != 1 || !strings.Contains(report, "signal received") || !strings.Contains(report, "import pastes from ") {
						t.Errorf("got exit code %d, want 1 and the signal in %s", code, report)
					}
					if s := got["pastes"]; s.New != s.Read-1 || s.New < pastes/2-1 || s.Rejected != 1 || s.RejectsFile != rejects {
						t.Errorf("got %+v, want at least one of two batches of %d, and one record in %s", s, pastes/2, rejects)
					}
				}
				// The next run does not overwrite the file.
				_, again, _ := runImport(t, url, folder, "--pastes", writeTo(t, t.TempDir(), name, text.String()))
				if s := again["pastes"]; s.Read != pastes || s.Unchanged < pastes/2-1 || s.New+s.Unchanged != pastes-1 ||
					s.Rejected != 1 {
					t.Errorf("again: got %+v, want the first batch unchanged and the rest new, of %d", s, pastes)
				}
				if info, err := os.Stat(filepath.Join(folder, "pastes-"+name+".2.rejects")); err != nil ||
					info.Mode() != fs.FileMode(0o600) {
					t.Errorf("the second file of rejects: got %v, error %v, want one of mode -rw-------", info, err)
				}
			})
		}
	}
}
