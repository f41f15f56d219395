package faults

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestDiskFull fills the disk of an SQLite database in use, and then frees it. Errors must say why, reads must still
// work, nothing acknowledged may be lost, and the server must recover by itself.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	disk := mountSmallDisk(t, 4<<20)
	cfg := gormstore.DefaultConfig()
	cfg.URL = "sqlite://" + filepath.Join(disk, "gluepot.db")
	url := cfg.URL
	settings := []string{"GLUEPOT_DATABASE_URL=" + url}
	gluepot(t, url, "migrate up")
	program.Fixture(t, cfg)
	node := serve(t, url, "GLUEPOT_TOKEN_USE_INTERVAL=100ms")
	background := load{clients: 8, pause: time.Millisecond, to: at(node.Address),
		questions: append(fixtureQuestions()[:4:4],
			fixtureQuestions()[5:]...)}.start(t)

	ballast := fill(t, disk)
	acknowledged, refusal := 5, "" // pastes of the fixture
	for range 100 {
		code, _, stderr := program.Run(t, settings, "paste", "create")
		if code != 0 {
			refusal = strings.TrimSpace(stderr)
			break
		}
		acknowledged++
	}
	const message = "disk is full"
	background.cut()
	start := time.Now().Truncate(time.Microsecond)
	program.Eventually(t, "the node's log names the full disk", func() bool {
		return strings.Contains(node.Stderr.String(), message)
	})
	time.Sleep(time.Second)
	full := background.cut()
	_, count := node.Get("/data/numPastes", "")

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	freed := time.Now()
	program.Eventually(t, "pastes can be stored again", func() bool {
		code, _, _ := program.Run(t, settings, "paste", "create")
		return code == 0
	})
	acknowledged++
	recovery := time.Since(freed).Round(time.Millisecond)
	db := database.SQL(t, cfg)
	program.Eventually(t, "the uses during that time are stored", func() bool {
		return number(t, db, "SELECT count(*) FROM access_tokens WHERE last_used_at >= ?", start.UnixMicro()) > 0
	})
	after := background.stop()
	var integrity string
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&integrity); err != nil || integrity != "ok" {
		t.Errorf("integrity: got %q, error %v, want ok", integrity, err)
	}
	rows := number(t, db, "SELECT count(*) FROM pastes WHERE id <> 'expired1'")
	record(t, "a command says", refusal, message)
	record(t, "reads while it was full", fmt.Sprint(full, "; ", full.wait()), "all right")
	record(t, "count while it was full", count, "")
	record(t, "stores again after", recovery, fmt.Sprint("within ", program.Patience))
	record(t, "pastes acknowledged, stored", fmt.Sprint(acknowledged, ", ", rows), "the same")
	full.wantAllRight(t)
	after.wantAllRight(t)
	if !strings.Contains(refusal, message) {
		t.Errorf("got %q from the command, want %q in it", refusal, message)
	}
	if rows != acknowledged || count != fmt.Sprintf(`{"numPastes":%d}`, acknowledged-1) {
		t.Errorf("got %d stored pastes, and the count %s before the last, want the %d acknowledged ones", rows,
			count, acknowledged)
	}
}

// TestDiskFullAtStart starts on a full disk, on which SQLite cannot open or create a database, and checks the error.
func TestDiskFullAtStart(t *testing.T) {
	t.Parallel()
	disk := mountSmallDisk(t, 1<<20) // enough for the database and its log, so that closing it leaves no log
	url := "sqlite://" + filepath.Join(disk, "gluepot.db")
	gluepot(t, url, "migrate up")
	fill(t, disk)
	for line, database := range map[string]string{"stats": url, "serve": url,
		"migrate up": "sqlite://" + filepath.Join(disk, "new.db")} {
		code, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + database}, strings.Fields(line)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "disk is full") {
			t.Errorf("%s: got exit code %d, %q, %q, want 1 and disk is full", line, code, stdout, stderr)
		}
	}
}

// mountSmallDisk mounts a file system of this size for the test.
func mountSmallDisk(t *testing.T, size int) string {
	t.Helper()
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o750); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", fmt.Sprint("size=", size), "tmpfs",
		disk).CombinedOutput(); err != nil {
		t.Fatalf("this test mounts a small file system, which needs root (in a container: --cap-add SYS_ADMIN): %v: %s", err,
			out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "--lazy", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return disk
}

// fill fills a disk, and returns the path of the file with which it does so.
func fill(t *testing.T, disk string) string {
	t.Helper()
	path := filepath.Join(disk, "ballast")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // its content does not matter
	for block := make([]byte, 4096); err == nil; _, err = file.Write(block) {
	}
	return path
}

// TestSQLiteFileReplaced replaces the database file in use, as a careless restore does. No answer may come from the
// other file until a restart.
func TestSQLiteFileReplaced(t *testing.T) {
	t.Parallel()
	cfg, other := database.SQLite(t), database.SQLite(t)
	for _, c := range []gormstore.Config{cfg, other} {
		program.Fixture(t, c)
	}
	changeOther(t, other)
	node := loseFile(t, cfg, func(path string) {
		if err := os.Rename(database.SQLitePath(other), path); err != nil {
			t.Fatal(err)
		}
	})
	node.Signal(syscall.SIGTERM)
	if code := node.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	status, body := serve(t, cfg.URL).Get("/user/epoxy", "")
	isOther := strings.Contains(body, "https://example.com/other")
	record(t, "after a restart, answers come from the other file", isOther, "true")
	if !isOther {
		t.Errorf("got %d %s, want the other file's answer", status, body)
	}
}

// changeOther changes another database so that each answer from it differs.
func changeOther(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	db, err := sql.Open("sqlite", database.SQLitePath(cfg))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // everything is committed
	for _, statement := range []string{
		"UPDATE users SET avatar_url = 'https://example.com/other'",
		"DELETE FROM pastes WHERE id IN ('oldest01', 'nobodys1')",
		"DELETE FROM users WHERE id = 'putty001'",
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSQLiteFileDeleted deletes the database file in use, and checks that the node does not create another one.
func TestSQLiteFileDeleted(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	loseFile(t, cfg, func(path string) {
		files, _ := filepath.Glob(path + "*") // the pattern is well-formed
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	})
	paths, _ := filepath.Glob(database.SQLitePath(cfg) + "*") // as above
	record(t, "new files in place of the deleted ones", len(paths), "0")
	if len(paths) > 0 {
		t.Errorf("got %v, want no files", paths)
	}
}

// loseFile removes or replaces the database file of a node under load. Answers must come from the file with which the
// node started, or be 503, and soon all must be 503. The log must say why.
func loseFile(t *testing.T, cfg gormstore.Config, lose func(path string)) *program.Process {
	t.Helper()
	node := serve(t, cfg.URL, "GLUEPOT_TOKEN_USE_INTERVAL=100ms", "GLUEPOT_SWEEP_INTERVAL=200ms")
	if status, body := node.Get("/user/epoxy", ""); status != 200 { // opens only one connection
		t.Fatalf("got %d %s, want 200", status, body)
	}
	lose(database.SQLitePath(cfg))
	background := load{clients: 16, pause: time.Millisecond, to: at(node.Address), questions: fixtureQuestions()}.start(t)
	start, outage := time.Now(), &tally{}
	var delay time.Duration // until all answers are 503
	for delay == 0 && time.Since(start) < program.Patience/2 {
		time.Sleep(250 * time.Millisecond)
		answers := background.cut()
		outage.add(answers)
		if answers.unavailable > 0 && answers.unavailable == answers.asked() {
			delay = time.Since(start).Round(time.Millisecond)
		}
	}
	time.Sleep(time.Second)
	last := background.stop()
	outage.add(last)
	isReady, isAlive := ready(node), false
	if status, _ := node.Get("/healthz", ""); status == 200 {
		isAlive = true
	}
	var message string
	for _, line := range node.Log() {
		text := fmt.Sprint(line["msg"], " ", line["error"])
		if line["level"] != "info" && strings.Contains(text, "file") && (strings.Contains(text, "replaced") ||
			strings.Contains(text, "gone") || strings.Contains(text, "deleted")) {
			message = text
			break
		}
	}
	record(t, "answers since", fmt.Sprint(outage, "; longest ", outage.percentile(1)), "right or 503")
	record(t, "only 503 after", delay, fmt.Sprint("within ", program.Patience/2))
	record(t, "the log says", message, "why")
	record(t, "/readyz says ready, /healthz alive", fmt.Sprint(isReady, ", ", isAlive), "false, true")
	outage.wantRightOr503(t, promptly)
	if delay == 0 || isReady || !isAlive || message == "" {
		t.Errorf("got only 503 after %v, ready: %v, alive: %v, want more than 0, false, true; got the log %q, want why",
			delay, isReady, isAlive, message)
	}
	return node
}

// TestSQLiteFileCorrupted overwrites most of the database file in use. Answers must be right or 503, and the log must
// have the cause.
func TestSQLiteFileCorrupted(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	db := database.SQL(t, cfg)
	for _, statement := range []string{ // more than fits into a page cache
		`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000)
			` + insertInto("id, owner_id, created_at", "'c' || n, 'mortar01', n FROM numbers"),
		"PRAGMA wal_checkpoint(TRUNCATE)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	_ = db.Close()
	node := serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=0", "GLUEPOT_TOKEN_USE_INTERVAL=1h")
	questions := append(fixtureQuestions()[:4:4],
		exactly("/data/numPastes", "", `{"numPastes":100005}`),
		question{"/user/self/pastes", program.MortarToken, func(status int, body string) bool {
			return status == 200 && strings.Count(body, ",") == 99_999
		}})
	background := load{clients: 4, pause: time.Millisecond, to: at(node.Address), questions: questions}.start(t)
	time.Sleep(time.Second)
	background.cut()
	file, err := os.OpenFile(database.SQLitePath(cfg), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err == nil {
		_, err = file.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())-4096), 4096) // all but the first page
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	outage, start := &tally{}, time.Now()
	for outage.unavailable == 0 && outage.wrong == 0 && time.Since(start) < program.Patience/2 {
		time.Sleep(100 * time.Millisecond)
		outage.add(background.cut())
	}
	time.Sleep(2 * time.Second)
	outage.add(background.stop())
	hasCause := strings.Contains(node.Stderr.String(), "malformed") || strings.Contains(node.Stderr.String(), "corrupt") ||
		strings.Contains(node.Stderr.String(), "damaged")
	record(t, "answers since", fmt.Sprint(outage, "; longest ", outage.percentile(1)), "right or 503")
	record(t, "the log names the cause", hasCause, "true")
	outage.wantRightOr503(t, promptly)
	if outage.unavailable == 0 || !hasCause {
		t.Errorf("got %v, the cause in the log: %v, want some 503 and true", outage, hasCause)
	}
}
