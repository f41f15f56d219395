package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// readmeAnswers returns what README.md says that the demonstration answers, by path.
func readmeAnswers(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	answers := make(map[string]string)
	for _, row := range regexp.MustCompile("(?m)^\\| `GET (/\\S+)` \\| `(.*)` \\|$").FindAllStringSubmatch(string(text), -1) {
		answers[row[1]] = row[2]
	}
	if len(answers) != 7 { // the others say it in words
		t.Fatalf("got %d answers in README.md, want 7", len(answers))
	}
	return answers
}

// TestDemo runs every line that the demonstration prints, and finds the README's answers.
func TestDemo(t *testing.T) {
	t.Parallel()
	promised := readmeAnswers(t)
	url := "GLUEPOT_DATABASE_URL=" + string(database.EmptySQLite(t).URL)
	for range 2 { // the second start finds the data of the first
		server := program.Start(t, []string{url, "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=0s"}, "serve", "--demo")
		server.WaitForAddress()
		program.Eventually(t, "the lines are printed", func() bool { return strings.Contains(server.Stdout.String(), "Ctrl-C") })
		lines := regexp.MustCompile(`curl (?:-H 'Authorization: (\S+)' )?'?(http://\S+?)'?\n`).FindAllStringSubmatch(server.Stdout.String(),
			-1)
		if len(lines) != 7 {
			t.Fatalf("got %d lines to run, want 7, in %s", len(lines), &server.Stdout)
		}
		for _, line := range lines {
			status, body := server.Get(strings.TrimPrefix(line[2], "http://"+server.Address), line[1])
			if status != http.StatusOK || len(body) < len(`""`) || body == "[]" {
				t.Errorf("%s: got %d %s, want 200 and something in it", line[2], status, body)
			}
		}
		for path, answer := range promised {
			if status, body := server.Get(path, lines[2][1]); status != http.StatusOK || body != answer {
				t.Errorf("%s: got %d %s, want what README.md says, %s", path, status, body, answer)
			}
		}
		status, _ := server.Get("/user/mortar", "")
		if exists, _ := server.Get("/user/mortar/exists", ""); status != http.StatusNotFound || exists != http.StatusOK {
			t.Errorf("mortar: got %d, exists: %d, want 404 and 200 for a private profile", status, exists)
		}
		server.Signal(syscall.SIGINT)
		if code := server.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0", code)
		}
	}
}

// TestDemoRefusesOthersData stores nothing, and prints no token, where the data is somebody's own.
func TestDemoRefusesOthersData(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*testing.T, gormstore.Config){
		"an account of that name": program.Fixture,
		"a paste": func(t *testing.T, cfg gormstore.Config) {
			store := database.Open(t, cfg)
			if err := gormstore.NewPastes(store).Create(t.Context(), paste.Paste{ID: "somebody", CreatedAt: time.Now()}); err != nil {
				t.Fatal(err)
			}
		},
		"a demonstration where somebody has taken the name": func(t *testing.T, cfg gormstore.Config) {
			users := gormstore.NewUsers(database.Open(t, cfg))
			for id, name := range map[user.ID]string{"demo-putty": "putty", "somebody": "EPOXY"} {
				parsed, err := user.ParseName(name)
				if err != nil {
					t.Fatal(err)
				}
				if err := users.Create(t.Context(), user.User{ID: id, Name: parsed, DefaultLanguage: "Go", CreatedAt: time.Now()},
					nil); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				fill(t, cfg)
				before := rows(t, cfg)
				p := program.Start(t, []string{"GLUEPOT_DATABASE_URL=" + string(cfg.URL), "GLUEPOT_HTTP_ADDR=127.0.0.1:0"}, "serve",
					"--demo")
				code, stderr := p.Wait(), p.Stderr.String()
				if code != 1 || p.Stdout.String() != "" || !strings.Contains(stderr, "The database holds data of its own") ||
					strings.Count(stderr, "\n") != 1 {
					t.Errorf("got exit code %d, %q, %q, want 1 and one line about data of its own", code, p.Stdout.String(), stderr)
				}
				if after := rows(t, cfg); after != before {
					t.Errorf("got %v users, tokens and pastes, want %v as before", after, before)
				}
			})
		})
	}
}

// rows counts users, tokens and pastes.
func rows(t *testing.T, cfg gormstore.Config) (counts [3]int) {
	t.Helper()
	db := database.SQL(t, cfg)
	for i, table := range []string{"users", "access_tokens", "pastes"} {
		if err := db.QueryRow("SELECT count(*) FROM " + table).Scan(&counts[i]); err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

// TestMakeRun serves a database of its own, although the settings of a real installation are exported.
func TestMakeRun(t *testing.T) {
	t.Parallel()
	makefile, err := filepath.Abs("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	installed, folder := database.SQLite(t), t.TempDir()
	var stdout, stderr program.Output
	run := exec.Command("make", "-f", makefile, "-C", folder, "run", "GO=true", "BIN="+filepath.Dir(program.Binary(t)))
	run.Env = append(os.Environ(), "GLUEPOT_DATABASE_URL="+string(installed.URL),
		"GLUEPOT_DATABASE_REPLICA_URLS=postgres://replica.invalid/gluepot",
		"GLUEPOT_DATABASE_MIGRATE=false", "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=0s")
	run.Stdout, run.Stderr = &stdout, &stderr
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // make does not pass signals on
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-run.Process.Pid, syscall.SIGTERM)
		_ = run.Wait()
		if t.Failed() {
			t.Logf("%s%s", &stdout, &stderr)
		}
	})
	program.Eventually(t, "the demonstration serves", func() bool { return strings.Contains(stdout.String(), "Ctrl-C") })
	if _, err := os.Stat(filepath.Join(folder, "data", "demo.db")); err != nil {
		t.Error(err)
	}
	if counts := rows(t, installed); counts != [3]int{} {
		t.Errorf("the installation: got %v users, tokens and pastes, want none", counts)
	}
}
