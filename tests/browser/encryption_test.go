package browser

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/collector"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// vector is an encrypted paste with its key or password.
type vector struct {
	Key      string `json:"key,omitempty"`
	Password string `json:"password,omitempty"`
	Version  int    `json:"version"`
	Salt     string `json:"salt"`
	Cipher   string `json:"cipher"`
	Plain    string `json:"plain,omitempty"`
}

// vectors returns those of the documentation.
func vectors(t *testing.T) (all []vector) {
	t.Helper()
	document, err := os.ReadFile("../../docs/encryption.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(document), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != 2 {
		t.Fatalf("got %d vectors, %v, want two", len(all), err)
	}
	return all
}

// byNode has Node.js decrypt pastes with its own WebCrypto.
func byNode(t *testing.T, all []vector) (plain []string) {
	t.Helper()
	input, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/decrypt.mjs")
	cmd.Stdin = bytes.NewReader(input)
	output, err := cmd.CombinedOutput()
	if err != nil || json.Unmarshal(output, &plain) != nil {
		t.Fatalf("got %v, %s, want Node.js to decrypt %s", err, output, input)
	}
	return plain
}

// sealedSite is a server that records every request.
type sealedSite struct {
	*testing.T

	cfg     gormstore.Config
	process *program.Process
	traces  *collector.Collector
	origin  string
	home    string

	held chan struct{} // nil, or closed when colours may come

	mu   sync.Mutex
	sent bytes.Buffer
}

func newSealedSite(t *testing.T, cfg gormstore.Config, settings ...string) *sealedSite {
	t.Helper()
	s := &sealedSite{T: t, cfg: cfg, traces: collector.Start(t), home: t.TempDir()}
	program.Fixture(t, s.cfg)
	settings = append(settings, "OTEL_EXPORTER_OTLP_ENDPOINT="+s.traces.URL, "GLUEPOT_LOG_LEVEL=debug",
		"GLUEPOT_DATABASE_SLOW_STATEMENT=1ns")
	s.process = program.Serve(t, s.cfg.URL, settings...)
	target := &url.URL{Scheme: "http", Host: s.process.Address}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		body, _ := io.ReadAll(r.In.Body)
		r.Out.Body = io.NopCloser(bytes.NewReader(body))
		if s.held != nil && strings.HasSuffix(r.In.URL.Path, "/colours.js") {
			<-s.held
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = r.In.Header.Write(&s.sent)
		s.sent.WriteString(r.In.URL.String())
		s.sent.Write(body)
	}})
	t.Cleanup(proxy.Close)
	s.origin = proxy.URL
	return s
}

// run runs a command of the client.
func (s *sealedSite) run(password string, args ...string) (out string, code int) {
	s.Helper()
	code, out, log := program.Run(s.T, []string{
		"GLUEPOT_SERVER=" + s.origin, "GLUEPOT_PASSWORD=" + password, "HOME=" + s.home, "XDG_CONFIG_HOME=" + s.home,
	}, args...)
	return out + log, code
}

// push pushes a text and returns its link.
func (s *sealedSite) push(password, text string, args ...string) string {
	s.Helper()
	file := filepath.Join(s.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	if password != "" {
		args = append(args, "--password")
	}
	out, code := s.run(password, append([]string{"push", "--encrypt", file}, args...)...)
	if code != 0 {
		s.Fatalf("got exit code %d: %s", code, out)
	}
	return strings.TrimSpace(out)
}

// wantPull wants the command to print something, or to say it.
func (s *sealedSite) wantPull(password, link, want string, code int) {
	s.Helper()
	if out, got := s.run(password, "pull", link); got != code || !strings.Contains(out, want) {
		s.Errorf("got exit code %d and %q, want %d and %q", got, out, code, want)
	}
}

// wantOpened wants a page to show a decrypted text under a title.
func (tab *tab) wantOpened(title, text string) {
	tab.t.Helper()
	tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
	if got := evaluate[string](tab, `document.querySelector("h1").textContent`); got != title {
		tab.t.Errorf("got the title %q, want %q", got, title)
	}
	if got := evaluate[string](tab, `textOf(document.querySelector("section.pasty code"))`); got != text {
		tab.t.Errorf("got %q, want %q", got, text)
	}
	if got := evaluate[string](tab, "document.title"); strings.Contains(got, title) && title != "Encrypted paste" {
		tab.t.Errorf(
			"got the document's title %q, which the browser's history keeps and synchronises, want none of the paste", got)
	}
}

// wantSaid wants a page to say why it shows nothing.
func (tab *tab) wantSaid(part string) {
	tab.t.Helper()
	program.Eventually(tab.t, "the page says "+part, func() bool {
		return strings.Contains(evaluate[string](tab, `document.querySelector("#decrypted").textContent`), part)
	})
	if n := evaluate[int](tab, `document.querySelectorAll("section.pasty").length`); n != 0 {
		tab.t.Errorf("got %d snippets shown, want none", n)
	}
}

const (
	secretTitle = "s3aled-title"
	secretCode  = "s3aled-code <b>✓\n"
)

// TestVectors opens the documentation's test vectors with Node.js, Chromium and the command.
func TestVectors(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	all := vectors(t)
	for i, plain := range byNode(t, all) {
		v := all[i]
		if plain != v.Plain {
			t.Errorf("got %s by Node.js, want %s", plain, v.Plain)
		}
		id := s.store(v)
		link := s.origin + "/" + id
		if v.Key != "" {
			link += "#" + v.Key
		}
		s.wantPull(v.Password, link, "package main\n", 0)
		tab := open(t, s.origin)
		tab.show(strings.TrimPrefix(link, s.origin))
		if v.Password != "" {
			tab.fill("#password", v.Password+"\r")
		}
		tab.wantOpened("Vector ✓", "package main\n")
	}
}

// TestDecrypted reads a decrypted paste as any other: its lines have numbers, colours and addresses, long ones wrap,
// and Copy copies what was encrypted. The server does not learn which lines, nor which languages.
func TestDecrypted(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	s.held = make(chan struct{})
	second := "x = 1 # <b> " + strings.Repeat("long ", 100) + "\r\n" + strings.Repeat("y\n", 250) + "last"
	text, err := json.Marshal(map[string]any{"pasties": []pasty{
		{Title: "main.go", Code: "package main\n\nfunc main() {}\n"},
		{Language: "Python", Code: second},
		{Language: "unknown"},
		{Title: "index.php", Code: "<p class=\"a\">\n<?php echo 1;\nif (2) { echo 'b'; } ?>\n</p>\n"},
		{Title: "README.md", Code: "# Head\n\nSome *soft* words.\n"},
		{Language: "Autodetect", Code: "#!/usr/bin/env -S LANG=C python3 -u\nprint(1)\n"},
		{Code: "Dear all, the meeting is on Monday.\n" + strings.Repeat("long ", 100)},
		{Title: "other.go", Language: "Plain Text", Code: "package main\n"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	v := seal(t, string(text))
	path := "/" + s.store(v) + "#" + v.Key
	tab := open(t, s.origin)
	tab.begin(`performance.now = () => 0`) // or else a busy machine has no time for all colours
	tab.show(path + "&1-L2-L3")
	tab.wait(`document.querySelector(".selected")`)
	evaluate[bool](tab, `scrollTo(0, document.body.scrollHeight), true`)
	before := evaluate[float64](tab, `scrollY`)
	close(s.held)
	tab.wait(`document.querySelectorAll(".pasty .facts")[6].textContent.startsWith("Plain Text")`)
	tab.do(chromedp.Evaluate[chromedp.Void](settled, chromedp.EvalAwaitPromise))
	if at := evaluate[float64](tab, `scrollY`); before == 0 || at < before {
		t.Errorf("got to %v when the colours came, want the reader left at %v", at, before)
	}
	languages := evaluate[string](tab,
		`Array.from(document.querySelectorAll(".pasty .facts span:first-child"), fact => fact.textContent).join()`)
	if languages != "Go,Python,unknown,PHP,Markdown,Python,Plain Text,Plain Text" {
		t.Errorf("got the languages %s, want those of names and texts", languages)
	}
	for n, want := range map[int]string{
		3: "k p,a class,s \"a\",p <?php,k echo,m 1,k if,m 2,k echo,s 'b',p ?>,k p",
		4: "h p #,h  Head,i p *,i soft,i p *", 7: "",
	} {
		if got := evaluate[string](tab, fmt.Sprintf(`Array.from(document.querySelectorAll(".code")[%d].querySelectorAll(
			"span[class]:not(.lines)"), span => span.className + " " + span.textContent).join()`, n)); got != want {
			t.Errorf("got %s coloured in snippet %d, want %s", got, n+1, want)
		}
	}
	if wrapped := evaluate[string](tab, `Array.from(document.querySelectorAll(".code"), code =>
		Number(code.matches(".wrapped"))).join("")`); wrapped != "00000011" {
		t.Errorf("got %s wrapped, want the prose alone", wrapped)
	}
	const selected = `Array.from(document.querySelectorAll(".selected a"), a => a.textContent).join()`
	if got := evaluate[string](tab, selected); got != "2,3" {
		t.Errorf("got the lines %s selected, want those of the address", got)
	}
	const keywords = `Array.from(document.querySelector(".pasty").querySelectorAll(".k"), k => k.textContent).join()`
	if got := evaluate[string](tab, keywords); got != "package,func" {
		t.Errorf("got %s in the colour of keywords, want those of Go, which the name of the file says", got)
	}
	numbers := evaluate[[]int](tab, `Array.from(document.querySelectorAll("section.pasty"),
		section => section.querySelectorAll(".lines a").length)`)
	if fmt.Sprint(numbers[:3]) != "[3 252 0]" {
		t.Errorf("got %v numbered lines, want 3, 252 and none at first", numbers)
	}
	tab.wantUsable("a decrypted paste")
	tab.wholePicture("decrypted")
	tab.do(tab.click("[id='2-L1']"))
	evaluate[bool](tab, `document.getElementById("2-L5").dispatchEvent(
		new MouseEvent("click", {bubbles: true, cancelable: true, shiftKey: true})) || true`)
	if hash := evaluate[string](tab, "location.hash"); hash != "#"+v.Key+"&2-L1-L5" {
		t.Errorf("got the address %s, want the key and five lines", hash)
	}
	evaluate[bool](tab, `document.querySelector("section.pasty").dataset.same = "yes", location.hash += "0", true`)
	tab.wait(selected + `.split(",").length === 50`)
	if !evaluate[bool](tab, `document.querySelector("section.pasty").dataset.same === "yes"`) {
		t.Error("got the paste decrypted again for other lines, want it left")
	}
	if link := evaluate[string](tab, `document.querySelector("#link").value`); link != s.origin+path {
		t.Errorf("got the link %s, want %s", link, s.origin+path)
	}
	tab.keepCopies()
	evaluate[bool](tab, `document.querySelectorAll(".copy")[1].click(), true`)
	tab.wait("window.kept")
	if got := evaluate[string](tab, "window.kept"); got != second {
		t.Errorf("got %q copied, want %q", got, second)
	}
	const wide = `(code => code.scrollWidth > code.clientWidth)(document.querySelectorAll(".code")[1])`
	if !evaluate[bool](tab, wide) {
		t.Error("got a long line wrapped, want it in one row")
	}
	evaluate[bool](tab, `document.querySelectorAll(".wrap-on")[1].click(), true`)
	tab.wait("!" + wide)
	s.wantPull("", s.origin+path+"&2-L3", "package main", 0)
	tab.show("/search")
	tab.show(path)
	tab.wait(`document.querySelector(".code.wrapped .k")`)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []string{"&1-L2", "2-L1-L5", "ython", "main.go", "php", "README"} {
		if strings.Contains(s.sent.String(), secret) {
			t.Errorf("got %s in a request, want nothing of the paste", secret)
		}
	}
}

// begin has each page of the tab begin with a script.
func (tab *tab) begin(script string) {
	tab.t.Helper()
	command(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// TestColoursOfDecrypted has a mode that fails, which leaves its file alone plain, and files that take longer than the
// page has for its colours: the first ones have them. The page's clock goes on with each line.
func TestColoursOfDecrypted(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	const lines = 600
	long := pasty{Language: "Go", Code: strings.Repeat("func\n", lines)}
	text, err := json.Marshal(map[string]any{"pasties": []pasty{{Language: "Go", Code: "func // fails here"},
		long, long, long, {Language: "PHP", Code: "<?php echo 1;"}}})
	if err != nil {
		t.Fatal(err)
	}
	v := seal(t, string(text))
	tab := open(t, s.origin)
	tab.begin(`
		let now = 0;
		performance.now = () => now++;
		const {charAt} = String.prototype;
		String.prototype.charAt = function(at) {
			if (this.includes("fails here")) throw new Error("a mode fails");
			return charAt.call(this, at);
		};`)
	tab.show("/" + s.store(v) + "#" + v.Key)
	tab.wait(`document.querySelectorAll(".pasty .facts")[4]?.textContent.startsWith("PHP") &&
		document.querySelector(".k")`)
	coloured := evaluate[[]int](tab,
		`Array.from(document.querySelectorAll(".code"), code => code.querySelectorAll(".k").length)`)
	if coloured[0] != 0 || coloured[1] != lines || coloured[2] == 0 || coloured[2] >= lines || coloured[3] != 0 ||
		coloured[4] != 0 {
		t.Errorf("got %v coloured words, want none of what fails, all of the first long file, and some of the second",
			coloured)
	}
	if got := evaluate[string](tab, `textOf(document.querySelectorAll("code")[3])`); got != long.Code {
		t.Errorf("got %d bytes of a file without colours, want its %d", len(got), len(long.Code))
	}
}

// store stores an encrypted paste as it is.
func (s *sealedSite) store(v vector) (id string) {
	s.Helper()
	return asOwner(s.T, http.MethodPost, s.origin+"/encrypted",
		map[string]any{"version": v.Version, "cipher": v.Cipher, "salt": v.Salt})
}

// seal encrypts a plaintext as docs/encryption.md says, whatever it holds.
func seal(t *testing.T, plain string) vector {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		t.Fatal(err)
	}
	sealed := gcm.Seal(nil, nil, []byte(plain), []byte("gluepot 1 AES-256-GCM"))
	encode := base64.RawURLEncoding.EncodeToString
	return vector{Key: encode(key), Version: 1, Cipher: encode(sealed)}
}

// TestEncryptionOfOther opens encrypted data of another program that is not a paste: pages and the command say so.
func TestEncryptionOfOther(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	for _, plain := range []string{
		`{"pasties":[null]}`, `{"pasties":[{"title":"a","code":"b"},null]}`, `{"pasties":["a"]}`, `{"pasties":[{"code":1}]}`,
		`{"pasties":{}}`, `{}`, `null`, `[]`, `{"title":1,"pasties":[{"code":"a"}]}`, `not JSON`,
	} {
		t.Run(plain, func(t *testing.T) {
			v := seal(t, plain)
			path := "/" + s.store(v) + "#" + v.Key
			tab := open(t, s.origin)
			tab.show(path)
			tab.wantSaid("The decrypted content is not a paste.")
			s.wantPull("", s.origin+path, "the decrypted content is not a paste", 1)
		})
	}
	v := seal(t, `{"pasties":[{"title":null},{"code":"a"}],"more":1}`)
	tab := open(t, s.origin)
	tab.show("/" + s.store(v) + "#" + v.Key)
	tab.wantOpened("Encrypted paste", "")
}

// TestEncryption opens with Chromium what the command has encrypted and the other way round, and both with Node.js.
func TestEncryption(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) { encryption(newSealedSite(t, cfg)) })
}

func encryption(s *sealedSite) {
	tab := open(s.T, s.origin)
	for _, password := range []string{"", "pass wörd"} {
		tab.show("/")
		tab.fill("#title", secretTitle)
		tab.press("button[value=add]", "#name-2")
		tab.fill("#name-2", "s3aled.txt")
		tab.fill("#code-2", "second")
		tab.fill("#code-1", secretCode)
		tab.do(tab.click("#encrypt"), chromedp.WaitVisible(chromedp.CSS("#password")))
		if password != "" {
			tab.fill("#password", password)
		}
		tab.wholePicture("form")
		tab.do(tab.click("button.main"))
		if password != "" {
			tab.do(chromedp.WaitVisible(chromedp.CSS("#unlock")))
			tab.fill("#password", "wrong\r")
			tab.wantSaid("The password is wrong")
			tab.wholePicture("password")
			tab.fill("#password", "\b\b\b\b\b"+password+"\r")
		}
		tab.wantOpened(secretTitle, secretCode)
		tab.wholePicture("opened")
		link := evaluate[string](tab, "location.href")
		s.wantPull(password, link, secretCode+"second", 0)
		s.wantNode(link, password)

		pushed := s.push(password, secretCode, "--title", secretTitle)
		s.wantNode(pushed, password)
		other := open(s.T, s.origin)
		other.show(strings.TrimPrefix(pushed, s.origin))
		if password != "" {
			other.fill("#password", password+"\r")
		}
		other.wantOpened(secretTitle, secretCode)
	}
	s.wantNoSecrets()
}

// wantNode wants Node.js to open what the server has.
func (s *sealedSite) wantNode(link, password string) {
	s.Helper()
	at, err := url.Parse(link)
	if err != nil || at.Fragment == "" || password != "" && at.Fragment != "password" {
		s.Fatalf("got the link %s, %v, want one with a key or one that says that there is a password", link, err)
	}
	_, body := s.process.Get("/encrypted"+at.Path, "")
	result := vector{Key: at.Fragment, Password: password}
	if err := json.Unmarshal([]byte(body), &result); err != nil {
		s.Fatal(err)
	}
	if plain := byNode(s.T, []vector{result})[0]; !strings.Contains(plain, secretTitle) {
		s.Errorf("got %s by Node.js, want the paste", plain)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if password == "" && strings.Contains(s.sent.String(), at.Fragment) {
		s.Error("got the key in a request, want it in none")
	}
}

// wantNoSecrets looks for what was encrypted in requests, the log, traces, the database's files, its log of writes and
// a backup. It stops the server. What another paste holds in the clear has to be there: otherwise this looks in the
// wrong places.
func (s *sealedSite) wantNoSecrets() {
	s.Helper()
	asOwner(s.T, http.MethodPost, s.origin+"/paste", map[string]any{"pasties": []pasty{{Code: control}}})
	stored := s.storedBySQLite
	if strings.HasPrefix(s.cfg.URL, "postgres") {
		stored = s.storedByPostgres
	}
	places := stored()
	s.process.Signal(syscall.SIGTERM)
	if code := s.process.Wait(); code != 0 {
		s.Errorf("got exit code %d, want 0", code)
	}
	var traces strings.Builder
	for _, sent := range s.traces.Resources() {
		traces.WriteString(prototext.Format(sent))
	}
	for place, content := range places {
		if !strings.Contains(content, control) {
			s.Errorf("got no plain text of a paste in %s, want some: the test searches the wrong place", place)
		}
	}
	places["requests"], places["the log"], places["traces"] = s.sent.String(), s.process.Stderr.String(), traces.String()
	for place, marker := range map[string]string{"requests": "cipher", "the log": "slow", "traces": "http.route"} {
		if !strings.Contains(places[place], marker) {
			s.Errorf("got nothing like %q in %s, want it there", marker, place)
		}
	}
	for place, content := range places {
		for _, secret := range secrets {
			if strings.Contains(content, secret) {
				s.Errorf("got %q in %s, want it nowhere", secret, place)
			}
		}
	}
}

// control is what a paste has in the clear.
const control = "c0ntrol-of-the-search"

// secrets are what an encrypted paste, its password and the names of its files have in common with nothing else.
var secrets = []string{"s3aled", "pass wörd", url.QueryEscape("pass wörd")}

func (s *sealedSite) storedBySQLite() (places map[string]string) {
	s.Helper()
	backup := filepath.Join(s.TempDir(), "backup")
	if code, _, log := program.Run(s.T, []string{"GLUEPOT_DATABASE_URL=" + s.cfg.URL}, "backup", backup); code != 0 {
		s.Fatal(log)
	}
	places = map[string]string{}
	for place, files := range map[string][]string{
		"a backup": {backup}, "the database": {database.SQLitePath(s.cfg), database.SQLitePath(s.cfg) + "-wal"},
	} {
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				s.Fatal(err)
			}
			places[place] += string(content)
		}
	}
	return places
}

// storedByPostgres has the server of the database search its own files, for what is looked for.
func (s *sealedSite) storedByPostgres() (places map[string]string) {
	s.Helper()
	pool := database.SQL(s.T, s.cfg)
	conn, err := pool.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing is left to do
	places = map[string]string{}
	for place, folder := range map[string]string{"the database": "base", "the write-ahead log": "pg_wal"} {
		search := "grep -raohF -e '" + strings.Join(append(secrets, control), "' -e '") + "' " + folder + " || true"
		for _, statement := range []string{
			"CHECKPOINT", "CREATE TEMP TABLE found (line text) ON COMMIT DELETE ROWS", "BEGIN",
			"COPY found FROM PROGRAM " + quoted(search),
		} {
			if _, err := conn.ExecContext(s.Context(), statement); err != nil {
				s.Fatalf("%s: got %v, want to read the files, for which the user must be a superuser", statement, err)
			}
		}
		var lines string
		if err := conn.QueryRowContext(s.Context(),
			"SELECT coalesce(string_agg(DISTINCT line, ' '), '') FROM found").Scan(&lines); err != nil {
			s.Fatal(err)
		}
		if _, err := conn.ExecContext(s.Context(), "ROLLBACK; DROP TABLE found"); err != nil {
			s.Fatal(err)
		}
		places[place] = lines
	}
	return places
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// TestEncryptionRefused checks that pages and the command say why they show nothing.
func TestEncryptionRefused(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	example := vectors(t)[0]
	tampered := example
	tampered.Cipher = example.Cipher[:len(example.Cipher)-2] + "AA"
	cut := example
	cut.Cipher = example.Cipher[:60]
	newer := s.store(example)
	shortest := s.store(example)
	for id, change := range map[string]string{newer: "version = 2", shortest: "data = substr(data, 1, 20)"} {
		if _, err := database.SQL(t, s.cfg).ExecContext(t.Context(),
			"UPDATE paste_ciphers SET "+change+" WHERE paste_id = $1", id); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ link, page, command string }{
		"wrong key": {s.store(example) + "#" + strings.Repeat("A", 43), "The key in the link does not fit",
			"the key in the link does not fit"},
		"part of a key": {s.store(example) + "#" + example.Key[:20], "Part of the key after the # is missing",
			"part of the key after"},
		"stray bits": {s.store(example) + "#" + example.Key[:42] + "B", "Part of the key after the # is missing",
			"part of the key after"},
		"no key": {s.store(example), "Part of the key after the # is missing", "part of the key after"},
		"changed": {s.store(tampered) + "#" + example.Key, "the paste was changed or truncated",
			"the paste was changed or truncated"},
		"cut": {s.store(cut) + "#" + example.Key, "the paste was changed or truncated",
			"the paste was changed or truncated"},
		"nothing left": {shortest + "#" + example.Key, "The paste was truncated", "the paste was truncated"},
		"newer":        {newer + "#" + example.Key, "has format 2, which is newer", "has format 2: update gluepot"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := open(t, s.origin)
			tab.show("/" + c.link)
			tab.wantSaid(c.page)
			s.wantPull("", s.origin+"/"+c.link, c.command, 1)
		})
	}
	v := vectors(t)[1]
	s.wantPull("wrong", s.origin+"/"+s.store(v), "the password is wrong", 1)
}

// TestEncryptionBurns opens a burning paste once, and never with a link that could not decrypt it.
func TestEncryptionBurns(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	tab := open(t, s.origin)
	link := s.push("", secretCode, "--burn")
	path, key, _ := strings.Cut(strings.TrimPrefix(link, s.origin), "#")
	for _, cut := range []string{"", "#", "#" + key[:20], "#" + key[:42] + "B"} {
		tab.show(path + cut)
		tab.wantSaid("Part of the key after the # is missing")
		if evaluate[bool](tab, `document.querySelector("#open").checkVisibility()`) {
			t.Errorf("got the question with the link %q, which was cut, want none", cut)
		}
		tab.show("/sign-in")
	}
	s.wantPull("", link, "--yes opens", 1)
	tab.show(path + "#" + key)
	tab.wholePicture("question")
	tab.press("#open button", "section.pasty")
	tab.wantOpened("Encrypted paste", secretCode)
	tab.wholePicture("burnt")
	s.wantPull("", link, "There is no paste", 1)
	if out, code := s.run("", "pull", "--yes", link); code != 1 || !strings.Contains(out, "There is no paste") {
		t.Errorf("got exit code %d and %q, want it gone", code, out)
	}

	tab.show("/")
	tab.fill("#code-1", secretCode)
	tab.do(tab.click("#burn"))
	tab.do(tab.click("#encrypt"), tab.click("button.main"),
		chromedp.WaitVisible(chromedp.CSS("#link")))
	tab.wholePicture("created")
	link = evaluate[string](tab, "location.href")
	if value := evaluate[string](tab, `document.querySelector("#link").value`); value != link {
		t.Errorf("got the link %s handed over, want %s with its key", value, link)
	}
	if evaluate[bool](tab, `document.querySelector("#open").checkVisibility()`) {
		t.Error("got the question where the paste was created, want its link")
	}
	if out, code := s.run("", "pull", "--yes", link); code != 0 || out != secretCode {
		t.Errorf("got exit code %d and %q, want the paste", code, out)
	}
	s.wantPull("", link, "There is no paste", 1)

	const password = "pass wörd"
	link = s.push(password, secretCode, "--burn")
	path, _, _ = strings.Cut(link, "#")
	s.wantPull(password, path, "add #password to the link", 1)
	tab.show(strings.TrimPrefix(path, s.origin))
	tab.wantSaid("add #password to the end of the link")
	tab.show("/sign-in")
	tab.show(strings.TrimPrefix(link, s.origin))
	tab.press("#open button", "#unlock")
	tab.fill("#password", password+"\r")
	tab.wantOpened("Encrypted paste", secretCode)
	if out, code := s.run(password, "pull", "--yes", s.push(password, secretCode, "--burn")); code != 0 ||
		out != secretCode {
		t.Errorf("got exit code %d and %q, want the paste", code, out)
	}
}

// TestEncryptionWithoutScript checks that the page says what is missing, and stores nothing that was to be encrypted.
func TestEncryptionWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	answer, err := http.PostForm(s.origin+"/", url.Values{"encrypt": {"on"}, "title": {secretTitle}, "code": {secretCode}})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusBadRequest || bytes.Contains(body, []byte("s3aled")) {
		t.Errorf("got %d %s, want a refusal without the text", answer.StatusCode, body)
	}
	tab := open(t, s.origin)
	tab.withoutScript()
	for _, path := range []string{"/", "/" + s.store(vectors(t)[0])} {
		tab.show(path)
		text := evaluate[string](tab, "document.documentElement.innerText")
		if !strings.Contains(text, "needs JavaScript") || strings.Contains(text, "Encrypt in this browser") {
			t.Errorf("%s: got %s, want it to say that it needs JavaScript", path, text)
		}
	}
}

// TestEncryptionInsecure checks the message on a page without HTTPS, where browsers offer no cryptography.
func TestEncryptionInsecure(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	tab := open(t, s.origin)
	command(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `Object.defineProperty(crypto, "subtle", {value: undefined})`,
	})
	example := vectors(t)[0]
	tab.show("/" + s.store(example) + "#" + example.Key)
	tab.wantSaid("over HTTPS")
	tab.show("/")
	if hint := evaluate[string](tab, `document.querySelector("#encryption-hint").textContent`); !strings.Contains(hint,
		"over HTTPS") ||
		!evaluate[bool](tab, `document.querySelector("#encrypt").disabled`) {
		t.Errorf("got %q, want the box disabled, and why", hint)
	}
	link := s.push("", secretCode, "--burn")
	tab.show(strings.TrimPrefix(link, s.origin))
	tab.wantSaid("over HTTPS")
	if evaluate[bool](tab, `document.querySelector("#open").checkVisibility()`) {
		t.Error("got the question where the answer could not be read, want none")
	}
}

// as changes who the tab has signed in as, behind the back of the page that it shows: nobody, if the token is empty.
func (tab *tab) as(token string) {
	tab.t.Helper()
	evaluate[bool](tab, `(async () => {
		delete document.documentElement.dataset.done;
		await fetch("/sign-out", {method: "POST"});
		const token = "`+token+`";
		if (token) await fetch("/sign-in", {method: "POST", body: new URLSearchParams({token})});
		document.documentElement.dataset.done = "";
	})() && true`)
	tab.do(chromedp.WaitReady(chromedp.CSS("[data-done]")))
}

// TestEncryptionSentAgain lets the server refuse a paste: the form says why, loses nothing, and can be sent again.
func TestEncryptionSentAgain(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t), "GLUEPOT_PASTE_MAX_BODY=30000", "GLUEPOT_LIMIT_ANONYMOUS_PASTES=1")
	for name, c := range map[string]struct {
		opener, refused, said string
		before, after         func(*tab)
	}{
		"signed out": {program.EpoxyToken, "401", "You are no longer signed in", func(tab *tab) {
			tab.as("")
		}, func(tab *tab) {
			tab.as(program.EpoxyToken)
		}},
		"too large": {program.EpoxyToken, "413", "bytes", func(tab *tab) {
			long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", 29000)))
			tab.drop(map[string]string{"one": long, "two": long})
			tab.do(chromedp.WaitVisible(chromedp.CSS("#name-3")))
		}, func(tab *tab) {
			for range 2 {
				tab.do(tab.click("button[value=remove-2]"))
			}
		}},
		"too many": {"", "429", "Send this again in", func(*tab) { s.push("", "one") }, func(tab *tab) {
			tab.as(program.EpoxyToken)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tab := open(t, s.origin)
			if c.opener != "" {
				tab.signedIn(c.opener)
			}
			tab.show("/")
			tab.fill("#code-1", secretTitle)
			tab.do(tab.click("#encrypt"))
			c.before(tab)
			tab.do(tab.click("button.main"), chromedp.WaitVisible(chromedp.CSS("#encryption-problem")))
			if said := evaluate[string](tab,
				`document.querySelector("#encryption-problem").textContent`); !strings.Contains(said, c.said) {
				t.Errorf("got %q, want %q in it", said, c.said)
			}
			if !tab.expect(c.refused) {
				t.Errorf("got no %s, want it refused", c.refused)
			}
			if c.after != nil {
				c.after(tab)
			}
			tab.do(tab.click("button.main"))
			tab.wantOpened("Encrypted paste", secretTitle)
		})
	}
	s.wantNoSecrets()
}

// TestEncryptionBeforeScript goes back to a form that was to be encrypted, whose script does not load this time:
// nothing is sent.
func TestEncryptionBeforeScript(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	tab := open(t, s.origin)
	tab.show("/")
	tab.fill("#code-1", secretCode)
	tab.do(tab.click("#encrypt"))
	evaluate[bool](tab, `addEventListener("unload", () => 0), true`) // such a page is loaded anew
	tab.show("/sign-in")
	command(tab, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	script := &network.BlockPattern{URLPattern: s.origin + "/~/assets/*/form.js", Block: true}
	command(tab, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{script}})
	tab.do(chromedp.NavigateBack(), chromedp.WaitReady(chromedp.CSS("#encrypt:checked")))
	if code := evaluate[string](tab, `document.querySelector("#code-1").value`); code != secretCode {
		t.Fatalf("got %q on the form, want what was typed", code)
	}
	if !evaluate[bool](tab,
		`find = name => document.querySelector(name), find("#encryption").hidden && find(".unloaded").checkVisibility()`) {
		t.Error("got no word about the script, want one")
	}
	tab.wholePicture("form")
	evaluate[bool](tab,
		`["invalid", "submit"].forEach(kind => addEventListener(kind, () => document.body.classList.add(kind), true)), true`)
	for _, press := range []func(){
		func() { tab.do(tab.click("button.main")) }, func() { tab.fill("#title", "\r") },
		func() { tab.do(tab.click("button[value=add]")) },
	} {
		press()
		tab.do(chromedp.WaitReady(chromedp.CSS("body.invalid, body.submit")))
		if !evaluate[bool](tab, `!document.body.classList.contains("submit") && (document.body.className = "", true)`) {
			t.Fatal("got it sent, want nothing sent")
		}
	}
	if !tab.expect("form.js") {
		t.Error("got the script, want it blocked")
	}
	tab.expect("not focusable") // the box that is required
	s.push("", secretCode)
	s.wantNoSecrets()
}

// TestNoPreviewOfSecrets checks that Markdown that is to be encrypted is never sent for a preview, whatever presses the
// button.
func TestNoPreviewOfSecrets(t *testing.T) {
	t.Parallel()
	s := newSealedSite(t, database.SQLite(t))
	tab := open(t, s.origin)
	tab.show("/")
	tab.fill("#name-1", "s3aled.md")
	tab.fill("#code-1", secretCode)
	const tools = `.snippet .tools:has(+ .field #code-1)`
	tab.do(chromedp.WaitVisible(chromedp.CSS(tools)), tab.click("#encrypt"))
	const press = `document.querySelector("` + tools + ` button:last-child").click()`
	tab.do(chromedp.Evaluate[chromedp.Void](press))
	if evaluate[bool](tab, `!document.querySelector("`+tools+`").hidden || !document.querySelector(".preview").hidden`) {
		t.Error("got a preview of what is to be encrypted, want none")
	}
	s.mu.Lock()
	sent := s.sent.String()
	s.mu.Unlock()
	if strings.Contains(sent, "s3aled") {
		t.Errorf("got %q sent, want no secret", sent)
	}
	tab.do(tab.click("#encrypt"), chromedp.WaitVisible(chromedp.CSS(tools)))
}
