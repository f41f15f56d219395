package embedding_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/bootstrap/gluepottest"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/tests/database"
)

// The Go files that docs/EMBEDDING.md shows, in its order.
const (
	shownWorker = iota
	shownModule
	shownTest
	shownServer
	shownFiles
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// shown writes a Go file of the page, as it is printed there, into a folder of its own.
func shown(t *testing.T, which int, name string) (path string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/EMBEDDING.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllSubmatch(page, -1)
	if len(blocks) != shownFiles {
		t.Fatalf("got %d files of Go in docs/EMBEDDING.md, want %d, all of which run here", len(blocks), shownFiles)
	}
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, blocks[which][1], 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// compiled returns the path of a program of the page.
func compiled(t *testing.T, which int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "program")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", path, shown(t, which, "main.go"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("got %v, want the program of docs/EMBEDDING.md to compile:\n%s", err, out)
	}
	return path
}

// onBoth runs a test on an empty SQLite database and on an empty PostgreSQL database.
func onBoth(t *testing.T, test func(t *testing.T, cfg bootstrap.Config)) {
	t.Helper()
	for name, empty := range map[string]func(testing.TB) bootstrap.Config{
		"SQLite": gluepottest.SQLite,
		"PostgreSQL": func(tb testing.TB) bootstrap.Config {
			tb.Helper()
			cfg := bootstrap.DefaultConfig()
			cfg.Database.URL = database.EmptyPostgres(tb).URL
			return cfg
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, empty(t))
		})
	}
}

func TestShownWorker(t *testing.T) {
	t.Parallel()
	worker := compiled(t, shownWorker)
	onBoth(t, func(t *testing.T, cfg bootstrap.Config) {
		run := exec.CommandContext(t.Context(), worker)
		run.Env = append(os.Environ(), "DATABASE_URL="+cfg.Database.URL)
		out, err := run.CombinedOutput()
		const want = `Go: "package main\n"
true There is no paste with that id.
A draft is private
2 of the viewer
own: A draft private
own: From a bot public
recent: From a bot by Epoxy
`
		if err != nil || string(out) != want {
			t.Errorf("got %v and\n%swant\n%s", err, out, want)
		}
	})
}

func TestShownModule(t *testing.T) {
	t.Parallel()
	program := compiled(t, shownModule)
	onBoth(t, func(t *testing.T, cfg bootstrap.Config) {
		run := exec.CommandContext(t.Context(), program)
		run.Env = append(os.Environ(), "DATABASE_URL="+cfg.Database.URL)
		out, err := run.Output()
		if want := "Hello, Epoxy\n"; err != nil || string(out) != want {
			t.Errorf("got %v and %q, want %q", err, out, want)
		}
	})
}

func TestShownTest(t *testing.T) {
	t.Parallel()
	args := []string{"test", "-count=1", "-v"}
	if !database.HasContainers(t) {
		args = append(args, "-run", "/SQLite")
	}
	out, err := exec.CommandContext(t.Context(), "go", append(args, shown(t, shownTest,
		"snippets_test.go"))...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestProfiles/SQLite") {
		t.Errorf("got %v, want the test of docs/EMBEDDING.md to pass:\n%s", err, out)
	}
}

func TestShownServer(t *testing.T) {
	t.Parallel()
	program := compiled(t, shownServer)
	onBoth(t, func(t *testing.T, cfg bootstrap.Config) {
		secret := tokenIn(t, cfg)
		server := exec.CommandContext(t.Context(), program)
		server.Env = append(os.Environ(), "DATABASE_URL="+cfg.Database.URL, "ADDR=127.0.0.1:0")
		log, err := server.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(log)
		line, err := lines.ReadString('\n')
		_, address, ok := strings.Cut(strings.TrimSpace(line), "listening on ")
		if err != nil || !ok {
			t.Fatalf("got %q, %v, want the address", line, err)
		}
		for _, c := range []struct {
			method, path, token, body string
			status                    int
			part                      string
		}{
			{"GET", "/hello", "", "", 200, "Your own pages."},
			{"GET", "/readyz", "", "", 200, ""},
			{"GET", "/snippets/user/epoxy", "", "", 200, `"Epoxy"`},
			{"GET", "/snippets/user/epoxy", secret, "", 200, `"Epoxy"`},
			{"GET", "/snippets/user/self", "", "", 401, ""},
			{"GET", "/snippets/user/self", "wrong", "", 401, ""},
			{"GET", "/snippets/user/self", secret, "", 200, `"Epoxy"`},
			{"GET", "/snippets/user/self/pastes", secret, "", 200, "[]"},
			{"POST", "/snippets/raw?title=anonymous.go", "", "package main\n", 200, "/"},
			{"POST", "/snippets/raw?title=own.go", secret, "package main\n", 200, "/"},
			{"GET", "/snippets/user/self/pastes", secret, "", 200, `["`},
			{"GET", "/snippets/data/numPastes", "", "", 200, `{"numPastes":2}`},
			{"POST", "/mcp", secret, listTools, 200, `"create_paste"`},
			{"POST", "/mcp", "wrong", listTools, 401, ""},
			{"GET", "/", "", "", 200, "<html"},
			{"GET", "/", secret, "", 200, "<html"},
			{"GET", "/recent", "", "", 200, "<html"},
			{"GET", "/sign-in", "", "", 200, "<html"},
			{"GET", "/~epoxy", secret, "", 200, "Epoxy"},
			{"GET", "/search?q=package", "", "", 200, "<html"},
			{"GET", "/admin", "", "", 404, ""},
			{"GET", "/admin", secret, "", 404, ""},
		} {
			request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+c.path,
				strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if c.token != "" {
				request.Header.Set("Authorization", c.token)
			}
			if c.path == "/mcp" {
				request.Header.Set("Content-Type", "application/json")
				request.Header.Set("Accept", "application/json, text/event-stream")
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || response.StatusCode != c.status || !strings.Contains(string(body), c.part) {
				t.Errorf("%s %s with the token %.8q: got %d, %v, %.300s, want %d and %q", c.method, c.path, c.token,
					response.StatusCode, err, body, c.status, c.part)
			}
		}
		if err := server.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(lines)
		if err := server.Wait(); err != nil || len(rest) > 0 {
			t.Errorf("got %v and %s, want an end in order", err, rest)
		}
	})
}

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestShownTool compiles package mcp with the tool that docs/EMBEDDING.md adds.
func TestShownTool(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/EMBEDDING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```diff\n")
	diff, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("got no diff in docs/EMBEDDING.md, want one that adds a tool")
	}
	const path = "adapters/mcp/tools.go"
	original, err := filepath.Abs("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	changed, overlay := filepath.Join(folder, path), filepath.Join(folder, "overlay.json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		changed: code, overlay: replaced, filepath.Join(folder, "tool.diff"): []byte(diff),
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	apply := exec.CommandContext(t.Context(), "git", "apply", "tool.diff")
	apply.Dir, apply.Env = folder, append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder))
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("got %v, want the diff of docs/EMBEDDING.md to fit:\n%s", err, out)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "../../adapters/mcp")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("got %v, want the tool of docs/EMBEDDING.md to compile:\n%s", err, out)
	}
}

// tokenIn returns a token of a user that it stores in a database.
func tokenIn(t *testing.T, cfg bootstrap.Config) string {
	t.Helper()
	gluepot, stop, err := bootstrap.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(context.Background()) //nolint:errcheck // what it stores is asked for
	if _, err := gluepot.Users.Create.Do(t.Context(), audit.Operator(),
		users.CreateInput{Name: "Epoxy", PublicProfile: true}); err != nil {
		t.Fatal(err)
	}
	_, secret, err := gluepot.Tokens.Issue.Do(t.Context(), audit.Operator(), "epoxy",
		tokens.IssueInput{Name: "bot", ExpiresIn: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}
