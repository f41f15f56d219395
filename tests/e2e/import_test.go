package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// summary is a line of the output of "import --json".
type summary struct {
	Kind                                    string
	Read, New, Updated, Unchanged, Rejected int64
	RejectsFile                             string
}

// runImport runs the command without the race detector, which watches the interrupted imports, in its own folder. It
// returns its exit code and output.
func runImport(t *testing.T, url, folder string,
	args ...string) (code int, summaries map[string]summary, report string) {
	t.Helper()
	p := program.StartShipped(t, []string{"GLUEPOT_DATABASE_URL=" + url}, append([]string{"import", "pastemyst", "--json",
		"--rejects-dir", folder}, args...)...)
	return endOfImport(t, p)
}

// endOfImport waits for an import to end, and returns its exit code and output.
func endOfImport(t *testing.T, p *program.Process) (code int, summaries map[string]summary, report string) {
	t.Helper()
	select {
	case <-p.Exited:
	case <-time.After(5 * time.Minute):
		t.Fatal("got an import that still runs after five minutes, want its end")
	}
	summaries = map[string]summary{}
	for decoder := json.NewDecoder(strings.NewReader(p.Stdout.String())); decoder.More(); {
		var s summary
		if err := decoder.Decode(&s); err != nil {
			t.Fatal(err)
		}
		summaries[s.Kind] = s
	}
	return p.Cmd.ProcessState.ExitCode(), summaries, p.Stderr.String()
}

func wantSummary(t *testing.T, what string, got summary, read, fresh, updated, unchanged, rejected int64) {
	t.Helper()
	if got.Read != read || got.New != fresh || got.Updated != updated || got.Unchanged != unchanged ||
		got.Rejected != rejected {
		t.Errorf("%s: got %+v, want %d read, %d new, %d updated, %d unchanged, %d rejected", what, got, read, fresh,
			updated, unchanged, rejected)
	}
}

// compareWithExport compares the answers about every step-th user of an export with the state that it describes.
func compareWithExport(t *testing.T, server *program.Process, e *export, step int) {
	t.Helper()
	if _, body := wantStatus(t, server, "/data/numPastes", http.StatusOK); body != fmt.Sprintf(`{"numPastes":%d}`,
		e.want.active) {
		t.Errorf("got %s, want %d", body, e.want.active)
	}
	count := 0
	for id, code := range e.want.codes { // in any order
		if status, body := server.Get("/raw/"+id+"/x", ""); status != http.StatusOK || body != code {
			t.Errorf("%s: got %d %q, want %q", id, status, body, code)
		}
		if count++; count == 100 {
			break
		}
	}
	for i := 0; i < len(e.want.users); i += step {
		u := e.want.users[i]
		if status, body := server.Get("/user/"+strings.ToUpper(u.name)+"/exists", ""); status != http.StatusOK ||
			body != `""` {
			t.Errorf("%s: got %d %s, want 200", u.name, status, body)
		}
		status, body := server.Get("/user/"+u.name, "")
		if u.public && (status != http.StatusOK || body != u.view+"}") || !u.public && status != http.StatusNotFound {
			t.Errorf("%s, public: %v: got %d %s, want %s}, or 404", u.name, u.public, status, body, u.view)
		}
		if u.key == "" {
			continue
		}
		if status, body := server.Get("/user/self", u.key); status != http.StatusOK ||
			body != u.view+`,"stars":`+u.stars+`,"serviceIds":`+u.services+"}" {
			t.Errorf("%s: got %d %s, want %s,\"stars\":%s,\"serviceIds\":%s}", u.name, status, body, u.view, u.stars, u.services)
		}
		wantPastes := "[]"
		if len(u.pastes) > 0 {
			wantPastes = toJSON(u.pastes)
		}
		if status, body := server.Get("/user/self/pastes", u.key); status != http.StatusOK || body != wantPastes {
			t.Errorf("%s: got %d %.200s, want %.200s", u.name, status, body, wantPastes)
		}
	}
}

func TestImport(t *testing.T) {
	t.Parallel()
	users, pastes := 200, 5_000
	if *large {
		users, pastes = 5_000, 100_000
	}
	e, err := writeExport(t.TempDir(), users, pastes)
	if err != nil {
		t.Fatal(err)
	}
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		url, folder, w := cfg.URL, t.TempDir(), e.want
		code, first, report := runImport(t, url, folder, "--pastes", e.pastes, "--api-keys", e.keys, "--users", e.users)
		if code != 1 {
			t.Fatalf("got exit code %d, want 1: %s", code, report)
		}
		wantSummary(t, "users", first["users"], w.readUsers, int64(users), 0, 0, w.rejectedUsers)
		wantSummary(t, "keys", first["api-keys"], w.readKeys, w.readKeys-w.rejectedKeys, 0, 0, w.rejectedKeys)
		wantSummary(t, "pastes", first["pastes"], w.readPastes, int64(pastes), 0, 0, w.badPastes)
		database.WantAnalyzed(t, cfg)
		for _, reason := range w.reasons {
			if !strings.Contains(report, reason) {
				t.Errorf("got a report without %q, want it", reason)
			}
		}
		if line := fmt.Sprintf("%s:%d: ", e.users, users+1); !strings.Contains(report, line) {
			t.Errorf("got a report without %q, want it", line)
		}
		rejects, err := os.ReadFile(filepath.Join(folder, "users-users.json.rejects"))
		if err != nil || !bytes.Contains(rejects, []byte("{\"_id\":\"bad00007\",\"username\":\"\xff\"}\n")) ||
			int64(bytes.Count(rejects, []byte("\n"))) != w.rejectedUsers {
			t.Errorf("got the rejects %q, error %v, want %d records, unchanged", rejects, err, w.rejectedUsers)
		}

		server := program.Serve(t, url, "GLUEPOT_SWEEP_INTERVAL=0")
		compareWithExport(t, server, e, 3)

		// The same import again changes nothing.
		_, again, _ := runImport(t, url, folder, "--users", e.users, "--api-keys", e.keys, "--pastes", e.pastes)
		wantSummary(t, "users again", again["users"], w.readUsers, 0, 0, int64(users), w.rejectedUsers)
		wantSummary(t, "keys again", again["api-keys"], w.readKeys, 0, 0, w.readKeys-w.rejectedKeys, w.rejectedKeys)
		wantSummary(t, "pastes again", again["pastes"], w.readPastes, 0, 0, int64(pastes), w.badPastes)
		compareWithExport(t, server, e, 37)

		// A rejects file is a valid input once its cause is gone.
		code, second, report := runImport(t, url, folder, "--users", write(t, `{"_id":"nobody00","username":"nobody"}`))
		if code != 0 {
			t.Fatalf("got exit code %d, want 0: %s", code, report)
		}
		wantSummary(t, "the missing owner", second["users"], 1, 1, 0, 0, 0)
		_, second, _ = runImport(t, url, t.TempDir(), "--pastes", filepath.Join(folder, "pastes-pastes.json.gz.rejects"))
		wantSummary(t, "rejects", second["pastes"], w.badPastes, 1, 0, 0, w.badPastes-1)
	})
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestImportUpdates imports newer exports: a revoked key stays revoked, and a star waits for its paste.
func TestImportUpdates(t *testing.T) {
	t.Parallel()
	key, newKey := strings.Repeat("A", 43)+"=", strings.Repeat("B", 42)+"A="
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		url := cfg.URL
		settings := []string{"GLUEPOT_DATABASE_URL=" + url}
		server := program.Serve(t, url)
		step := func(flag, text string, fresh, updated, unchanged int64) {
			t.Helper()
			code, got, report := runImport(t, url, t.TempDir(), flag, write(t, text))
			if code != 0 {
				t.Fatalf("%s: got exit code %d, want 0: %s", text, code, report)
			}
			wantSummary(t, text, got[strings.TrimPrefix(flag, "--")], fresh+updated+unchanged, fresh, updated, unchanged, 0)
		}
		self := func(token string, status int, parts ...string) {
			t.Helper()
			got, body := server.Get("/user/self", token)
			for _, part := range parts {
				if !strings.Contains(body, part) {
					t.Errorf("got %s, want %s in it", body, part)
				}
			}
			if got != status {
				t.Errorf("got %d, want %d: %s", got, status, body)
			}
		}
		step("--users", `{"_id":"u1","username":"first","stars":["p2","p1"],"serviceIds":{"github":"1"}}`+"\n"+
			`{"_id":"u2","username":"second"}`, 2, 0, 0)
		step("--api-keys", `{"_id":"u1","key":"`+key+`"}`, 1, 0, 0)
		self(key, http.StatusOK, `"stars":[]`)
		step("--pastes", `{"_id":"p1","ownerId":"u1","createdAt":1,"deletesAt":0,"pasties":[]}`, 1, 0, 0)
		self(key, http.StatusOK, `"stars":["p1"]`)
		step("--pastes", `{"_id":"p1","ownerId":"u1","createdAt":2,"deletesAt":0,"pasties":[]}`+"\n"+
			`{"_id":"p2","createdAt":{"$numberInt":"5"},"pasties":[]}`, 1, 1, 0)
		self(key, http.StatusOK, `"stars":["p2","p1"]`, `"serviceIds":{"github":"1"}`)
		step("--users", `{"_id":"u1","username":"FIRST","stars":["p1"],"serviceIds":{"gitlab":"2"},"supporterLength":3}`, 0,
			1, 0)
		self(key, http.StatusOK, `"username":"FIRST"`, `"stars":["p1"]`, `"serviceIds":{"gitlab":"2"}`, `"supporterLength":3`)

		if code, _, stderr := program.Run(t, settings, "token", "revoke", "v2-u1"); code != 0 {
			t.Fatalf("got exit code %d, want 0: %s", code, stderr)
		}
		self(key, http.StatusUnauthorized)
		step("--api-keys", `{"_id":"u1","key":"`+key+`"}`, 0, 0, 1)
		self(key, http.StatusUnauthorized)
		step("--api-keys", `{"_id":"u1","key":"`+newKey+`"}`, 0, 1, 0)
		self(newKey, http.StatusOK)
		self(key, http.StatusUnauthorized)
	})
}

// TestImportKilled kills an import halfway, and checks that the next one finishes it.
func TestImportKilled(t *testing.T) {
	t.Parallel()
	const users, pastes = 100, 6_000
	e, err := writeExport(t.TempDir(), users, pastes)
	if err != nil {
		t.Fatal(err)
	}
	begin := firstLines(t, e.pastes, 5*pastes/6) // without the last batch, so that the import does not end
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		url, db := cfg.URL, database.SQL(t, cfg)
		input, feed, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := program.StartReading(t, input, []string{"GLUEPOT_DATABASE_URL=" + url},
			"import", "pastemyst", "--rejects-dir", t.TempDir(), "--users", e.users, "--api-keys", e.keys, "--pastes", "-")
		_ = input.Close()                              // the program has its own
		go func() { _, _ = feed.WriteString(begin) }() // it fails when the program is killed
		defer feed.Close()                             //nolint:errcheck // after the program
		count := func() (rows int) {
			if err := db.QueryRow("SELECT count(*) FROM pastes").Scan(&rows); err != nil {
				t.Fatal(err)
			}
			return rows
		}
		program.Eventually(t, "some pastes are stored", func() bool { return count() >= pastes/4 })
		if err := p.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		stored := count()
		if stored == 0 || stored == pastes {
			t.Fatalf("got %d pastes stored, want some but not all", stored)
		}
		_, second, _ := runImport(t, url, t.TempDir(), "--users", e.users, "--api-keys", e.keys, "--pastes", e.pastes)
		wantSummary(t, "pastes", second["pastes"], e.want.readPastes, int64(pastes-stored), 0, int64(stored),
			e.want.badPastes)
		compareWithExport(t, program.Serve(t, url, "GLUEPOT_SWEEP_INTERVAL=0"), e, 101)
	})
}

// firstLines returns the first lines of a gzip file.
func firstLines(t *testing.T, path string, lines int) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for scanner := bufio.NewScanner(reader); lines > 0; lines-- {
		if !scanner.Scan() {
			t.Fatalf("%s: got %d lines too few, %v, want all", path, lines, scanner.Err())
		}
		text.WriteString(scanner.Text() + "\n")
	}
	return text.String()
}

// TestImportFailures checks that the error of a failed import names the kind of records and the file.
func TestImportFailures(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		if _, err := database.SQL(t, cfg).Exec("DROP TABLE stars"); err != nil {
			t.Fatal(err)
		}
		file := write(t, `{"_id":"u1","username":"-"}`+"\n"+`{"_id":"u2","username":"u2"}`)
		code, got, report := runImport(t, cfg.URL, t.TempDir(), "--users", file)
		wantSummary(t, "users", got["users"], 1, 0, 0, 0, 1)
		for _, part := range []string{"gluepot: import users from " + file + ": ", "stars",
			"\ngluepot: Rejected records: 1, kept in " + got["users"].RejectsFile} {
			if code != 1 || !strings.Contains(report, part) {
				t.Errorf("got exit code %d, %q, want 1 and %q", code, report, part)
			}
		}
	})
}
