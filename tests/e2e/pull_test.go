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

// titled creates a paste with these titles, and returns its id. The code of each pasty is its position.
func titled(t *testing.T, server *program.Process, titles ...string) string {
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

// tree returns the files below a folder, with what each holds.
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

// TestPullKeepsNames writes files by their titles, whatever those are, below the folder.
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
			id := titled(t, server, c.titles...)
			_, document := server.Get("/paste/"+id, "")
			out := filepath.Join(p.dir, "out")
			printed := p.ok("", "pull", id, "-o", out)
			got := tree(t, out)
			for i, file := range got { // a name that was made of a pasty's id
				name, content, _ := strings.Cut(file, "=")
				id, ok := strings.CutSuffix(name, ".txt")
				if ok && strings.Contains(document, `"_id":"`+id+`"`) {
					got[i] = "ID.txt=" + content
				}
			}
			slices.Sort(got)
			slices.Sort(c.want)
			asWanted := slices.Equal(got, c.want) && strings.Count(printed, "\n") == len(c.want)
			if !asWanted || strings.ContainsAny(printed, "\x1b\x00") {
				t.Errorf("got %q, printed %q, want %q", got, printed, c.want)
			}
			if files := tree(t, p.dir); len(files) != len(got)+1 { // and the standard input
				t.Errorf("got %q, want no file outside of the folder", files)
			}
			p.fails(1, "", []string{"pull", id, "-o", out}, "already exists: choose another folder with -o")
			if again := tree(t, out); len(again) != len(got) {
				t.Errorf("got %q, want nothing more", again)
			}
		})
	}
}

// TestPullMeetsLinks pulls into folders with symbolic links and files in the way, and into the user's home folder.
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
		printed, code := p.run("", "pull", titled(t, server, titles...), "-o", out)
		if code != 1 || strings.Count(printed, "\n") != 1 {
			t.Errorf("%q: got exit code %d and %q, want an error", titles, code, printed)
		}
	}
	if files := tree(t, outside); len(files) != 0 {
		t.Errorf("got %q, want nothing outside of the folder", files)
	}
	if _, err := os.Stat(filepath.Join(out, "first")); !os.IsNotExist(err) {
		t.Errorf("got %v, want nothing written where another name is taken", err)
	}
	hidden := titled(t, server, "x", ".bash_profile")
	p.fails(1, "", []string{"pull", hidden, "-o", p.dir}, "hidden file in your home folder")
	if _, err := os.Stat(filepath.Join(p.dir, "x")); !os.IsNotExist(err) {
		t.Errorf("got %v, want nothing written", err)
	}
	if printed := p.ok("", "pull", titled(t, server, "y", "a/.z"), "-o", p.dir); printed != "y\na/.z\n" {
		t.Errorf("got %q, want the names of both files", printed)
	}
}

// TestPushKeepsBytes sends a patch of a file with CRLF through the server, and applies it.
func TestPushKeepsBytes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git(1)")
	}
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	git := func(stdin string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Stdin, cmd.Env = p.dir, strings.NewReader(stdin), append(os.Environ(), p.settings...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("git %q: got %v and %s", args, err, out)
		}
	}
	git("", "init", "-q")
	const patch = "--- a/w.bat\n+++ b/w.bat\n@@ -1,2 +1,2 @@\n-echo one\r\n+echo three\r\n echo two\r\n"
	p.file("w.bat", "echo one\r\necho two\r\n")
	git("", "add", "w.bat")
	file := p.file("crlf.patch", patch)
	pushed := strings.TrimSpace(p.ok("", "push", file))
	_, link := send(t, server, http.MethodPost, "/raw?title=crlf.patch", patch)
	ways := map[string]string{
		"push and pull": p.ok("", "pull", pushed), "standard input": p.ok("", "pull", strings.TrimSpace(p.ok(patch, "push"))),
		"push --encrypt": p.ok("", "pull", strings.TrimSpace(p.ok("", "push", "--encrypt", file))),
	}
	_, ways["/raw"] = server.Get("/raw/"+path.Base(strings.TrimSpace(link)), "")
	for way, got := range ways {
		if got != patch {
			t.Errorf("%s: got %q, want %q", way, got, patch)
		}
		git(got, "apply", "--check", "-")
	}
	p.ok("", "pull", pushed, "-o", filepath.Join(p.dir, "out"))
	git("", "apply", "out/crlf.patch")
	content, err := os.ReadFile(filepath.Join(p.dir, "w.bat"))
	if err != nil || string(content) != "echo three\r\necho two\r\n" {
		t.Errorf("got %q, %v, want the patch applied", content, err)
	}
}

// TestPushNames names inputs without a name, and keeps folders.
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
			_, _ = write.WriteString("piped")
			_ = write.Close()
			cmd := exec.CommandContext(t.Context(), program.Binary(t), slices.Concat([]string{"push"}, more, c.args)...)
			cmd.Dir, cmd.Env, cmd.ExtraFiles, cmd.Stdin = p.dir, p.settings, []*os.File{read}, strings.NewReader("stdin")
			printed, err := cmd.CombinedOutput()
			_ = read.Close()
			if err != nil {
				t.Errorf("%q: got %v and %s", c.args, err, printed)
				continue
			}
			titles := c.titles
			if more != nil { // the names are inside
				titles = slices.Clone(titles)
				for i := range titles {
					titles[i] = strings.ReplaceAll(titles[i], "%0A", "")
				}
			}
			out := t.TempDir()
			p.ok("", "pull", strings.TrimSpace(string(printed)), "-o", out)
			got := tree(t, out)
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], "=")
			}
			for i, title := range titles {
				if title == "" && len(got) > i {
					got[i] = "" // a name of its own
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
		p.fails(2, "x", args, "--name")
	}
}

// TestPullWantsEncrypted uses servers that answer a link to an encrypted paste with plain text.
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
					if printed, code := p.run("", args...); code != 1 || strings.Contains(printed, "forged\n") ||
						!strings.HasPrefix(printed, "gluepot: ") || strings.Count(printed, "\n") != 1 {
						t.Errorf("%q: got exit code %d and %q, want one error", args, code, printed)
					}
				}
			}
			if files := tree(t, filepath.Join(p.dir, "out")); slices.ContainsFunc(files, func(file string) bool {
				return strings.Contains(file, "forged")
			}) {
				t.Errorf("got %q, want nothing of it written", files)
			}
			for _, fragment := range []string{"", "#", "#L3", "#L3-L7", "#2-L3", "#2", "#main"} {
				if name != "at once" && name != "as a paste" {
					break
				}
				if printed := p.ok("", "pull", server.URL+"/abcdefgh"+fragment); printed != "forged" {
					t.Errorf("%s: got %q, want the paste", fragment, printed)
				}
			}
		})
	}
}

// TestPullIsBounded uses servers that send without end, compressed or not, and checks that the client reads no more
// than a paste can hold.
func TestPullIsBounded(t *testing.T) {
	t.Parallel()
	var zeros bytes.Buffer
	packer := gzip.NewWriter(&zeros)
	_, _ = packer.Write(make([]byte, 64<<20))
	_ = packer.Close()
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
		"a packed answer": func(w http.ResponseWriter) {
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
				answer(&counted{ResponseWriter: w, sent: &sent})
			}))
			defer server.Close()
			process := program.StartShipped(t, newPerson(t).settings, "pull", server.URL+"/abcdefgh")
			memory := peakMemory(t, process)
			code, printed := process.Wait(), process.Stdout.String()+process.Stderr.String()
			if code != 1 || len(printed) > 1000 || strings.Count(printed, "\n") != 1 || strings.Contains(printed, "\x1b") {
				t.Errorf("got exit code %d and %.2000q, want one short error", code, printed)
			}
			if most := 300; memory > most {
				t.Errorf("got %d MiB of memory, want at most %d", memory, most)
			}
			t.Logf("%d MiB of memory for %d KiB", memory, sent.Load()>>10)
			// What is sent and not read waits in the sockets, whose buffers can have 36 MiB.
			if got, most := sent.Load()>>20, int64(128); got > most {
				t.Errorf("got %d MiB read, want at most %d", got, most)
			}
		})
	}
}

// counted counts what is written to a client.
type counted struct {
	http.ResponseWriter
	sent *atomic.Int64
}

// Write implements io.Writer.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// TestLoginWarns checks the warning where others could read the token.
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
		printed, code := p.run("", "login", address) // without a token, which ends it
		if code != 2 || strings.Contains(printed, warning) != want {
			t.Errorf("%s: got exit code %d and %q, want a warning: %v", address, code, printed, want)
		}
	}
}
