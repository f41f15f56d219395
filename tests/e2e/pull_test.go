package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// createTitled creates a paste with pasties of these titles, and returns its id. The code of each pasty is its
// position.
func createTitled(t *testing.T, server *program.Process, titles ...string) string {
	t.Helper()
	var pasties []map[string]string
	for i, title := range titles {
		pasties = append(pasties, map[string]string{"title": title, "code": fmt.Sprint(i)})
	}
	body, err := json.Marshal(map[string]any{"pasties": pasties})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := send(t, server, http.MethodPost, "/paste", string(body))
	if status != http.StatusOK {
		t.Fatalf("got %d %s, want a paste", status, answer)
	}
	_, id, _ := strings.Cut(answer, `"_id":"`)
	return id[:8]
}

// tree returns the files below a folder, as NAME=CONTENT.
func tree(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files = append(files, filepath.ToSlash(name)+"="+string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPullKeepsNames pulls pastes with all kinds of titles, which become names of files below the folder.
func TestPullKeepsNames(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	for name, c := range map[string]struct{ titles, want []string }{
		"dots and folders": {
			[]string{".env", ".gitignore", "a/main.go", "b/main.go", "a/b/c"},
			[]string{".env=0", ".gitignore=1", "a/b/c=4", "a/main.go=2", "b/main.go=3"},
		},
		"outside": {
			[]string{"../../outside", "/etc/passwd", "..", "a/../../b", `C:\x\y.txt`, `..\z`, "./w", "v//u/"},
			[]string{"C_/x/y.txt=4", "a/b=3", "etc/passwd=1", "outside=0", "v/u=7", "w=6", "z=5", "ID.txt=2"},
		},
		"collisions": {
			[]string{"A", "a", "a/x", "d/x", "d", "D/X", ".e", ".E", "a", "ſ", "s"},
			[]string{
				".E (2)=7", ".e=6", "A=0", "D/X (2)=5", "a (2)=1", "a (3)=8", "a-x=2", "d (2)=4", "d/x=3", "s=10", "ſ=9",
			},
		},
		"terminals and systems": {
			[]string{
				"x\x1b[31m\n\x00", "nul.txt", "a/CON", "x. ", "-rf", "a/-rf", "\u202egnp.exe", ".git", "b/.GIT/config",
				"git~1", "...",
			},
			[]string{
				"_-rf=4", "_.git=7", "_git~1=9", "_nul.txt=1", "a/_-rf=5", "a/_CON=2", "b/_.GIT/config=8",
				"gnp.exe=6", "x=3", "x[31m=0", "ID.txt=10",
			},
		},
		"long": {
			[]string{strings.Repeat("x", 4000) + ".go", strings.Repeat("d/", 20) + "x", strings.Repeat("d/", 21) + "x"},
			[]string{
				strings.Repeat("d-", 21) + "x=2", strings.Repeat("d/", 20) + "x=1", strings.Repeat("x", 197) + ".go=0",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
			id := createTitled(t, server, c.titles...)
			_, document := server.Get("/paste/"+id, "")
			out := filepath.Join(p.dir, "out")
			output := p.mustRun("", "pull", id, "-o", out)
			got := tree(t, out)
			for i, file := range got { // replace names made of a pasty's id
				name, content, _ := strings.Cut(file, "=")
				id, ok := strings.CutSuffix(name, ".txt")
				if ok && strings.Contains(document, `"_id":"`+id+`"`) {
					got[i] = "ID.txt=" + content
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			matches := slices.Equal(got, c.want) && strings.Count(output, "\n") == len(c.want)
			if !matches || strings.ContainsAny(output, "\x1b\x00") {
				t.Errorf("got the files %q and the output %q, want %q", got, output, c.want)
			}
			if files := tree(t, p.dir); len(files) != len(got)+1 { // and standard input
				t.Errorf("got %q, want no files outside the folder", files)
			}
			p.wantFailure(1, "", []string{"pull", id, "-o", out}, "already exists: choose another folder with -o")
			if again := tree(t, out); len(again) != len(got) {
				t.Errorf("got %q, want no more files", again)
			}
		})
	}
}

// TestPullMeetsLinks pulls into folders with symbolic links and existing files, and into the user's home folder.
func TestPullMeetsLinks(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	out, outside := filepath.Join(p.dir, "out"), filepath.Join(p.dir, "outside")
	for _, err := range []error{
		os.Mkdir(out, 0o700), os.Mkdir(outside, 0o700), os.Symlink("../outside", filepath.Join(out, "a")),
		os.Symlink("nowhere", filepath.Join(out, "dangling")), os.WriteFile(filepath.Join(out, "file"), nil, 0o600),
		os.Symlink(outside, filepath.Join(out, "absolute")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, titles := range [][]string{
		{"first", "a/main.go"}, {"first", "absolute/main.go"}, {"first", "dangling"}, {"first", "file/x"}, {"first", "file"},
	} {
		output, code := p.run("", "pull", createTitled(t, server, titles...), "-o", out)
		if code != 1 || strings.Count(output, "\n") != 1 {
			t.Errorf("%q: got exit code %d and %q, want exit code 1 and one line", titles, code, output)
		}
	}
	if files := tree(t, outside); len(files) != 0 {
		t.Errorf("got %q, want no files outside the folder", files)
	}
	if _, err := os.Stat(filepath.Join(out, "first")); !os.IsNotExist(err) {
		t.Errorf("got %v, want no file if another one of the paste exists", err)
	}
	hidden := createTitled(t, server, "x", ".bash_profile")
	p.wantFailure(1, "", []string{"pull", hidden, "-o", p.dir}, "hidden file in your home folder")
	if _, err := os.Stat(filepath.Join(p.dir, "x")); !os.IsNotExist(err) {
		t.Errorf("got %v, want no file", err)
	}
	if output := p.mustRun("", "pull", createTitled(t, server, "y", "a/.z"), "-o", p.dir); output != "y\na/.z\n" {
		t.Errorf("got %q, want the names of both files", output)
	}
}

// TestPushKeepsBytes sends a patch with CRLF through the server in every way, and applies it.
func TestPushKeepsBytes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git(1) is not installed")
	}
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	git := func(stdin string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Stdin, cmd.Env = p.dir, strings.NewReader(stdin), append(os.Environ(), p.settings...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("git %q: got %v and %s, want no error", args, err, out)
		}
	}
	git("", "init", "-q")
	const patch = "--- a/w.bat\n+++ b/w.bat\n@@ -1,2 +1,2 @@\n-echo one\r\n+echo three\r\n echo two\r\n"
	p.file("w.bat", "echo one\r\necho two\r\n")
	git("", "add", "w.bat")
	file := p.file("crlf.patch", patch)
	pasteLink := strings.TrimSpace(p.mustRun("", "push", file))
	_, link := send(t, server, http.MethodPost, "/raw?title=crlf.patch", patch)
	ways := map[string]string{
		"push and pull": p.mustRun("", "pull", pasteLink), "standard input": p.mustRun("", "pull",
			strings.TrimSpace(p.mustRun(patch, "push"))),
		"push --encrypt": p.mustRun("", "pull", strings.TrimSpace(p.mustRun("", "push", "--encrypt", file))),
	}
	_, ways["/raw"] = server.Get("/raw/"+path.Base(strings.TrimSpace(link)), "")
	for way, got := range ways {
		if got != patch {
			t.Errorf("%s: got %q, want %q", way, got, patch)
		}
		git(got, "apply", "--check", "-")
	}
	p.mustRun("", "pull", pasteLink, "-o", filepath.Join(p.dir, "out"))
	git("", "apply", "out/crlf.patch")
	content, err := os.ReadFile(filepath.Join(p.dir, "w.bat"))
	if err != nil || string(content) != "echo three\r\necho two\r\n" {
		t.Errorf("got %q, %v, want the patch applied", content, err)
	}
}

// TestPushNames checks the names of pushed files, pipes and standard input.
func TestPushNames(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	for _, folder := range []string{"a", "b", "src/x"} {
		if err := os.MkdirAll(filepath.Join(p.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{".env", "a/main.go", "b/main.go", "src/x/y.go", "odd \"\\name\"\n.go"} {
		p.file(file, "code")
	}
	for _, c := range []struct{ args, titles []string }{
		{nil, []string{""}},
		{[]string{"--name", "work.diff"}, []string{"work.diff"}},
		{[]string{"-", "--name", "work.diff"}, []string{"work.diff"}},
		{[]string{".env", "-", "--name", "work.diff"}, []string{".env", "work.diff"}},
		{[]string{"/dev/fd/3"}, []string{""}},
		{[]string{"/dev/fd/3", "--name", "work.diff"}, []string{"work.diff"}},
		{[]string{"a/main.go", "/dev/fd/3", "--name", "work.diff"}, []string{"main.go", "work.diff"}},
		{[]string{"a/main.go", "--name", "other.go"}, []string{"other.go"}},
		{[]string{"src/x/y.go"}, []string{"y.go"}},
		{[]string{"./a/main.go", "b/main.go"}, []string{"a/main.go", "b/main.go"}},
		{[]string{".env", "a/main.go", "b/main.go", "src/x/y.go"}, []string{".env", "a/main.go", "b/main.go", "src/x/y.go"}},
		{[]string{filepath.Join(p.dir, "a/main.go"), ".env"}, []string{"main.go", ".env"}},
		{[]string{"../" + filepath.Base(p.dir) + "/a/main.go"}, []string{"main.go"}},
		{[]string{"odd \"\\name\"\n.go"}, []string{"odd \"\\name\"%0A.go"}},
	} {
		for _, more := range [][]string{nil, {"--encrypt"}} {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			_, _ = write.WriteString("from a pipe")
			_ = write.Close()
			cmd := exec.CommandContext(t.Context(), program.Binary(t), slices.Concat([]string{"push"}, more, c.args)...)
			cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.Stdin = p.dir, p.settings, []*os.File{read}, strings.NewReader("stdin")
			output, err := cmd.CombinedOutput()
			_ = read.Close()
			if err != nil {
				t.Errorf("%q: got %v and %s, want no error", c.args, err, output)
				continue
			}
			titles := c.titles
			if more != nil { // the names are encrypted
				titles = slices.Clone(titles)
				for i := range titles {
					titles[i] = strings.ReplaceAll(titles[i], "%0A", "")
				}
			}
			out := t.TempDir()
			p.mustRun("", "pull", strings.TrimSpace(string(output)), "-o", out)
			got := tree(t, out)
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], "=")
			}
			for i, title := range titles {
				if title == "" && len(got) > i {
					got[i] = "" // a generated name
				}
				titles[i] = strings.NewReplacer(`"`, "_", `\`, "/").Replace(title)
			}
			slices.Sort(got)
			slices.Sort(titles)
			if !slices.Equal(got, titles) {
				t.Errorf("%q: got the names %q, want %q", c.args, got, titles)
			}
		}
	}
	for _, args := range [][]string{
		{"push", p.dir + "/.env", p.dir + "/a/main.go", "--name", "x"}, {"push", "--name", ""},
	} {
		p.wantFailure(2, "x", args, "--name")
	}
}

// TestPullWantsEncrypted pulls from servers that answer the link of an encrypted paste with plain text.
func TestPullWantsEncrypted(t *testing.T) {
	t.Parallel()
	const plain = `{"_id":"abcdefgh","pasties":[{"title":"a.txt","code":"forged"}]}`
	answers := map[string]func(w http.ResponseWriter, r *http.Request){
		"at once": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, plain) },
		"after reading": func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/encrypted/") {
				w.WriteHeader(http.StatusConflict)
			}
			_, _ = io.WriteString(w, plain)
		},
		"as a paste": func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/paste/") {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = io.WriteString(w, plain)
		},
		"with an empty cipher": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Replace(plain, "{", `{"version":0,"cipher":"",`, 1))
		},
		"with a format": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Replace(plain, "{", `{"version":1,"cipher":"","salt":"AAAA",`, 1))
		},
	}
	key := strings.Repeat("A", 43)
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(answer))
			defer server.Close()
			p := newPerson(t, "GLUEPOT_PASSWORD=secret")
			for _, fragment := range []string{
				key, "password", key[:42], key + ".", "Password", "%70assword", "x", "L", "L3x", "#L3",
			} {
				for _, more := range [][]string{{"--yes"}, {"--yes", "-o", filepath.Join(p.dir, "out")}} {
					args := append([]string{"pull", server.URL + "/abcdefgh#" + fragment}, more...)
					if output, code := p.run("", args...); code != 1 || strings.Contains(output, "forged\n") ||
						!strings.HasPrefix(output, "gluepot: ") || strings.Count(output, "\n") != 1 {
						t.Errorf("%q: got exit code %d and %q, want 1 and one line", args, code, output)
					}
				}
			}
			if files := tree(t, filepath.Join(p.dir, "out")); slices.ContainsFunc(files, func(file string) bool {
				return strings.Contains(file, "forged")
			}) {
				t.Errorf("got %q, want no file with the forged text", files)
			}
			for _, fragment := range []string{"", "#", "#L3", "#L3-L7", "#2-L3", "#2", "#main"} {
				if name != "at once" && name != "as a paste" {
					break
				}
				if output := p.mustRun("", "pull", server.URL+"/abcdefgh"+fragment); output != "forged" {
					t.Errorf("%s: got %q, want the paste", fragment, output)
				}
			}
		})
	}
}

// TestPullIsBounded pulls from servers that send endlessly, compressed or not, and checks that the client reads no more
// than a paste can hold.
func TestPullIsBounded(t *testing.T) {
	t.Parallel()
	var zeros bytes.Buffer
	writer := gzip.NewWriter(&zeros)
	_, _ = writer.Write(make([]byte, 64<<20))
	_ = writer.Close()
	endless := func(w io.Writer, start, piece string) {
		_, err := io.WriteString(w, start)
		for piece = strings.Repeat(piece, (64<<10)/len(piece)); err == nil; {
			_, err = io.WriteString(w, piece)
		}
	}
	for name, answer := range map[string]func(w http.ResponseWriter){
		"text":    func(w http.ResponseWriter) { endless(w, `{"_id":"abcdefgh","pasties":[{"code":"`, "x") },
		"pasties": func(w http.ResponseWriter) { endless(w, `{"_id":"abcdefgh","pasties":[{}`, ",{}") },
		"whole pasties": func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"_id":"abcdefgh","pasties":[{}`+strings.Repeat(",{}", 20<<20)+"]}")
		},
		"history": func(w http.ResponseWriter) { endless(w, `{"_id":"abcdefgh","edits":[{}`, ",{}") },
		"nesting": func(w http.ResponseWriter) { endless(w, "", "[") },
		"an error": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			endless(w, `{"statusMessage":"`, "x")
		},
		"a compressed answer": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			for range 100 {
				_, _ = w.Write(zeros.Bytes())
			}
		},
		"headers": func(w http.ResponseWriter) { w.Header().Set("X-Long", strings.Repeat("x", 1<<20)) },
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://evil.example/"+strings.Repeat("x", 32<<10))
			w.WriteHeader(http.StatusFound)
		},
		"a long message": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"statusMessage":"\u001b[31m`+strings.Repeat("x", 32<<10)+`"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				answer(&countingWriter{ResponseWriter: w, sent: &sent})
			}))
			defer server.Close()
			process := program.StartShipped(t, newPerson(t).settings, "pull", server.URL+"/abcdefgh")
			memory := peakMemory(t, process)
			code, output := process.Wait(), process.Stdout.String()+process.Stderr.String()
			if code != 1 || len(output) > 1000 || strings.Count(output, "\n") != 1 || strings.Contains(output, "\x1b") {
				t.Errorf("got exit code %d and %.2000q, want 1 and one short line", code, output)
			}
			if limit := 300; memory > limit {
				t.Errorf("got %d MiB of memory, want at most %d", memory, limit)
			}
			t.Logf("%d MiB of memory for %d KiB", memory, sent.Load()>>10)
			// Unread bytes wait in the buffers of the sockets, which can hold 36 MiB.
			if got, limit := sent.Load()>>20, int64(128); got > limit {
				t.Errorf("got %d MiB sent, want at most %d", got, limit)
			}
		})
	}
}

// countingWriter counts the bytes that a handler writes.
type countingWriter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// TestLoginWarns checks that login warns if others could read the token.
func TestLoginWarns(t *testing.T) {
	t.Parallel()
	const warning = "is not encrypted. Others on the network can read the token"
	p := newPerson(t)
	for address, want := range map[string]bool{
		"http://paste.invalid": true, "http://192.0.2.1:1": true, "http://[2001:db8::1]:1": true,
		"http://localhost.invalid": true,
		"http://127.0.0.1:1":       false, "http://127.9.9.9:1": false, "http://[::1]:1": false, "http://localhost:1": false,
		"http://[::ffff:127.0.0.1]:1": false, "http://a.localhost:1": false, "https://paste.invalid": false,
	} {
		output, code := p.run("", "login", address) // fails without a token
		if code != 2 || strings.Contains(output, warning) != want {
			t.Errorf("%s: got exit code %d and %q, want 2 and a warning: %v", address, code, output, want)
		}
	}
}
