package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// documentedAnswers returns the answers in docs/API.md that the demonstration gives, too, by path: those of the table
// that are not described in words, except those of the paste in its examples.
func documentedAnswers(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	answers := make(map[string]string)
	for _, row := range regexp.MustCompile("(?m)^\\| `GET (/\\S+)` \\| `(.*)` \\|$").FindAllStringSubmatch(string(text),
		-1) {
		if !strings.Contains(row[1], "k2j4x8m1") {
			answers[row[1]] = row[2]
		}
	}
	if len(answers) < 7 {
		t.Fatalf("got %d answers in the table of docs/API.md, want at least 7: the rows have another form", len(answers))
	}
	return answers
}

// TestDemo runs every command that the demonstration prints, and compares the answers with docs/API.md.
func TestDemo(t *testing.T) {
	t.Parallel()
	documented := documentedAnswers(t)
	url := "GLUEPOT_DATABASE_URL=" + database.EmptySQLite(t).URL
	for range 2 { // the second start finds the data of the first
		server := program.Start(t, []string{url, "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=0s"},
			"serve", "--demo")
		server.WaitForAddress()
		program.Eventually(t, "the lines are printed", func() bool {
			return strings.Contains(server.Stdout.String(), "Ctrl-C")
		})
		first := "\nGluepot serves demonstration data at http://" + server.Address + ".\nOpen http://" + server.Address +
			"/demo-epoxy-1 in a browser, and sign in with this token, which works for a day:\n\n  gluepot_"
		if output := server.Stdout.String(); !strings.HasPrefix(output, first) {
			t.Errorf("got %s, want %s first", output, first)
		}
		lines := printedRequests(t, server)
		if len(lines) != 12 {
			t.Fatalf("got %d commands of curl, want 12, in %s", len(lines), &server.Stdout)
		}
		runPrintedCommands(t, server)
		var answers []string
		for _, line := range lines {
			status, body := line.send(t, server)
			if status != http.StatusOK || len(body) < len(`""`) || body == "[]" {
				t.Errorf("%+v: got %d %s, want 200 and a content", line, status, body)
			}
			answers = append(answers, body)
		}
		wantDemoPastes(t, server, lines, answers)
		for path, answer := range documented {
			if status, body := server.Get(path, lines[2].token); status != http.StatusOK || body != answer {
				t.Errorf("%s: got %d %s, want 200 %s, as docs/API.md says; describe the answer in words there if the "+
					"demonstration does not give it", path, status, body, answer)
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

// runPrintedCommands runs the printed commands of the program itself, with the exported variables.
func runPrintedCommands(t *testing.T, server *program.Process) {
	t.Helper()
	output := server.Stdout.String()
	variables := regexp.MustCompile(`(?m)^  export (\S+) (\S+)$`).FindStringSubmatch(output)
	commands := regexp.MustCompile(`(?m)^  `+regexp.QuoteMeta(program.Binary(t))+` (.*)$`).FindAllStringSubmatch(output,
		-1)
	if len(variables) != 3 || len(commands) != 4 {
		t.Fatalf("got the variables %q and the commands %q, want two and four, in %s", variables, commands, output)
	}
	run := func(line string) (out string, err error) {
		command := exec.CommandContext(t.Context(), program.Binary(t), strings.Fields(line)...)
		command.Dir, command.Env = "../..", append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), variables[1], variables[2])
		bytes, err := command.CombinedOutput()
		return string(bytes), err
	}
	for i, want := range []string{"http://" + server.Address + "/", "README.md", "epoxy", "mia"} {
		line := commands[i][1]
		out, err := run(line)
		again := strings.Contains(out, "The username is taken") // the first start created the administrator
		if err != nil && !again || !again && !strings.Contains(out, want) {
			t.Errorf("%s: got %v and %s, want %q", line, err, out, want)
		}
		if link := strings.TrimSpace(out); strings.HasPrefix(line, "push") {
			defer run("drop " + link) //nolint:errcheck // the next lines count the pastes
		}
	}
}

// printedRequest is the request of a printed curl command.
type printedRequest struct{ token, method, body, url string }

func printedRequests(t *testing.T, server *program.Process) (requests []printedRequest) {
	t.Helper()
	token := regexp.MustCompile(`(?m)^  (gluepot_\S+)$`).FindStringSubmatch(server.Stdout.String())
	if token == nil {
		t.Fatalf("got %s, want the token alone on a line", &server.Stdout)
	}
	line := regexp.MustCompile(`(?m)^  curl (?:-H "Authorization: (\$GLUEPOT_TOKEN)" )?(?:-X (\S+) )?` +
		`(?:-d '(.*?)' )?(?:--data-binary @(\S+) )?'?(http://\S+?)'?$`)
	for _, parts := range line.FindAllStringSubmatch(server.Stdout.String(), -1) {
		request := printedRequest{
			token: strings.Replace(parts[1], "$GLUEPOT_TOKEN", token[1], 1), method: parts[2], body: parts[3], url: parts[5],
		}
		if file := parts[4]; file != "" {
			text, err := os.ReadFile(filepath.Join("../..", file))
			if err != nil {
				t.Fatal(err)
			}
			request.body = string(text)
		}
		switch {
		case request.method == "" && request.body == "":
			request.method = http.MethodGet
		case request.method == "":
			request.method = http.MethodPost
		}
		requests = append(requests, request)
	}
	return requests
}

// send sends the request as curl does.
func (r printedRequest) send(t *testing.T, server *program.Process) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), r.method, r.url, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	if r.token != "" {
		request.Header.Set("Authorization", r.token)
	}
	if r.body != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// wantDemoPastes checks the answers to the commands about pastes, and deletes the paste that one of them created.
func wantDemoPastes(t *testing.T, server *program.Process, lines []printedRequest, answers []string) {
	t.Helper()
	type document struct {
		ID                  string `json:"_id"`
		Title               string
		IsPrivate, IsPublic bool
		Pasties             []struct{ Language, Title, Code string }
		Edits               []struct {
			EditID, EditType int
			Edit             string
		}
	}
	var public, private, created, edited document
	for i, read := range map[int]*document{0: &public, 3: &private, 4: &edited} {
		if err := json.Unmarshal([]byte(answers[i]), read); err != nil || len(read.Pasties) == 0 {
			t.Fatalf("%s: got %s, %v, want a paste", lines[i].url, answers[i], err)
		}
	}
	if !public.IsPublic || public.Pasties[0].Code != answers[1] || public.Pasties[0].Language != "Go" {
		t.Errorf("got %+v, want a public paste whose first pasty is %q in Go", public, answers[1])
	}
	if status, _ := server.Get("/paste/"+private.ID, ""); !private.IsPrivate || status != http.StatusNotFound {
		t.Errorf("got %d without a token for %+v, want 404 for a private paste", status, private)
	}
	link := strings.TrimSpace(answers[2])
	if _, body := server.Get("/paste/"+link[strings.LastIndex(link, "/")+1:],
		lines[2].token); json.Unmarshal([]byte(body), &created) != nil {
		t.Fatalf("%s: got %s, want a paste", link, body)
	}
	if got := created.Pasties[0]; got.Title != "README.md" || got.Language != "Markdown" || got.Code != lines[2].body {
		t.Errorf("got %s in %s, want README.md in Markdown, unchanged", got.Title, got.Language)
	}
	// The demonstration's own edit changed two values. The command changed one, when it first ran.
	if len(edited.Edits) != 3 || edited.Edits[1].EditType != 3 ||
		!strings.Contains(edited.Edits[1].Edit, "+words = sys.stdin.read().lower()") ||
		edited.Edits[2].EditID != 1 || edited.Title != "Edited by hand" {
		t.Errorf("got the title %q and the edits %+v, want the edits of the demonstration and of the command",
			edited.Title, edited.Edits)
	}
	deletion := printedRequest{token: lines[2].token, method: http.MethodDelete,
		url: "http://" + server.Address + "/paste/" + created.ID}
	if status, body := deletion.send(t, server); status != http.StatusOK || body != "{}" {
		t.Errorf("got %d %s, want 200 {} for the owner's deletion", status, body)
	}
}

// TestDemoRefusesOthersData checks that the demonstration changes nothing in a database with other data, and prints no
// token.
func TestDemoRefusesOthersData(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*testing.T, gormstore.Config){
		"an account with the name": program.Fixture,
		"an expired paste": func(t *testing.T, cfg gormstore.Config) {
			store, hourAgo := database.Open(t, cfg), time.Now().Add(-time.Hour)
			document := paste.Document{Paste: paste.Paste{ID: "somebody", CreatedAt: hourAgo, ExpiresAt: hourAgo}}
			if err := gormstore.NewPastes(store).CreateDocument(t.Context(), document); err != nil {
				t.Fatal(err)
			}
		},
		"a demonstration whose user's name is taken": func(t *testing.T, cfg gormstore.Config) {
			store := database.Open(t, cfg)
			for id, name := range map[user.ID]string{"demo-putty": "putty", "somebody": "EPOXY"} {
				username, err := user.ParseName(name)
				if err != nil {
					t.Fatal(err)
				}
				database.CreateUser(t, store, user.User{ID: id, Name: username, DefaultLanguage: "Go", CreatedAt: time.Now()})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				fill(t, cfg)
				before := rows(t, cfg)
				p := program.Start(t, []string{
					"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_SWEEP_INTERVAL=1us",
				}, "serve", "--demo")
				code, stderr := p.Wait(), p.Stderr.String()
				if code != 1 || p.Stdout.String() != "" || !strings.Contains(stderr, "this one holds other data") ||
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

// TestMakeRun checks that make run uses its own database, even if the settings of a real installation are exported.
func TestMakeRun(t *testing.T) {
	t.Parallel()
	makefile, err := filepath.Abs("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	installation, folder := database.SQLite(t), t.TempDir()
	var stdout, stderr program.Output
	run := exec.Command("make", "-f", makefile, "-C", folder, "run", "GO=true", "BIN="+filepath.Dir(program.Binary(t)))
	run.Env = append(os.Environ(), "GLUEPOT_DATABASE_URL="+installation.URL,
		"GLUEPOT_DATABASE_READ_URL=postgres://replica.invalid/gluepot",
		"GLUEPOT_DATABASE_MIGRATE=false", "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=0s")
	run.Stdout, run.Stderr = &stdout, &stderr
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // make does not pass signals on
	signals := make(chan os.Signal, 1)
	// Otherwise make would inherit that the signal is ignored, as in the background of a shell.
	signal.Notify(signals, os.Interrupt)
	err = run.Start()
	signal.Stop(signals)
	if err != nil {
		t.Fatal(err)
	}
	interrupt := sync.OnceFunc(func() {
		_ = syscall.Kill(-run.Process.Pid, syscall.SIGINT) // to make and to the program, as Ctrl-C does
		_ = run.Wait()
	})
	t.Cleanup(func() {
		interrupt()
		if t.Failed() {
			t.Logf("%s%s", &stdout, &stderr)
		}
	})
	program.Eventually(t, "the demonstration serves", func() bool { return strings.Contains(stdout.String(), "Ctrl-C") })
	if _, err := os.Stat(filepath.Join(folder, "data", "demo.db")); err != nil {
		t.Error(err)
	}
	if counts := rows(t, installation); counts != [3]int{} {
		t.Errorf("the installation: got %v users, tokens and pastes, want none", counts)
	}
	interrupt()
	if text := stderr.String(); strings.Contains(text, "***") || !strings.Contains(text, `"msg":"stopped"`) {
		t.Errorf("got %s at the end, want the server's last line and no error of make", text)
	}
}
