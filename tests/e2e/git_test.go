package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// gitClient runs the machine's git in its own folder, without the user's settings.
type gitClient struct {
	t       *testing.T
	folder  string
	version string // protocol version
}

func newGitClient(t *testing.T, version string) gitClient {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("this test needs git (Debian: apt-get install git)")
	}
	return gitClient{t, t.TempDir(), version}
}

// try runs git and returns what it printed.
func (g gitClient) try(args ...string) (string, error) {
	g.t.Helper()
	command := exec.CommandContext(g.t.Context(), "git",
		append([]string{"-c", "protocol.version=" + g.version, "-c", "fetch.fsckObjects=true"}, args...)...)
	command.Dir = g.folder
	command.Env = append(os.Environ(), "HOME="+g.folder, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	output, err := command.CombinedOutput()
	return strings.TrimSpace(string(output)), err
}

func (g gitClient) run(args ...string) string {
	g.t.Helper()
	output, err := g.try(args...)
	if err != nil {
		g.t.Fatalf("git %q: got %v, %s, want no error", args, err, output)
	}
	return output
}

// files returns the names of the files in a clone.
func (g gitClient) files(clone string) []string {
	g.t.Helper()
	return strings.Split(g.run("-C", clone, "-c", "core.quotePath=false", "ls-files"), "\n")
}

// repositoryURL returns the URL of a paste's repository, with a token as the password unless token is "".
func repositoryURL(p *program.Process, id, token string) string {
	address := url.URL{Scheme: "http", Host: p.Address, Path: "/" + id + ".git"}
	if token != "" {
		address.User = url.UserPassword("x", token)
	}
	return address.String()
}

// TestGit clones a paste, fetches after an edit, and verifies the clone.
func TestGit(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2")
		for _, version := range []string{"0", "2"} {
			t.Run("protocol "+version, func(t *testing.T) {
				t.Parallel()
				testClone(t, p, newGitClient(t, version))
			})
		}
	})
}

func testClone(t *testing.T, p *program.Process, git gitClient) {
	t.Helper()
	id := createdID(t, p, `{"title":"A  program","pasties":[{"title":"main.go","language":"Go","code":"package main\n"},`+
		`{"title":"b.txt","code":"b"}]}`)
	edit := func(body string) {
		t.Helper()
		if status, answer := send(t, p, http.MethodPatch, "/api/v2/paste/"+id, body, "Authorization",
			program.EpoxyToken); status != http.StatusOK {
			t.Fatalf("got %d %s of %s, want 200", status, answer, body)
		}
	}
	pasties := pastyIDs(t, p, id)
	edit(`{"pasties":[{"_id":"` + pasties[0] + `","code":"package main // a\n"},{"_id":"` + pasties[1] + `"}]}`)
	edit(`{"title":"Another","pasties":[{"_id":"` + pasties[0] + `","title":"a.go"},{"title":"c.txt","code":"c"}]}`)
	git.run("clone", repositoryURL(p, id, ""), "a")
	if got := git.run("-C", "a", "log",
		"--format=%an <%ae> %s"); got != "Epoxy <> Change the title to \"Another\", and 3 more\n"+
		"Epoxy <> Change main.go\nEpoxy <> Create A program" {
		t.Errorf("got the log %s, want one commit for each edit", got)
	}
	if got, want := git.files("a"), []string{"a.go", "c.txt"}; !slices.Equal(got, want) {
		t.Errorf("got the files %q, want %q", got, want)
	}
	if got := git.run("-C", "a", "show", "HEAD~1:b.txt"); got != "b" {
		t.Errorf("got %q of the removed file, want its code", got)
	}
	before := git.run("-C", "a", "rev-parse", "HEAD")
	edit(`{"pasties":[{"_id":"` + pasties[0] + `","code":"package main // b\n"}]}`)
	git.run("-C", "a", "pull", "--ff-only")
	if got := git.run("-C", "a", "rev-parse", "HEAD~1"); got != before {
		t.Errorf("got %s before the newest commit, want %s as in the first clone", got, before)
	}
	git.run("clone", "--depth", "1", repositoryURL(p, id, ""), "b")
	if got := git.run("-C", "b", "rev-list", "--count", "HEAD"); got != "1" {
		t.Errorf("got %s commits of a shallow clone, want 1", got)
	}
	git.run("-C", "b", "fsck", "--strict", "--full")
	clones := []string{"a", "b"}
	if git.version == "2" {
		git.run("-C", "b", "fetch", "--unshallow")
	} else {
		clones = clones[:1] // go-git cannot deepen a clone in protocol v0
	}
	for _, clone := range clones {
		git.run("-C", clone, "fsck", "--strict", "--full")
		if got := git.run("-C", clone, "rev-list", "--count", "HEAD"); got != "4" {
			t.Errorf("%s: got %s commits, want 4", clone, got)
		}
	}
	git.run("-C", "a", "commit", "--allow-empty", "-m", "x")
	if got, err := git.try("-C", "a", "push"); err == nil || !strings.Contains(got, "Git can only read pastes here.") {
		t.Errorf("got %s, %v for a push, want a refusal", got, err)
	}
}

// pastyIDs returns the ids of a paste's pasties.
func pastyIDs(t *testing.T, p *program.Process, id string) (ids []string) {
	t.Helper()
	_, answer := send(t, p, http.MethodGet, "/api/v2/paste/"+id, "", "Authorization", program.EpoxyToken)
	var document struct {
		Pasties []struct {
			ID string `json:"_id"`
		} `json:"pasties"`
	}
	if err := json.Unmarshal([]byte(answer), &document); err != nil {
		t.Fatal(err)
	}
	for _, pasty := range document.Pasties {
		ids = append(ids, pasty.ID)
	}
	return ids
}

// TestGitShowsNothingPrivate requests repositories as a visitor, another user and the owner. None gets what it may not
// see.
func TestGitShowsNothingPrivate(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2")
	unlisted := createdID(t, p, `{"pasties":[{"title":"a","code":"a"}]}`)
	private := createdID(t, p, `{"isPrivate":true,"pasties":[{"title":"a","code":"s3cret"}]}`)
	burning := createdID(t, p, `{"burn":true,"pasties":[{"title":"a","code":"s3cret"}]}`)
	git := newGitClient(t, "2")
	for i, c := range []struct {
		token, id string
		status    int
	}{
		{"", unlisted, 200}, {"", private, 401}, {"", burning, 401}, {"", "expired1", 401}, {"", "unknown1", 401},
		{program.MortarToken, unlisted, 200}, {program.MortarToken, private, 404}, {program.MortarToken, burning, 404},
		{program.MortarToken, "unknown1", 404}, {"wrong", unlisted, 200}, {"wrong", private, 404}, {"wrong", "unknown1", 404},
		{program.EpoxyToken, private, 200}, {program.EpoxyToken, burning, 404}, {program.EpoxyToken, "unknown1", 404},
	} {
		address := repositoryURL(p, c.id, c.token)
		answer, err := http.Get(address + "/info/refs?service=git-upload-pack")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.status || (c.status == 401) != (answer.Header.Get("WWW-Authenticate") != "") {
			t.Errorf("%+v: got %d %v, want the status, and a challenge with 401", c, answer.StatusCode, answer.Header)
		}
		if output, err := git.try("clone", address, fmt.Sprint(i)); (err == nil) != (c.status == 200) ||
			strings.Contains(output, "s3cret") {
			t.Errorf("%+v: got %v, %s from git, want success only with 200, and no secret", c, err, output)
		}
	}
	if status, _ := send(t, p, http.MethodGet, "/"+unlisted+"/info/refs?service=git-upload-pack", ""); status != 404 {
		t.Errorf("got %d without .git, want 404", status)
	}
}

// TestGitNames clones a paste whose titles git, or an operating system, does not accept as file names.
func TestGitNames(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2")
	titles := []string{
		".git", ".GIT", "..", "a/../b", "CON", "nul.txt", "A.txt", "a.txt", ".gitmodules", "git~1", "gitmod~1", "-rf", "x\\y",
		".g\u200cit", "\u202e", strings.Repeat("x", 300), " ", "日本", ".gitattributes", "a:b", "c\nd", "GIT~1",
		"/", ".", "\x7f", strings.Repeat("x", 4096), strings.Repeat("日", 4096), strings.Repeat("x", 4090) + ".go", "README",
		"readme", "ReadMe", "con.txt", "COM¹", "aux .md", "x.", "x ", "x",
	}
	var pasties []map[string]string
	for _, title := range titles {
		pasties = append(pasties, map[string]string{"title": title, "code": "[core]\n\tfsmonitor = false\n"})
	}
	body, err := json.Marshal(map[string]any{"pasties": pasties})
	if err != nil {
		t.Fatal(err)
	}
	id := createdID(t, p, string(body))
	git := newGitClient(t, "2")
	git.run("-c", "core.protectNTFS=true", "-c", "core.protectHFS=true", "clone", "--recurse-submodules",
		repositoryURL(p, id, ""), "a")
	git.run("-C", "a", "fsck", "--strict", "--full")
	files := git.files("a")
	if len(files) != len(titles) {
		t.Errorf("got %d files %q, want %d", len(files), files, len(titles))
	}
	device, anyCase := regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)`), make(map[string]bool)
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(git.folder, "a", file)); err != nil {
			t.Errorf("%q: got %v, want a file", file, err)
		}
		lower := strings.ToLower(file)
		if anyCase[lower] || device.MatchString(file) || len(file) > 255 || strings.HasSuffix(file, ".") {
			t.Errorf("got the file %q of %q, want one that every system accepts", file, files)
		}
		anyCase[lower] = true
	}
}

// TestGitRequests sends requests that git never makes.
func TestGitRequests(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2")
	id := createdID(t, p, `{"pasties":[{"title":"a","code":"a"}]}`)
	want := "0032want " + strings.Repeat("1", 40) + "\n"
	var bomb bytes.Buffer
	writer := gzip.NewWriter(&bomb)
	_, _ = writer.Write(bytes.Repeat([]byte("0"), 64<<20))
	_ = writer.Close()
	for name, c := range map[string]struct {
		body    string
		headers []string
		status  int
	}{
		"nothing":                {"", nil, 400},
		"text":                   {"x", nil, 400},
		"an unknown commit":      {want + "00000009done\n", nil, 400},
		"many commits":           {strings.Repeat(want, 1000) + "00000009done\n", nil, 400},
		"a long request":         {strings.Repeat("x", 300<<10), nil, 413},
		"a compressed bomb":      {bomb.String(), []string{"Content-Encoding", "gzip"}, 400},
		"not gzip":               {"x", []string{"Content-Encoding", "gzip"}, 400},
		"an unknown command":     {"0014command=explode\n0000", []string{"Git-Protocol", "version=2"}, 400},
		"an unknown protocol":    {"0000", []string{"Git-Protocol", "version=99"}, 200},
		"a request cut off":      {"0032want 1", nil, 400},
		"a length without bytes": {"ffff", nil, 400},
		"thousands of packets":   {strings.Repeat("0005x", 50_000), nil, 400},
		"thousands of haves": {"0011command=fetch0001" + strings.Repeat("0032have "+strings.Repeat("1", 40)+"\n",
			5000) + "0000",
			[]string{"Git-Protocol", "version=2"}, 200}, // and wants nothing
		"an endless depth": {"0011command=fetch0001000fdeepen 99990032want " + strings.Repeat("1", 40) + "\n0009done\n0000",
			[]string{"Git-Protocol", "version=2"}, 400},
	} {
		headers := append([]string{"Content-Type", "application/x-git-upload-pack-request"}, c.headers...)
		status, answer := send(t, p, http.MethodPost, "/"+id+".git/git-upload-pack", c.body, headers...)
		if status != c.status {
			t.Errorf("%s: got %d %.200q, want %d", name, status, answer, c.status)
		}
	}
}

// TestGitCountsFailedSignIns checks that wrong tokens in requests for repositories count as failed sign-ins.
func TestGitCountsFailedSignIns(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_LIMIT_FAILED_SIGN_INS=2")
	var got []int
	for i := range 4 {
		answer, err := http.Post(repositoryURL(p, "unknown1", fmt.Sprint("guess", i))+"/git-upload-pack", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		got = append(got, answer.StatusCode)
	}
	if got[0] == http.StatusTooManyRequests || got[3] != http.StatusTooManyRequests {
		t.Errorf("got %v, want 429 for the last but not for the first", got)
	}
}
