package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/program"
)

// person uses the client in a folder, with its own configuration.
type person struct {
	*testing.T
	dir      string
	settings []string
}

func newPerson(t *testing.T, settings ...string) *person {
	t.Helper()
	dir := t.TempDir()
	return &person{t, dir, append(settings, "HOME="+dir, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))}
}

// file writes a file and returns its path.
func (p *person) file(name, content string) string {
	p.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		p.Fatal(err)
	}
	return file
}

// run runs a command with a standard input, and returns its standard output and standard error, and its exit code.
func (p *person) run(stdin string, args ...string) (out string, code int) {
	p.Helper()
	process := program.StartReading(p.T, p.input(stdin), p.settings, args...)
	code = process.Wait()
	return process.Stdout.String() + process.Stderr.String(), code
}

func (p *person) input(text string) *os.File {
	p.Helper()
	file, err := os.Open(p.file("stdin", text))
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = file.Close() })
	return file
}

// mustRun runs a command that must succeed.
func (p *person) mustRun(stdin string, args ...string) string {
	p.Helper()
	out, code := p.run(stdin, args...)
	if code != 0 {
		p.Fatalf("%q: got exit code %d, want 0: %s", args, code, out)
	}
	return out
}

// wantFailure runs a command that must fail with one sentence that contains these parts.
func (p *person) wantFailure(code int, stdin string, args []string, parts ...string) {
	p.Helper()
	out, got := p.run(stdin, args...)
	for _, part := range parts {
		if got != code || !strings.Contains(out, part) || strings.Count(out, "\n") != 1 ||
			strings.Contains(out, program.EpoxyToken) {
			p.Errorf("%q: got exit code %d and %q, want %d and one line with %q, and no token", args, got, out, code, part)
		}
	}
}

// configFiles returns the files of the configuration by their paths below its folder, and checks that only their owner
// may read them.
func (p *person) configFiles() map[string]string {
	p.Helper()
	files := make(map[string]string)
	root := filepath.Join(p.dir, "config")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		if info, err := entry.Info(); err != nil || info.Mode().Perm() != 0o600 {
			p.Errorf("%s: got the mode %v, %v, want 0600", path, info.Mode(), err)
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files[name] = strings.TrimSpace(string(content))
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return files
}

func TestPushAnonymously(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_PUBLIC_URL=https://paste.example")
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	link := strings.TrimSuffix(p.mustRun("", "push", p.file("main.go", "package main\n")), "\n")
	id, ok := strings.CutPrefix(link, "https://paste.example/")
	if !ok || len(id) != 8 {
		t.Fatalf("got %q, want a link", link)
	}
	if code := p.mustRun("", "pull", id); code != "package main\n" {
		t.Errorf("got %q, want the code", code)
	}
	if code := p.mustRun("", "pull", "http://"+server.Address+"/paste/"+id); code != "package main\n" {
		t.Errorf("got %q, want the code", code)
	}
	second := path.Base(strings.TrimSpace(p.mustRun("some\nwords", "push", "--title", "A title", "--expires-in", "1month",
		"--language", "md", "-")))
	if status, body := server.Get("/paste/"+second, ""); status != http.StatusOK ||
		!strings.Contains(body, `"title":"A title"`) ||
		!strings.Contains(body, `"expiresIn":"1m"`) || !strings.Contains(body, `"language":"Markdown"`) {
		t.Errorf("got %d %s, want the paste with its title, lifetime and language", status, body)
	}
	if list := p.mustRun("", "list"); !strings.Contains(list, id) || !strings.Contains(list, "main.go") ||
		!strings.Contains(list, "A title") {
		t.Errorf("got %q, want both pastes", list)
	}
	if len(p.configFiles()) != 2 {
		t.Errorf("got %d files, want two keys", len(p.configFiles()))
	}
	p.wantFailure(1, "", []string{"drop", "nothing1"}, "no delete key for that paste",
		"not logged in to http://"+server.Address)
	p.mustRun("", "drop", id)
	if status, _ := server.Get("/paste/"+id, ""); status != http.StatusNotFound {
		t.Errorf("got %d, want 404: the paste was dropped", status)
	}
	if len(p.configFiles()) != 1 {
		t.Errorf("got %d files, want one key", len(p.configFiles()))
	}
	p.wantFailure(1, "", []string{"pull", id}, "There is no paste with that id.")
	p.wantFailure(2, "x", []string{"push", "--private"}, "gluepot login")
	p.mustRun("x", "push", "--expires-in", "1m")
	p.wantFailure(1, "", []string{"push"}, "Standard input is empty")
	p.wantFailure(1, "", []string{"push", "--encrypt"}, "Standard input is empty")
	p.wantFailure(2, "x", []string{"push", "--expires-in", "3h"}, "--expires-in", "1month")
	p.wantFailure(2, "x", []string{"push", "--expires-in", ""}, "--expires-in")
	p.wantFailure(2, "x", []string{"push", "--server", ""}, "--server")
	p.wantFailure(2, "", []string{"push", "absent.txt"}, "absent.txt")
	p.wantFailure(1, "", []string{"push", p.file("picture.png", "\x89PNG\xff")}, "is not UTF-8 text")
	p.wantFailure(1, "", []string{"push", p.file("long.txt", strings.Repeat("x", 3<<20))}, "larger than 2097152 bytes")
	p.wantFailure(2, "", []string{"pull", "../x"}, "neither a paste id")
	p.wantFailure(2, "", []string{"pull", link, "--server", "http://" + server.Address}, "leave out --server")
	p.wantFailure(2, "", []string{"pull", "https://paste.example/"}, "not a link to a paste")
}

func TestPushSignedIn(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2")
	address := "http://" + server.Address + "/api/v2"
	p := newPerson(t)
	p.wantFailure(2, "x", []string{"push"}, "gluepot login URL")
	p.wantFailure(1, "wrong\n", []string{"login", address}, "rejected the access token")
	p.wantFailure(2, "", []string{"login", address}, "no token given")
	p.wantFailure(1, program.EpoxyToken, []string{"login", "http://" + server.Address}, "at this path. Check the address")
	if len(p.configFiles()) != 0 {
		t.Errorf("got %v, want no files", p.configFiles())
	}
	if out := p.mustRun(program.EpoxyToken+"\n", "login", address+"/"); out != "Logged in to "+address+" as Epoxy.\n" {
		t.Errorf("got %q, want the message for %s", out, address)
	}
	files := []string{p.file("a.go", "package a\n"), p.file("b.txt", "b")}
	link := strings.TrimSpace(p.mustRun("", append([]string{"push", "--private", "--tags", "x,y"}, files...)...))
	if !strings.HasPrefix(link, "http://"+server.Address+"/") || strings.Contains(link, "/api") {
		t.Errorf("got %s, want the page", link)
	}
	id := path.Base(link)
	if status, body := server.Get("/api/v2/paste/"+id, program.EpoxyToken); status != http.StatusOK ||
		!strings.Contains(body, `"tags":["x","y"]`) || !strings.Contains(body, `"isPrivate":true`) {
		t.Errorf("got %d %s, want a private paste with tags", status, body)
	}
	out := filepath.Join(p.dir, "out")
	if names := p.mustRun("", "pull", link, "-o", out); names != "a.go\nb.txt\n" {
		t.Errorf("got %q, want the names of the files", names)
	}
	if content, err := os.ReadFile(filepath.Join(out, "a.go")); err != nil || string(content) != "package a\n" {
		t.Errorf("got %q, %v, want the code of a.go", content, err)
	}
	p.wantFailure(1, "", []string{"pull", link, "-o", out}, `"a.go" already exists`)
	if list := p.mustRun("", "list"); !strings.Contains(list, id) || !strings.Contains(list, "private") {
		t.Errorf("got %q, want the paste", list)
	}
	p.mustRun("", "drop", link)
	p.wantFailure(1, "", []string{"drop", id}, "There is no paste with that id.")
	link = strings.TrimSpace(p.mustRun("x", "push", "--public"))
	status, body := server.Get("/api/v2/paste/"+path.Base(link), "")
	if status != http.StatusOK || !strings.Contains(body, `"isPublic":true`) {
		t.Errorf("got %d %s, want a public paste", status, body)
	}
	p.wantFailure(2, "x", []string{"push", "--public", "--private"}, "not both")
	p.mustRun("x", "push")
	p.wantFailure(2, "", []string{"list", "--limit", "-1"}, "--limit is negative")
	rows := func(limit string) int { return strings.Count(p.mustRun("", "list", "--limit", limit), "\n") - 1 }
	if one, all := rows("1"), rows("0"); one != 1 || all < 2 {
		t.Errorf("got %d and %d pastes, want 1, and all of them with the limit 0", one, all)
	}
	settings := p.settings
	p.settings = append(settings, "GLUEPOT_TOKEN="+program.RevokedToken)
	p.wantFailure(1, "", []string{"list"}, "rejected the access token", "GLUEPOT_TOKEN")
	p.settings = append(settings, "GLUEPOT_TOKEN="+program.MortarToken)
	if list := p.mustRun("", "list"); strings.Contains(list, path.Base(link)) {
		t.Errorf("got %q, want the list of the other token's user", list)
	}
	other := "http://" + freeport.Address(t)
	p.settings = append(settings, "GLUEPOT_SERVER="+other)
	p.wantFailure(1, "x", []string{"push"}, other+" does not answer")
	p.settings = settings
	for _, server := range []string{address, ""} { // by its address, and as the last one used
		args := strings.Fields("logout " + server)
		if out := p.mustRun("", args...); out != "Removed the token for "+address+".\n" {
			t.Errorf("got %q, want the message for %s", out, address)
		}
		p.wantFailure(1, "", args, "no token is stored for "+address)
		p.wantFailure(2, "x", []string{"push", "--private"}, "gluepot login")
		p.mustRun(program.EpoxyToken, "login", address)
	}
}

// TestTokenStaysWithItsServer checks that another server does not get the token, through a redirect, through a link or
// as the server of a command.
func TestTokenStaysWithItsServer(t *testing.T) {
	t.Parallel()
	headers := make(chan http.Header, 10)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header
		_, _ = io.WriteString(w, `{"_id":"abcdefgh","pasties":[{"code":"elsewhere"}],"username":"other"}`)
	}))
	defer other.Close()
	redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/user/self" {
			_, _ = io.WriteString(w, `{"username":"me"}`)
			return
		}
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer redirecting.Close()
	p := newPerson(t)
	p.mustRun(program.EpoxyToken, "login", redirecting.URL)
	for _, args := range [][]string{{"push"}, {"list"}, {"pull", "abcdefgh"}, {"drop", "abcdefgh"}} {
		p.wantFailure(1, "secret code", args, "redirects to "+other.URL)
	}
	if len(headers) > 0 {
		t.Errorf("got %v, want no request to the other server", <-headers)
	}
	for _, settings := range [][]string{nil, {"GLUEPOT_TOKEN=" + program.EpoxyToken}} {
		q := &person{t, p.dir, append(p.settings, settings...)}
		if out := q.mustRun("", "pull", other.URL+"/abcdefgh"); out != "elsewhere" {
			t.Errorf("got %q, want the other server's code", out)
		}
		if header := <-headers; header.Get("Authorization") != "" {
			t.Errorf("got %v, want no token for the other server", header)
		}
	}
	for _, settings := range [][]string{nil, {"GLUEPOT_SERVER=" + redirecting.URL,
		"GLUEPOT_TOKEN=" + program.EpoxyToken}} {
		q := &person{t, p.dir, append(p.settings, settings...)}
		q.mustRun("x", "push", "--server", other.URL)
		if header := <-headers; header.Get("Authorization") != "" {
			t.Errorf("%v: got %v, want no token for the other server", settings, header)
		}
	}
	q := &person{t, p.dir, append(p.settings, "GLUEPOT_SERVER="+strings.ToUpper(other.URL)+"/",
		"GLUEPOT_TOKEN="+program.EpoxyToken)}
	q.mustRun("x", "push", "--server", other.URL)
	if header := <-headers; header.Get("Authorization") == "" {
		t.Errorf("got %v, want the environment's token for the environment's server, however its URL is spelled", header)
	}
}

// TestPushLeadsToTheWeb pushes to a server that answers with a link to a file, not to the web.
func TestPushLeadsToTheWeb(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "file:///etc/passwd")
		_, _ = io.WriteString(w, `{"_id":"abcdefgh"}`)
	}))
	defer server.Close()
	if out, code := newPerson(t).run("x", "push", "--server", server.URL); code == 0 || strings.Contains(out, "file:") {
		t.Errorf("got exit code %d and %q, want an error", code, out)
	}
}

// TestPushThroughTLS pushes to a server with a self-signed certificate.
func TestPushThroughTLS(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	certificate, key := selfSigned(t, p.dir)
	server := program.Start(t, []string{
		"GLUEPOT_DATABASE_URL=" + database.SQLite(t).URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
		"GLUEPOT_HTTP_TLS_CERT_FILE=" + certificate, "GLUEPOT_HTTP_TLS_KEY_FILE=" + key,
	}, "serve")
	server.WaitForAddress()
	p.settings = append(p.settings, "GLUEPOT_SERVER=https://"+server.Address)
	p.wantFailure(1, "x", []string{"push"}, "from an unknown authority", "SSL_CERT_FILE")
	p.settings = append(p.settings, "SSL_CERT_FILE="+certificate)
	link := strings.TrimSpace(p.mustRun("x", "push"))
	if code := p.mustRun("", "pull", link); code != "x" || !strings.HasPrefix(link, "https://"+server.Address+"/") {
		t.Errorf("got %q at %s, want x at an https link", code, link)
	}
}

func selfSigned(t *testing.T, dir string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	blocks := map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: pkcs8}}
	for file, block := range blocks {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// TestPushWithoutServer pushes to a closed port, to other kinds of servers, and to one that hangs up.
func TestPushWithoutServer(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "GLUEPOT_SERVER=http://"+freeport.Address(t))
	p.wantFailure(1, "x", []string{"push"}, "does not answer", "connection refused")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>")
	}))
	defer page.Close()
	p.wantFailure(1, "x", []string{"push", "--server", page.URL}, "did not answer with a paste")
	null := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "null")
	}))
	defer null.Close()
	for _, id := range []string{"abcdefgh", "abcdefgh#" + strings.Repeat("A", 43)} {
		p.wantFailure(1, "", []string{"pull", "--server", null.URL, id}, "did not answer with a paste")
	}
	aborting := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer aborting.Close()
	p.wantFailure(1, "x", []string{"push", "--server", aborting.URL}, "does not answer")
	for _, invalid := range []string{"ftp://paste.example", "https://u:hunter2@paste.example",
		"https://paste.example?x", "https://"} {
		p.wantFailure(2, "x", []string{"push", "--server", invalid}, "give the server as a URL")
	}
	if len(p.configFiles()) != 0 {
		t.Errorf("got %v, want no files", p.configFiles())
	}
}

// TestPushInterrupted interrupts a push while the server reads the body.
func TestPushInterrupted(t *testing.T) {
	t.Parallel()
	started, result := make(chan struct{}), make(chan error, 1)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadFull(r.Body, make([]byte, 1))
		close(started)
		if err == nil {
			<-time.After(100 * time.Millisecond) // until the connection's buffers are full
			_, err = io.Copy(io.Discard, r.Body)
		}
		result <- err
	}))
	defer slow.Close()
	p := newPerson(t, "GLUEPOT_SERVER="+slow.URL)
	process := program.Start(t, p.settings, "push", p.file("long.txt", strings.Repeat("x", 32<<20)))
	<-started
	process.Signal(os.Interrupt)
	if code := process.Wait(); code == 0 {
		t.Errorf("got exit code %d, want a failure", code)
	}
	if err := <-result; err == nil {
		t.Error("got the whole body, want an error")
	}
	if process.Stdout.String() != "" || len(p.configFiles()) != 0 {
		t.Errorf("got %q and %v, want neither a link nor a key", process.Stdout.String(), p.configFiles())
	}
}

// TestPushOpensAndCopies replaces the programs that open the browser and fill the clipboard with scripts.
func TestPushOpensAndCopies(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	bin := t.TempDir()
	for name, script := range map[string]string{"xdg-open": `printf %s "$1"`, "xsel": "cat"} {
		text := "#!/bin/sh\n" + script + " > " + filepath.Join(p.dir, name) + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.settings = append(p.settings, "PATH="+p.dir) // has neither of them
	if out, code := p.run("x", "push", "--copy"); code != 1 || !strings.HasPrefix(out, "http://") ||
		!strings.Contains(out, "cannot copy the link") {
		t.Errorf("got exit code %d and %q, want 1, the link and the error", code, out)
	}
	p.settings = append(p.settings, "PATH="+bin+":/usr/bin:/bin")
	link := strings.TrimSpace(p.mustRun("x", "push", "--open", "--copy"))
	for _, name := range []string{"xdg-open", "xsel"} {
		program.Eventually(t, name+" has the link", func() bool {
			content, _ := os.ReadFile(filepath.Join(p.dir, name))
			return string(content) == link
		})
	}
}

// onTerminal returns a command of the client on a terminal, which script(1) of util-linux creates.
func (p *person) onTerminal(command string) *exec.Cmd {
	p.Helper()
	if _, err := exec.LookPath("script"); err != nil {
		p.Skip("script(1) is not installed")
	}
	ctx, cancel := context.WithTimeout(p.Context(), program.Patience)
	p.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "script", "-qec", program.Binary(p.T)+" "+command, "/dev/null")
	cmd.Env = append(os.Environ(), p.settings...)
	return cmd
}

func TestPushShowsProgress(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	for size, want := range map[int]bool{1 << 10: false, 1 << 20: true} {
		out, err := p.onTerminal("push " + p.file("x.txt", strings.Repeat("x", size))).CombinedOutput()
		hasLink := strings.Contains(string(out), "http://"+server.Address+"/")
		if err != nil || !hasLink || strings.Contains(string(out), "Uploading") != want {
			t.Errorf("%d bytes: got %q, %v, want a link and progress: %v", size, out, err, want)
		}
	}
}

// terminalOf returns the terminal of a process's child.
func terminalOf(t *testing.T, parent int) string {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", parent))
	if err != nil {
		t.Fatal(err)
	}
	child, _, _ := strings.Cut(string(children), " ")
	terminal, err := os.Readlink(filepath.Join("/proc", child, "fd", "0"))
	if err != nil {
		t.Fatal(err)
	}
	return terminal
}

// TestLoginHidesToken types a token on a terminal, and checks that the terminal does not show it.
func TestLoginHidesToken(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL)
	p := newPerson(t)
	cmd := p.onTerminal("login http://" + server.Address)
	keyboard, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	for b := make([]byte, 1); !strings.HasSuffix(output.String(), server.Address+": "); {
		if _, err := io.ReadFull(screen, b); err != nil {
			t.Fatalf("got %q, %v, want the question for the token", output.String(), err)
		}
		output.Write(b)
	}
	// Echo is turned off only after the question.
	program.Eventually(t, "the terminal shows nothing that is typed", func() bool {
		out, _ := exec.CommandContext(t.Context(), "stty", "-a", "-F", terminalOf(t, cmd.Process.Pid)).Output()
		return strings.Contains(string(out), "-echo ")
	})
	if _, err := io.WriteString(keyboard, program.EpoxyToken+"\n"); err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(&output, screen)
	if err := errors.Join(err, cmd.Wait()); err != nil || !strings.Contains(output.String(), "as Epoxy.") ||
		strings.Contains(output.String(), program.EpoxyToken[:4]) {
		t.Errorf("got %q, %v, want a successful login and no token", output.String(), err)
	}
}

// TestPushBurns checks that pull opens a burning paste only with --yes or after a question on a terminal.
func TestPushBurns(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	first, second := strings.TrimSpace(p.mustRun("first", "push", "--burn")),
		strings.TrimSpace(p.mustRun("second", "push", "--burn"))
	p.wantFailure(1, "y\n", []string{"pull", first}, "If it burns after reading, --yes opens and deletes it.")
	if code := p.mustRun("", "pull", "--yes", first); code != "first" {
		t.Errorf("got %q, want the code", code)
	}
	p.wantFailure(1, "", []string{"pull", "--yes", first}, "There is no paste with that id.")
	for _, answer := range []string{"n\n", "\n"} {
		cmd := p.onTerminal("pull " + second)
		cmd.Stdin = strings.NewReader(answer)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "Open it? [y/N]") || strings.Contains(string(out), "second") {
			t.Errorf("%q: got %q, %v, want a question and no code", answer, out, err)
		}
	}
	cmd := p.onTerminal("pull " + second)
	cmd.Stdin = strings.NewReader("y\n")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "second") {
		t.Errorf("got %q, %v, want the code", out, err)
	}
	p.wantFailure(1, "", []string{"pull", "--yes", second}, "There is no paste with that id.")
}

// TestPushEncrypted checks the errors of wrong options, and lists, pulls and deletes an encrypted paste.
func TestPushEncrypted(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	p.wantFailure(2, "x", []string{"push", "--password"}, "--password requires --encrypt")
	p.wantFailure(2, "x", []string{"push", "--encrypt", "--tags", "a"}, "cannot be public or tagged")
	p.wantFailure(2, "x", []string{"push", "--encrypt", "--password"}, "GLUEPOT_PASSWORD")
	link := strings.TrimSpace(p.mustRun("x", "push", "--encrypt", "--expires-in", "1w"))
	id, key, _ := strings.Cut(path.Base(link), "#")
	if list := p.mustRun("", "list"); !strings.Contains(list, id) || !strings.Contains(list, "(encrypted)") {
		t.Errorf("got %q, want %s as an encrypted paste", list, id)
	}
	for _, reference := range []string{link, id + "#" + key} {
		if code := p.mustRun("", "pull", reference); code != "x" {
			t.Errorf("%s: got %q, want the code", reference, code)
		}
	}
	p.wantFailure(1, "", []string{"pull", id}, "part of the key after the # is missing")
	p.mustRun("", "drop", link)
	p.wantFailure(1, "", []string{"pull", link}, "There is no paste with that id.")
}

// TestPushAsksForPassword checks that push asks for a password twice, because the terminal does not show it.
func TestPushAsksForPassword(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	file := p.file("a.txt", "x")
	for answer, want := range map[string]string{
		"one\ntwo\n": "the passwords differ", "one\none\n": "http://" + server.Address + "/",
	} {
		cmd := p.onTerminal("push --encrypt --password " + file)
		cmd.Stdin = strings.NewReader(answer)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || (err == nil) == strings.Contains(want, "differ") {
			t.Errorf("%q: got %q, %v, want %q", answer, out, err, want)
		}
	}
}

// TestPullKeepsWhatBurns checks that an opened paste is never lost, whatever fails after the server deleted it.
func TestPullKeepsWhatBurns(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	p := newPerson(t, "GLUEPOT_SERVER=http://"+server.Address)
	folder := filepath.Join(p.dir, "out")
	link := strings.TrimSpace(p.mustRun("x", "push", "--encrypt", "--burn"))
	id, key, _ := strings.Cut(path.Base(link), "#")
	// No key ends with the bits of B.
	for _, reference := range []string{id, id + "#" + key[:42], id + "#" + key[:42] + "B"} {
		p.wantFailure(1, "", []string{"pull", "--yes", "-o", folder, reference}, "burns after reading",
			"part of the key after")
	}
	p.wantFailure(1, "", []string{"pull", "--yes", "-o", folder, id + "#" + strings.Repeat("A", 43)},
		"does not fit the paste", "it was saved")
	content, err := os.ReadFile(filepath.Join(folder, "gluepot-"+id+".json"))
	if err != nil || !strings.Contains(string(content), `"cipher":"`) {
		t.Errorf("got %s, %v, want the ciphertext", content, err)
	}
	unencrypted := strings.TrimSpace(p.mustRun("in the clear", "push", "--burn"))
	for _, secret := range []string{strings.Repeat("A", 43), "password"} {
		p.wantFailure(1, "", []string{"pull", "--yes", unencrypted + "#" + secret}, "There is no paste")
	}
	if code := p.mustRun("", "pull", "--yes", unencrypted); code != "in the clear" {
		t.Errorf("got %q, want the paste: a link with a key must not open it", code)
	}
	file := p.file("a.txt", "of a file")
	for _, want := range []string{"a.txt", "a (2).txt"} {
		link := strings.TrimSpace(p.mustRun("", "push", "--burn", file))
		if out := p.mustRun("", "pull", "--yes", "-o", folder, link); strings.TrimSpace(out) != want {
			t.Errorf("got %q, want %q", out, want)
		}
	}
	plain := strings.TrimSpace(p.mustRun("plain", "push"))
	if code := p.mustRun("", "pull", plain+"#L1-L2"); code != "plain" {
		t.Errorf("got %q by a link to lines, want the paste", code)
	}
	for _, secret := range []string{strings.Repeat("A", 43), "password"} {
		p.wantFailure(1, "", []string{"pull", plain + "#" + secret}, "There is no paste")
	}
}
