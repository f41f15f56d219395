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

// vectors returns the test vectors of docs/encryption.md: one with a key and one with a password.
func vectors(t *testing.T) (list []vector) {
	t.Helper()
	document, err := os.ReadFile("../../docs/encryption.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(document), "```json\n")
	text, _, _ = strings.Cut(text, "```")
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) != 2 {
		t.Fatalf("docs/encryption.md: got %d vectors, error %v, want 2", len(list), err)
	}
	return list
}

// decryptWithNode decrypts pastes with the WebCrypto of Node.js.
func decryptWithNode(t *testing.T, pastes []vector) (plaintexts []string) {
	t.Helper()
	input, err := json.Marshal(pastes)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/decrypt.mjs")
	cmd.Stdin = bytes.NewReader(input)
	output, err := cmd.CombinedOutput()
	if err != nil || json.Unmarshal(output, &plaintexts) != nil {
		t.Fatalf("node: got error %v and output %s, want plaintexts of %s", err, output, input)
	}
	return plaintexts
}

// recordedServer is a server behind a proxy that records every request.
type recordedServer struct {
	*testing.T

	cfg     gormstore.Config
	process *program.Process
	traces  *collector.Collector
	origin  string
	home    string

	coloursAllowed chan struct{} // unless nil, the proxy delays colours.js until it is closed

	mu       sync.Mutex
	requests bytes.Buffer
}

func newRecordedServer(t *testing.T, cfg gormstore.Config, settings ...string) *recordedServer {
	t.Helper()
	s := &recordedServer{T: t, cfg: cfg, traces: collector.Start(t), home: t.TempDir()}
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
		if s.coloursAllowed != nil && strings.HasSuffix(r.In.URL.Path, "/colours.js") {
			<-s.coloursAllowed
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		_ = r.In.Header.Write(&s.requests)
		s.requests.WriteString(r.In.URL.String())
		s.requests.Write(body)
	}})
	t.Cleanup(proxy.Close)
	s.origin = proxy.URL
	return s
}

// run runs a command of the client, and returns its standard output and standard error, and its exit code.
func (s *recordedServer) run(password string, args ...string) (out string, code int) {
	s.Helper()
	code, stdout, stderr := program.Run(s.T, []string{
		"GLUEPOT_SERVER=" + s.origin, "GLUEPOT_PASSWORD=" + password, "HOME=" + s.home, "XDG_CONFIG_HOME=" + s.home,
	}, args...)
	return stdout + stderr, code
}

// push encrypts and pushes a text with the client, and returns the link.
func (s *recordedServer) push(password, text string, args ...string) string {
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
		s.Fatalf("push: got exit code %d, %s, want 0", code, out)
	}
	return strings.TrimSpace(out)
}

// wantPull pulls a link with the client, and checks the exit code and a part of the output.
func (s *recordedServer) wantPull(password, link, wantOutput string, wantCode int) {
	s.Helper()
	if out, code := s.run(password, "pull", link); code != wantCode || !strings.Contains(out, wantOutput) {
		s.Errorf("pull %s: got exit code %d and %q, want %d and %q", link, code, out, wantCode, wantOutput)
	}
}

// wantDecrypted waits until the page shows a decrypted paste, and checks the title and the text of its first snippet.
func (tab *tab) wantDecrypted(title, text string) {
	tab.t.Helper()
	tab.do(chromedp.WaitVisible(chromedp.CSS("section.pasty")))
	if got := evaluate[string](tab, `document.querySelector("h1").textContent`); got != title {
		tab.t.Errorf("got the title %q, want %q", got, title)
	}
	if got := evaluate[string](tab, `textOf(document.querySelector("section.pasty code"))`); got != text {
		tab.t.Errorf("got the text %q, want %q", got, text)
	}
	// The browser's history stores document.title, and may synchronise it with other devices.
	if got := evaluate[string](tab, "document.title"); strings.Contains(got, title) && title != "Encrypted paste" {
		tab.t.Errorf("got the document.title %q, want one without the title of the paste", got)
	}
}

// wantMessage waits until the page shows a message with this part, and checks that it shows no snippets.
func (tab *tab) wantMessage(part string) {
	tab.t.Helper()
	program.Eventually(tab.t, "the page says "+part, func() bool {
		return strings.Contains(evaluate[string](tab, `document.querySelector("#decrypted").textContent`), part)
	})
	if n := evaluate[int](tab, `document.querySelectorAll("section.pasty").length`); n != 0 {
		tab.t.Errorf("got %d snippets beside the message %q, want 0", n, part)
	}
}

const (
	secretTitle = "s3aled-title"
	secretCode  = "s3aled-code <b>✓\n"
)

// TestVectors opens the documentation's test vectors with Node.js, Chromium and the command.
func TestVectors(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	list := vectors(t)
	for i, plaintext := range decryptWithNode(t, list) {
		v := list[i]
		if plaintext != v.Plain {
			t.Errorf("vector %d: got the plaintext %s with Node.js, want %s", i, plaintext, v.Plain)
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
		tab.wantDecrypted("Vector ✓", "package main\n")
	}
}

// TestDecryptedPaste checks that the page of a decrypted paste works like any other: lines have numbers, colours and
// links, long lines wrap, and Copy copies the exact text. The server learns neither selected lines nor languages.
func TestDecryptedPaste(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	s.coloursAllowed = make(chan struct{})
	python := "x = 1 # <b> " + strings.Repeat("long ", 100) + "\r\n" + strings.Repeat("y\n", 250) + "last"
	text, err := json.Marshal(map[string]any{"pasties": []pasty{
		{Title: "main.go", Code: "package main\n\nfunc main() {}\n"},
		{Language: "Python", Code: python},
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
	v := encrypt(t, string(text))
	path := "/" + s.store(v) + "#" + v.Key
	tab := open(t, s.origin)
	tab.addInitScript(`performance.now = () => 0`) // so that highlighting never runs out of time on a busy machine
	tab.show(path + "&1-L2-L3")
	tab.waitFor(`document.querySelector(".selected")`)
	evaluate[bool](tab, `scrollTo(0, document.body.scrollHeight), true`)
	before := evaluate[float64](tab, `scrollY`)
	close(s.coloursAllowed)
	tab.waitFor(`document.querySelectorAll(".pasty .facts")[6].textContent.startsWith("Plain Text")`)
	tab.do(chromedp.Evaluate[chromedp.Void](waitForFrames, chromedp.EvalAwaitPromise))
	if after := evaluate[float64](tab, `scrollY`); before == 0 || after < before {
		t.Errorf("got the scroll position %v after highlighting, want the one before, %v, which is not 0", after, before)
	}
	languages := evaluate[string](tab,
		`Array.from(document.querySelectorAll(".pasty .facts span:first-child"), fact => fact.textContent).join()`)
	if languages != "Go,Python,unknown,PHP,Markdown,Python,Plain Text,Plain Text" {
		t.Errorf("got the languages %s, want Go,Python,unknown,PHP,Markdown,Python,Plain Text,Plain Text", languages)
	}
	for i, want := range map[int]string{
		3: "k p,a class,s \"a\",p <?php,k echo,m 1,k if,m 2,k echo,s 'b',p ?>,k p",
		4: "h p #,h  Head,i p *,i soft,i p *", 7: "",
	} {
		if got := evaluate[string](tab, fmt.Sprintf(`Array.from(document.querySelectorAll(".code")[%d].querySelectorAll(
			"span[class]:not(.lines)"), span => span.className + " " + span.textContent).join()`, i)); got != want {
			t.Errorf("snippet %d: got the coloured spans %s, want %s", i+1, got, want)
		}
	}
	if wrapped := evaluate[string](tab, `Array.from(document.querySelectorAll(".code"), code =>
		Number(code.matches(".wrapped"))).join("")`); wrapped != "00000011" {
		t.Errorf("got %s, one digit per snippet, 1 if it is wrapped, want 00000011: plain text alone", wrapped)
	}
	const selected = `Array.from(document.querySelectorAll(".selected a"), a => a.textContent).join()`
	if got := evaluate[string](tab, selected); got != "2,3" {
		t.Errorf("got the selected lines %s, want 2,3 as in the URL", got)
	}
	const keywords = `Array.from(document.querySelector(".pasty").querySelectorAll(".k"), k => k.textContent).join()`
	if got := evaluate[string](tab, keywords); got != "package,func" {
		t.Errorf("got the keywords %s in main.go, want package,func", got)
	}
	lineCounts := evaluate[[]int](tab, `Array.from(document.querySelectorAll("section.pasty"),
		section => section.querySelectorAll(".lines a").length)`)
	if fmt.Sprint(lineCounts[:3]) != "[3 252 0]" {
		t.Errorf("got the numbers of lines %v, want [3 252 0] for the first three snippets", lineCounts)
	}
	tab.wantAccessible("a decrypted paste")
	tab.fullScreenshot("decrypted")
	tab.do(tab.click("[id='2-L1']"))
	evaluate[bool](tab, `document.getElementById("2-L5").dispatchEvent(
		new MouseEvent("click", {bubbles: true, cancelable: true, shiftKey: true})) || true`)
	if hash := evaluate[string](tab, "location.hash"); hash != "#"+v.Key+"&2-L1-L5" {
		t.Errorf("got the fragment %s, want #%s&2-L1-L5", hash, v.Key)
	}
	evaluate[bool](tab, `document.querySelector("section.pasty").dataset.same = "yes", location.hash += "0", true`)
	tab.waitFor(selected + `.split(",").length === 50`)
	if !evaluate[bool](tab, `document.querySelector("section.pasty").dataset.same === "yes"`) {
		t.Error("got new elements after selecting other lines, want the same: the paste must not be decrypted again")
	}
	if link := evaluate[string](tab, `document.querySelector("#link").value`); link != s.origin+path {
		t.Errorf("got the link %s, want %s", link, s.origin+path)
	}
	tab.replaceClipboard()
	evaluate[bool](tab, `document.querySelectorAll(".copy")[1].click(), true`)
	tab.waitFor("window.copiedText")
	if got := evaluate[string](tab, "window.copiedText"); got != python {
		t.Errorf("got the copied text %q, want %q", got, python)
	}
	const overflows = `(code => code.scrollWidth > code.clientWidth)(document.querySelectorAll(".code")[1])`
	if !evaluate[bool](tab, overflows) {
		t.Error("got the long line of Python wrapped, want it in one row")
	}
	evaluate[bool](tab, `document.querySelectorAll(".wrap-on")[1].click(), true`)
	tab.waitFor("!" + overflows)
	s.wantPull("", s.origin+path+"&2-L3", "package main", 0)
	tab.show("/search")
	tab.show(path)
	tab.waitFor(`document.querySelector(".code.wrapped .k")`)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range []string{"&1-L2", "2-L1-L5", "ython", "main.go", "php", "README"} {
		if strings.Contains(s.requests.String(), secret) {
			t.Errorf("got %s in a request, want no lines, names or languages of the paste", secret)
		}
	}
}

// addInitScript runs a script at the start of each page that the tab opens from now on.
func (tab *tab) addInitScript(script string) {
	tab.t.Helper()
	command(tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// TestHighlightingLimits checks that a file stays plain if its parser fails or the time for highlighting is over, and
// that the other files of the decrypted paste have colours. The page's clock advances with each line.
func TestHighlightingLimits(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	const lines = 600
	long := pasty{Language: "Go", Code: strings.Repeat("func\n", lines)}
	text, err := json.Marshal(map[string]any{"pasties": []pasty{{Language: "Go", Code: "func // fails here"},
		long, long, long, {Language: "PHP", Code: "<?php echo 1;"}}})
	if err != nil {
		t.Fatal(err)
	}
	v := encrypt(t, string(text))
	tab := open(t, s.origin)
	tab.addInitScript(`
		let now = 0;
		performance.now = () => now++;
		const {charAt} = String.prototype;
		String.prototype.charAt = function(at) {
			if (this.includes("fails here")) throw new Error("a mode fails");
			return charAt.call(this, at);
		};`)
	tab.show("/" + s.store(v) + "#" + v.Key)
	tab.waitFor(`document.querySelectorAll(".pasty .facts")[4]?.textContent.startsWith("PHP") &&
		document.querySelector(".k")`)
	keywords := evaluate[[]int](tab,
		`Array.from(document.querySelectorAll(".code"), code => code.querySelectorAll(".k").length)`)
	if keywords[0] != 0 || keywords[1] != lines || keywords[2] == 0 || keywords[2] >= lines || keywords[3] != 0 ||
		keywords[4] != 0 {
		t.Errorf("got %v coloured keywords by file, want 0 if the parser fails, then %d, fewer when the time ends, 0, 0",
			keywords, lines)
	}
	if got := evaluate[string](tab, `textOf(document.querySelectorAll("code")[3])`); got != long.Code {
		t.Errorf("got %d bytes of a file without colours, want its text, %d bytes", len(got), len(long.Code))
	}
}

// store stores an encrypted paste on the server.
func (s *recordedServer) store(v vector) (id string) {
	s.Helper()
	return sendAsOwner(s.T, http.MethodPost, s.origin+"/encrypted",
		map[string]any{"version": v.Version, "cipher": v.Cipher, "salt": v.Salt})
}

// encrypt encrypts any plaintext with a new key as docs/encryption.md says.
func encrypt(t *testing.T, plaintext string) vector {
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
	ciphertext := gcm.Seal(nil, nil, []byte(plaintext), []byte("gluepot 1 AES-256-GCM"))
	encode := base64.RawURLEncoding.EncodeToString
	return vector{Key: encode(key), Version: 1, Cipher: encode(ciphertext)}
}

// TestDecryptedContentIsInvalid checks that the page and the client report a decrypted text that is not a paste.
func TestDecryptedContentIsInvalid(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	for _, plaintext := range []string{
		`{"pasties":[null]}`, `{"pasties":[{"title":"a","code":"b"},null]}`, `{"pasties":["a"]}`, `{"pasties":[{"code":1}]}`,
		`{"pasties":{}}`, `{}`, `null`, `[]`, `{"title":1,"pasties":[{"code":"a"}]}`, `not JSON`,
	} {
		t.Run(plaintext, func(t *testing.T) {
			v := encrypt(t, plaintext)
			path := "/" + s.store(v) + "#" + v.Key
			tab := open(t, s.origin)
			tab.show(path)
			tab.wantMessage("The decrypted content is not a paste.")
			s.wantPull("", s.origin+path, "the decrypted content is not a paste", 1)
		})
	}
	v := encrypt(t, `{"pasties":[{"title":null},{"code":"a"}],"more":1}`)
	tab := open(t, s.origin)
	tab.show("/" + s.store(v) + "#" + v.Key)
	tab.wantDecrypted("Encrypted paste", "")
}

// TestEncryption encrypts with Chromium and decrypts with the client, and the other way round, and decrypts both with
// Node.js, with a key and with a password.
func TestEncryption(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) { encryptAndDecrypt(newRecordedServer(t, cfg)) })
}

func encryptAndDecrypt(s *recordedServer) {
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
		tab.fullScreenshot("form")
		tab.do(tab.click("button.main"))
		if password != "" {
			tab.do(chromedp.WaitVisible(chromedp.CSS("#unlock")))
			tab.fill("#password", "wrong\r")
			tab.wantMessage("The password is wrong")
			tab.fullScreenshot("password")
			tab.fill("#password", "\b\b\b\b\b"+password+"\r")
		}
		tab.wantDecrypted(secretTitle, secretCode)
		tab.fullScreenshot("opened")
		link := evaluate[string](tab, "location.href")
		s.wantPull(password, link, secretCode+"second", 0)
		s.wantNodeDecrypts(link, password)

		link = s.push(password, secretCode, "--title", secretTitle)
		s.wantNodeDecrypts(link, password)
		other := open(s.T, s.origin)
		other.show(strings.TrimPrefix(link, s.origin))
		if password != "" {
			other.fill("#password", password+"\r")
		}
		other.wantDecrypted(secretTitle, secretCode)
	}
	s.wantNoSecrets()
}

// wantNodeDecrypts checks that Node.js can decrypt what the server has stored, and that no request has contained the
// key.
func (s *recordedServer) wantNodeDecrypts(link, password string) {
	s.Helper()
	target, err := url.Parse(link)
	if err != nil || target.Fragment == "" || password != "" && target.Fragment != "password" {
		s.Fatalf("got the link %s, error %v, want one that ends with # and the key, or with #password", link, err)
	}
	_, body := s.process.Get("/encrypted"+target.Path, "")
	encrypted := vector{Key: target.Fragment, Password: password}
	if err := json.Unmarshal([]byte(body), &encrypted); err != nil {
		s.Fatalf("/encrypted%s: got %s, error %v, want an encrypted paste", target.Path, body, err)
	}
	if plaintext := decryptWithNode(s.T, []vector{encrypted})[0]; !strings.Contains(plaintext, secretTitle) {
		s.Errorf("got the plaintext %s with Node.js, want a paste with the title %s", plaintext, secretTitle)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if password == "" && strings.Contains(s.requests.String(), target.Fragment) {
		s.Error("got the key in a request, want it in none")
	}
}

// wantNoSecrets stops the server, and checks that secrets are not in requests, the log, traces, the database's files,
// the write-ahead log or a backup. It also stores a plain paste, and checks that its text is in the files: this proves
// that the search looks in the right places.
func (s *recordedServer) wantNoSecrets() {
	s.Helper()
	sendAsOwner(s.T, http.MethodPost, s.origin+"/paste", map[string]any{"pasties": []pasty{{Code: control}}})
	search := s.searchSQLite
	if strings.HasPrefix(s.cfg.URL, "postgres") {
		search = s.searchPostgres
	}
	places := search()
	s.process.Signal(syscall.SIGTERM)
	if code := s.process.Wait(); code != 0 {
		s.Errorf("got exit code %d of the server, want 0", code)
	}
	var traces strings.Builder
	for _, resource := range s.traces.Resources() {
		traces.WriteString(prototext.Format(resource))
	}
	for place, content := range places {
		if !strings.Contains(content, control) {
			s.Errorf("got no %q in %s, want it: the search looks in the wrong place", control, place)
		}
	}
	places["requests"] = s.requests.String()
	places["the log"] = s.process.Stderr.String()
	places["traces"] = traces.String()
	for place, marker := range map[string]string{"requests": "cipher", "the log": "slow", "traces": "http.route"} {
		if !strings.Contains(places[place], marker) {
			s.Errorf("got no %q in %s, want it: the search looks in the wrong place", marker, place)
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

// control is the text of a plain paste.
const control = "c0ntrol-of-the-search"

// secrets are parts of the encrypted texts, of their file names, and of the passwords, which occur nowhere else.
var secrets = []string{"s3aled", "pass wörd", url.QueryEscape("pass wörd")}

// searchSQLite returns the contents of the database's files and of a backup, by place.
func (s *recordedServer) searchSQLite() (places map[string]string) {
	s.Helper()
	backup := filepath.Join(s.TempDir(), "backup")
	settings := []string{"GLUEPOT_DATABASE_URL=" + s.cfg.URL}
	if code, _, stderr := program.Run(s.T, settings, "backup", backup); code != 0 {
		s.Fatalf("backup: got exit code %d, %s, want 0", code, stderr)
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

// searchPostgres runs grep on the database server, and returns the secrets and control texts in its files, by place.
func (s *recordedServer) searchPostgres() (places map[string]string) {
	s.Helper()
	pool := database.SQL(s.T, s.cfg)
	conn, err := pool.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it was only read from
	places = map[string]string{}
	for place, folder := range map[string]string{"the database": "base", "the write-ahead log": "pg_wal"} {
		grep := "grep -raohF -e '" + strings.Join(append(secrets, control), "' -e '") + "' " + folder + " || true"
		for _, statement := range []string{
			"CHECKPOINT", "CREATE TEMP TABLE matches (line text) ON COMMIT DELETE ROWS", "BEGIN",
			"COPY matches FROM PROGRAM " + quoteSQL(grep),
		} {
			if _, err := conn.ExecContext(s.Context(), statement); err != nil {
				s.Fatalf("%s: got error %v, want none; the database user must be a superuser", statement, err)
			}
		}
		var lines string
		if err := conn.QueryRowContext(s.Context(),
			"SELECT coalesce(string_agg(DISTINCT line, ' '), '') FROM matches").Scan(&lines); err != nil {
			s.Fatal(err)
		}
		if _, err := conn.ExecContext(s.Context(), "ROLLBACK; DROP TABLE matches"); err != nil {
			s.Fatal(err)
		}
		places[place] = lines
	}
	return places
}

// quoteSQL returns a text as a string literal of SQL.
func quoteSQL(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// TestDecryptionFails checks that the page and the client say why they cannot decrypt a paste.
func TestDecryptionFails(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	example := vectors(t)[0]
	modified := example
	modified.Cipher = example.Cipher[:len(example.Cipher)-2] + "AA"
	truncated := example
	truncated.Cipher = example.Cipher[:60]
	newVersion := s.store(example)
	tooShort := s.store(example)
	for id, assignment := range map[string]string{newVersion: "version = 2", tooShort: "data = substr(data, 1, 20)"} {
		if _, err := database.SQL(t, s.cfg).ExecContext(t.Context(),
			"UPDATE paste_ciphers SET "+assignment+" WHERE paste_id = $1", id); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ link, pageMessage, clientMessage string }{
		"wrong key": {s.store(example) + "#" + strings.Repeat("A", 43), "The key in the link does not fit",
			"the key in the link does not fit"},
		"part of a key": {s.store(example) + "#" + example.Key[:20], "Part of the key after the # is missing",
			"part of the key after"},
		"key with trailing bits": {s.store(example) + "#" + example.Key[:42] + "B", "Part of the key after the # is missing",
			"part of the key after"},
		"no key": {s.store(example), "Part of the key after the # is missing", "part of the key after"},
		"modified": {s.store(modified) + "#" + example.Key, "the paste was changed or truncated",
			"the paste was changed or truncated"},
		"truncated": {s.store(truncated) + "#" + example.Key, "the paste was changed or truncated",
			"the paste was changed or truncated"},
		"too short": {tooShort + "#" + example.Key, "The paste was truncated", "the paste was truncated"},
		"newer version": {newVersion + "#" + example.Key, "has format 2, which is newer",
			"has format 2: update gluepot"},
	} {
		t.Run(name, func(t *testing.T) {
			tab := open(t, s.origin)
			tab.show("/" + c.link)
			tab.wantMessage(c.pageMessage)
			s.wantPull("", s.origin+"/"+c.link, c.clientMessage, 1)
		})
	}
	v := vectors(t)[1]
	s.wantPull("wrong", s.origin+"/"+s.store(v), "the password is wrong", 1)
}

// TestEncryptedBurningPaste opens burning pastes, each of which can be opened once. A link without the whole key must
// not burn the paste, because it cannot decrypt it.
func TestEncryptedBurningPaste(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	tab := open(t, s.origin)
	link := s.push("", secretCode, "--burn")
	path, key, _ := strings.Cut(strings.TrimPrefix(link, s.origin), "#")
	for _, fragment := range []string{"", "#", "#" + key[:20], "#" + key[:42] + "B"} {
		tab.show(path + fragment)
		tab.wantMessage("Part of the key after the # is missing")
		if evaluate[bool](tab, `document.querySelector("#open").checkVisibility()`) {
			t.Errorf("got the question whether to open the paste with the incomplete fragment %q, want none", fragment)
		}
		tab.show("/sign-in")
	}
	s.wantPull("", link, "--yes opens", 1)
	tab.show(path + "#" + key)
	tab.fullScreenshot("question")
	tab.press("#open button", "section.pasty")
	tab.wantDecrypted("Encrypted paste", secretCode)
	tab.fullScreenshot("burnt")
	s.wantPull("", link, "There is no paste", 1)
	if out, code := s.run("", "pull", "--yes", link); code != 1 || !strings.Contains(out, "There is no paste") {
		t.Errorf("pull --yes: got exit code %d and %q after the paste was opened, want 1 and no paste", code, out)
	}

	tab.show("/")
	tab.fill("#code-1", secretCode)
	tab.do(tab.click("#burn"))
	tab.do(tab.click("#encrypt"), tab.click("button.main"),
		chromedp.WaitVisible(chromedp.CSS("#link")))
	tab.fullScreenshot("created")
	link = evaluate[string](tab, "location.href")
	if value := evaluate[string](tab, `document.querySelector("#link").value`); value != link {
		t.Errorf("got the link %s to share, want %s with the key", value, link)
	}
	if evaluate[bool](tab, `document.querySelector("#open").checkVisibility()`) {
		t.Error("got the question whether to open the paste right after creating it, want none")
	}
	if out, code := s.run("", "pull", "--yes", link); code != 0 || out != secretCode {
		t.Errorf("pull --yes: got exit code %d and %q, want 0 and the code %q", code, out, secretCode)
	}
	s.wantPull("", link, "There is no paste", 1)

	const password = "pass wörd"
	link = s.push(password, secretCode, "--burn")
	path, _, _ = strings.Cut(link, "#")
	s.wantPull(password, path, "add #password to the link", 1)
	tab.show(strings.TrimPrefix(path, s.origin))
	tab.wantMessage("add #password to the end of the link")
	tab.show("/sign-in")
	tab.show(strings.TrimPrefix(link, s.origin))
	tab.press("#open button", "#unlock")
	tab.fill("#password", password+"\r")
	tab.wantDecrypted("Encrypted paste", secretCode)
	if out, code := s.run(password, "pull", "--yes", s.push(password, secretCode, "--burn")); code != 0 ||
		out != secretCode {
		t.Errorf("pull --yes with a password: got exit code %d and %q, want 0 and the code %q", code, out, secretCode)
	}
}

// TestEncryptionWithoutScript checks that pages ask for JavaScript, and that the server refuses a plain text that is to
// be encrypted, and does not repeat it.
func TestEncryptionWithoutScript(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	form := url.Values{"encrypt": {"on"}, "title": {secretTitle}, "code": {secretCode}}
	response, err := http.PostForm(s.origin+"/", form)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusBadRequest || bytes.Contains(body, []byte("s3aled")) {
		t.Errorf("got %d %s, want 400 without the text", response.StatusCode, body)
	}
	tab := open(t, s.origin)
	tab.disableScript()
	for _, path := range []string{"/", "/" + s.store(vectors(t)[0])} {
		tab.show(path)
		text := evaluate[string](tab, "document.documentElement.innerText")
		if !strings.Contains(text, "needs JavaScript") || strings.Contains(text, "Encrypt in this browser") {
			t.Errorf(`%s: got the text %s, want "needs JavaScript" and no box to encrypt`, path, text)
		}
	}
}

// TestEncryptionWithoutHTTPS checks the messages on pages without HTTPS, where browsers do not offer WebCrypto.
func TestEncryptionWithoutHTTPS(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	tab := open(t, s.origin)
	tab.addInitScript(`Object.defineProperty(crypto, "subtle", {value: undefined})`)
	example := vectors(t)[0]
	tab.show("/" + s.store(example) + "#" + example.Key)
	tab.wantMessage("over HTTPS")
	tab.show("/")
	hint := evaluate[string](tab, `document.querySelector("#encryption-hint").textContent`)
	if !strings.Contains(hint, "over HTTPS") || !evaluate[bool](tab, `document.querySelector("#encrypt").disabled`) {
		t.Errorf(`got the hint %q, want a disabled box, and "over HTTPS"`, hint)
	}
	link := s.push("", secretCode, "--burn")
	tab.show(strings.TrimPrefix(link, s.origin))
	tab.wantMessage("over HTTPS")
	if evaluate[bool](tab, `document.querySelector("#open").checkVisibility()`) {
		t.Error("got the question whether to open a paste that cannot be decrypted, want none")
	}
}

// switchUser signs out, and signs in with the token unless that is "", without leaving the page, as another tab of
// the browser could.
func (tab *tab) switchUser(token string) {
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

// TestEncryptionRetry checks that the form says why the server refuses an encrypted paste, keeps the text, and can be
// sent again.
func TestEncryptionRetry(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t), "GLUEPOT_PASTE_MAX_BODY=30000", "GLUEPOT_LIMIT_ANONYMOUS_PASTES=1")
	for name, c := range map[string]struct {
		token, status, message string
		before                 func(*tab) // leads to the refusal
		after                  func(*tab) // removes its cause
	}{
		"signed out": {program.EpoxyToken, "401", "You are no longer signed in", func(tab *tab) {
			tab.switchUser("")
		}, func(tab *tab) {
			tab.switchUser(program.EpoxyToken)
		}},
		"too large": {program.EpoxyToken, "413", "bytes", func(tab *tab) {
			long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", 29000)))
			tab.dropFiles(map[string]string{"one": long, "two": long})
			tab.do(chromedp.WaitVisible(chromedp.CSS("#name-3")))
		}, func(tab *tab) {
			for range 2 {
				tab.do(tab.click("button[value=remove-2]"))
			}
		}},
		"too many": {"", "429", "Send this again in", func(*tab) { s.push("", "one") }, func(tab *tab) {
			tab.switchUser(program.EpoxyToken)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tab := open(t, s.origin)
			if c.token != "" {
				tab.signIn(c.token)
			}
			tab.show("/")
			tab.fill("#code-1", secretTitle)
			tab.do(tab.click("#encrypt"))
			c.before(tab)
			tab.do(tab.click("button.main"), chromedp.WaitVisible(chromedp.CSS("#encryption-problem")))
			problem := evaluate[string](tab, `document.querySelector("#encryption-problem").textContent`)
			if !strings.Contains(problem, c.message) {
				t.Errorf("got the problem %q, want one with %q", problem, c.message)
			}
			if !tab.expect(c.status) {
				t.Errorf("got no status %s, want it: the server refuses the paste", c.status)
			}
			c.after(tab)
			tab.do(tab.click("button.main"))
			tab.wantDecrypted("Encrypted paste", secretTitle)
		})
	}
	s.wantNoSecrets()
}

// TestEncryptionScriptDoesNotLoad goes back to a form to encrypt. This time its script does not load, and the form must
// not be sent.
func TestEncryptionScriptDoesNotLoad(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	tab := open(t, s.origin)
	tab.show("/")
	tab.fill("#code-1", secretCode)
	tab.do(tab.click("#encrypt"))
	evaluate[bool](tab, `addEventListener("unload", () => 0), true`) // keeps the page out of the back/forward cache
	tab.show("/sign-in")
	command(tab, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	script := &network.BlockPattern{URLPattern: s.origin + "/~/assets/*/form.js", Block: true}
	command(tab, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{script}})
	tab.do(chromedp.NavigateBack(), chromedp.WaitReady(chromedp.CSS("#encrypt:checked")))
	if code := evaluate[string](tab, `document.querySelector("#code-1").value`); code != secretCode {
		t.Fatalf("got the code %q on the form, want %q, which was typed", code, secretCode)
	}
	if !evaluate[bool](tab,
		`find = name => document.querySelector(name), find("#encryption").hidden && find(".unloaded").checkVisibility()`) {
		t.Error("got no message that the script is missing, want one")
	}
	tab.fullScreenshot("form")
	evaluate[bool](tab,
		`["invalid", "submit"].forEach(kind => addEventListener(kind, () => document.body.classList.add(kind), true)), true`)
	for _, attempt := range []struct {
		name   string
		submit func()
	}{
		{"the main button", func() { tab.do(tab.click("button.main")) }},
		{"Enter", func() { tab.fill("#title", "\r") }},
		{"the add button", func() { tab.do(tab.click("button[value=add]")) }},
	} {
		attempt.submit()
		tab.do(chromedp.WaitReady(chromedp.CSS("body.invalid, body.submit")))
		if !evaluate[bool](tab, `!document.body.classList.contains("submit") && (document.body.className = "", true)`) {
			t.Fatalf("%s: got the form sent, want nothing sent", attempt.name)
		}
	}
	if !tab.expect("form.js") {
		t.Error("got form.js loaded, want it blocked")
	}
	tab.expect("not focusable") // about the hidden required box
	s.push("", secretCode)
	s.wantNoSecrets()
}

// TestNoPreviewOfSecrets checks that Markdown to be encrypted is not sent for a preview, even if a script clicks the
// hidden button.
func TestNoPreviewOfSecrets(t *testing.T) {
	t.Parallel()
	s := newRecordedServer(t, database.SQLite(t))
	tab := open(t, s.origin)
	tab.show("/")
	tab.fill("#name-1", "s3aled.md")
	tab.fill("#code-1", secretCode)
	const tools = `.snippet .tools:has(+ .field #code-1)`
	tab.do(chromedp.WaitVisible(chromedp.CSS(tools)), tab.click("#encrypt"))
	const clickPreview = `document.querySelector("` + tools + ` button:last-child").click()`
	tab.do(chromedp.Evaluate[chromedp.Void](clickPreview))
	if evaluate[bool](tab, `!document.querySelector("`+tools+`").hidden || !document.querySelector(".preview").hidden`) {
		t.Error("got a visible preview or its buttons, want both hidden")
	}
	s.mu.Lock()
	requests := s.requests.String()
	s.mu.Unlock()
	if strings.Contains(requests, "s3aled") {
		t.Errorf("got the requests %q, want none with the text that is to be encrypted", requests)
	}
	tab.do(tab.click("#encrypt"), chromedp.WaitVisible(chromedp.CSS(tools)))
}
