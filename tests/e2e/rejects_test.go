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

// wantFiles compares a folder with what should be in it, and sees that others may read none of it.
func wantFiles(t *testing.T, folder string, wanted map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want, ok := wanted[entry.Name()]; !ok || string(text) != want {
			t.Errorf("%s has %q, want %q", entry.Name(), text, want)
		}
		if info, err := entry.Info(); err != nil || info.Mode().Type() == 0 && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), err)
		}
	}
	if len(entries) != len(wanted) {
		t.Errorf("%v, want %d files", entries, len(wanted))
	}
}

// TestImportRejectsFiles imports files of one name, over files that are there, and the rejects of rejects.
func TestImportRejectsFiles(t *testing.T) {
	t.Parallel()
	url, inputs, others := string(database.SQLite(t).URL), t.TempDir(), t.TempDir()
	secret := strings.Repeat("S", 44)
	users, key, paste := `{"_id":"u1","username":"-"}`, `{"_id":"u1","key":"`+secret+`"}`, `{"_id":"p1","ownerId":"later","createdAt":1}`
	usersFile := writeTo(t, inputs, "export.json", users+"\n")
	keysFile := writeTo(t, filepath.Join(makeFolder(t, inputs, "keys")), "export.json", key+"\n")
	pastesFile := writeTo(t, filepath.Join(makeFolder(t, inputs, "pastes")), "export.json", paste+"\nnonsense\n")

	folder := t.TempDir()
	code, first, report := runImport(t, url, folder, "--users", usersFile, "--api-keys", keysFile, "--pastes", pastesFile)
	wanted := map[string]string{
		"users-export.json.rejects":    users + "\n",
		"api-keys-export.json.rejects": key + "\n",
		"pastes-export.json.rejects":   paste + "\nnonsense\n",
	}
	wantFiles(t, folder, wanted)
	if code != 1 || first["users"].RejectsFile != filepath.Join(folder, "users-export.json.rejects") {
		t.Errorf("exit code %d, %+v", code, first)
	}
	for _, part := range []string{secret, `"_id"`, "nonsense"} {
		if strings.Contains(report, part) {
			t.Errorf("%s of a record is in the report: %s", part, report)
		}
	}

	// Neither a run without rejects nor one with others touches what is there.
	fine := writeTo(t, others, "export.json", `{"_id":"u2","username":"fine"}`)
	if code, _, report := runImport(t, url, folder, "--users", fine); code != 0 {
		t.Error(report)
	}
	wantFiles(t, folder, wanted)
	runImport(t, url, folder, "--users", writeTo(t, others, "export.json", "other\n"))
	wanted["users-export.json.2.rejects"] = "other\n"
	wantFiles(t, folder, wanted)

	// A rejects file is read while the rejects of it are written.
	rejects := filepath.Join(folder, "pastes-export.json.rejects")
	if code, _, report := runImport(t, url, t.TempDir(), "--users", write(t, `{"_id":"later","username":"later"}`)); code != 0 {
		t.Error(report)
	}
	_, again, _ := runImport(t, url, folder, "--pastes", rejects)
	wantSummary(t, "rejects", again["pastes"], 2, 1, 0, 0, 1)
	wanted["pastes-export.json.2.rejects"] = "nonsense\n"
	wantFiles(t, folder, wanted)

	// A link leads nowhere, even to a file that does not exist yet.
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Symlink(elsewhere, filepath.Join(folder, "api-keys-export.json.rejects")); err != nil {
		t.Fatal(err)
	}
	runImport(t, url, folder, "--api-keys", keysFile)
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("a link was followed")
	}
	if text, err := os.ReadFile(filepath.Join(folder, "api-keys-export.json.2.rejects")); err != nil || string(text) != key+"\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func makeFolder(t *testing.T, parent, name string) string {
	t.Helper()
	path := filepath.Join(parent, name)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestImportInterrupted signals imports whose input stays open: what was rejected is kept, and what is stored counted.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	const pastes = 2000 // two batches, after which the import waits for more
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		for _, stdin := range []bool{true, false} {
			t.Run(signal.String(), func(t *testing.T) {
				t.Parallel()
				url, folder := string(database.SQLite(t).URL), t.TempDir()
				args, name := []string{"import", "pastemyst", "--json", "--rejects-dir", folder, "--pastes"}, "stdin"
				var p *program.Process
				var input *os.File
				if stdin {
					r, w, err := os.Pipe()
					if err != nil {
						t.Fatal(err)
					}
					defer r.Close() //nolint:errcheck // the program has one of its own
					p, input = program.StartReading(t, r, []string{"GLUEPOT_DATABASE_URL=" + url}, append(args, "-")...), w
				} else {
					name = "fifo"
					fifo := filepath.Join(t.TempDir(), name)
					if err := syscall.Mkfifo(fifo, 0o600); err != nil {
						t.Fatal(err)
					}
					opened, err := os.OpenFile(fifo, os.O_RDWR, 0) // which does not wait for a reader
					if err != nil {
						t.Fatal(err)
					}
					p, input = program.Start(t, []string{"GLUEPOT_DATABASE_URL=" + url}, append(args, fifo)...), opened
				}
				defer input.Close() //nolint:errcheck // it is all written
				var text strings.Builder
				for i := range pastes {
					id := id36('p', i)
					if i == 1 {
						id = "not an id"
					}
					text.WriteString(`{"_id":"` + id + `","createdAt":1}` + "\n")
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
				if text, err := os.ReadFile(rejects); err != nil || string(text) != `{"_id":"not an id","createdAt":1}`+"\n" {
					t.Errorf("%q, %v", text, err)
				}
				if signal != syscall.SIGKILL {
					if code != 1 || !strings.Contains(report, "signal received") || !strings.Contains(report, "import pastes from ") {
						t.Errorf("exit code %d: %s", code, report)
					}
					if s := got["pastes"]; s.New != s.Read-1 || s.New < pastes/2-1 || s.Rejected != 1 || s.RejectsFile != rejects {
						t.Errorf("%+v", s)
					}
				}
				// The next run leaves it alone.
				_, again, _ := runImport(t, url, folder, "--pastes", writeTo(t, t.TempDir(), name, text.String()))
				if s := again["pastes"]; s.Read != pastes || s.Unchanged < pastes/2-1 || s.New+s.Unchanged != pastes-1 || s.Rejected != 1 {
					t.Errorf("%+v", s)
				}
				if info, err := os.Stat(filepath.Join(folder, "pastes-"+name+".2.rejects")); err != nil || info.Mode() != fs.FileMode(0o600) {
					t.Errorf("%v, %v", info, err)
				}
			})
		}
	}
}
