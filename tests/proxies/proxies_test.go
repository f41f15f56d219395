// Package proxies runs the configurations of docs/operations/proxies in their programs, before two nodes.
package proxies

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/idp"
	"github.com/gluepot/gluepot/tests/program"
)

func TestMain(m *testing.M) {
	code := database.Main(m)
	program.Remove()
	os.Exit(code)
}

// configurations are the files, and how their programs are started with a main file that includes them as Debian's
// does.
var configurations = []struct {
	name, file, mount string
	args              []string // %s is the main file
	main              func(folder, site string) string
}{
	{"nginx", "nginx.conf", "", nginxArgs, nginxMain},
	{"nginx below a path", "nginx-path.conf", "/paste", nginxArgs, nginxMain},
	{"Caddy", "Caddyfile", "", caddyArgs, caddyMain},
	{"Caddy below a path", "Caddyfile-path", "/paste", caddyArgs, caddyMain},
	{"HAProxy", "haproxy.cfg", "", haproxyArgs, whole},
	{"HAProxy below a path", "haproxy-path.cfg", "/paste", haproxyArgs, whole},
	{"Apache", "apache.conf", "", apacheArgs, apacheMain},
	{"Apache below a path", "apache-path.conf", "/paste", apacheArgs, apacheMain},
}

var (
	nginxArgs   = []string{"nginx", "-e", "stderr", "-c", "%s"}
	caddyArgs   = []string{"caddy", "run", "--adapter", "caddyfile", "--config", "%s"}
	haproxyArgs = []string{"haproxy", "-db", "-f", "%s"}
	apacheArgs  = []string{"apache2", "-X", "-f", "%s"}
)

func whole(_, site string) string { return site }

func caddyMain(_, site string) string {
	// Without HTTP/3, whose port the tests hold so that no other test gets the same.
	return "{\n\tservers {\n\t\tprotocols h1 h2\n\t}\n\tadmin off\n" +
		"\tauto_https disable_redirects\n\tskip_install_trust\n}\n" + site
}

func nginxMain(folder, site string) string {
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n"
	}
	temporary := ""
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temporary += kind + "_temp_path " + folder + "/" + kind + ";\n"
	}
	return user + "daemon off;\npid " + folder + "/pid;\nevents {}\nhttp {\naccess_log off;\n" + temporary + site + "}\n"
}

func apacheMain(folder, site string) string {
	text := "ServerRoot " + folder + "\nDefaultRuntimeDir " + folder + "\nPidFile " + folder + "/pid\n" +
		"ErrorLog /dev/stderr\nServerName localhost\n"
	for _, module := range []string{
		"mpm_event", "authz_core", "alias", "headers", "ssl", "socache_shmcb", "slotmem_shm", "proxy", "proxy_http",
		"proxy_balancer",
		"lbmethod_byrequests", "reqtimeout",
	} {
		text += "LoadModule " + module + "_module /usr/lib/apache2/modules/mod_" + module + ".so\n"
	}
	if os.Getuid() == 0 {
		text += "User www-data\nGroup www-data\n"
	}
	// -X runs one process.
	return text + "RequestReadTimeout header=20-40,minrate=500 body=10,minrate=500\nListen LISTEN\n" + site
}

// installation is a proxy and the nodes behind it.
type installation struct {
	public   string // URL
	nodes    [2]*program.Process
	settings [2][]string
	client   *http.Client
}

// client is the address that requests come from. That of the proxies is trusted, so it is another.
const client = "127.0.0.2"

// TestProxies uses Gluepot through each proxy: at the root of a host and below a path, over TLS.
func TestProxies(t *testing.T) {
	t.Parallel()
	for _, c := range configurations {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.args[0]); err != nil {
				t.Fatalf("%v: these tests need it; Debian: apt-get install nginx caddy haproxy apache2-bin", err)
			}
			i, provider := start(t, c.mount)
			i.runProxy(t, c.file, c.args, c.main)
			for name, test := range map[string]func(*testing.T){
				"links":       i.wantLinks,
				"uploads":     i.wantUploads,
				"slow upload": i.wantSlowUpload,
				"sign-in":     func(t *testing.T) { i.wantSignIn(t, provider, c.mount) },
				"no referrer": i.wantFormsWithoutReferrer,
			} {
				t.Run(name, test)
			}
			t.Run("restart", i.wantNothingLost)
		})
	}
}

// start starts two nodes for a proxy that is yet to come.
func start(t *testing.T, mount string) (*installation, *idp.Provider) {
	t.Helper()
	proxy := freeport.Address(t)
	i := &installation{public: "https://" + proxy + mount}
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	provider := idp.Start(t, i.public)
	for n := range i.nodes {
		i.settings[n] = []string{
			"GLUEPOT_HTTP_ADDR=" + freeport.Address(t), "GLUEPOT_PUBLIC_URL=" + i.public,
			"GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1",
			"GLUEPOT_REGISTRATION=open", "GLUEPOT_OIDC_ISSUER=" + provider.URL, "GLUEPOT_OIDC_CLIENT_ID=" + idp.ClientID,
			"GLUEPOT_OIDC_CLIENT_SECRET=" + idp.ClientSecret, "GLUEPOT_HTTP_DRAIN_DELAY=5s", "GLUEPOT_HTTP_READ_TIMEOUT=2s",
			"GLUEPOT_HTTP_MAX_CLIENT_CONNECTIONS=4", "GLUEPOT_DATABASE_MAX_CONNECTIONS=4",
		}
		i.nodes[n] = program.Serve(t, cfg.URL, i.settings[n]...)
		// A restart has the patience of program.Serve: the database of a busy machine is slow.
		i.settings[n] = append(i.settings[n], "GLUEPOT_DATABASE_URL="+cfg.URL,
			"GLUEPOT_HTTP_REQUEST_TIMEOUT=25s", "GLUEPOT_DATABASE_CONNECT_TIMEOUT=20s")
	}
	return i, provider
}

// runProxy starts a proxy with a file of the documentation, in which only addresses and paths of files are replaced,
// and waits until it answers.
func (i *installation) runProxy(t *testing.T, file string, args []string, main func(folder, site string) string) {
	t.Helper()
	folder := t.TempDir()
	site, err := os.ReadFile(filepath.Join("../../docs/operations/proxies", file))
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(i.public, "https://")
	address, _, _ = strings.Cut(address, "/")
	host, _, _ := net.SplitHostPort(address)
	pool := writeCertificate(t, folder)
	name := host
	if args[0] == "caddy" {
		name = "https://" + address
	}
	text := main(folder, string(site))
	for _, replaced := range [][2]string{
		{"127.0.0.1:8080", i.nodes[0].Address}, {"127.0.0.1:8081", i.nodes[1].Address}, {"*:443", address},
		{"listen 443", "listen " + address},
		{"LISTEN", address}, {"/etc/ssl/certs/", folder + "/"}, {"/etc/ssl/private/", folder + "/"},
		{"\npaste.example {", "\n" + name + " {"}, {" paste.example;", " " + name + ";"},
		{"ServerName paste.example", "ServerName " + name},
	} {
		text = strings.ReplaceAll(text, replaced[0], replaced[1])
	}
	path := filepath.Join(folder, "main.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var output program.Output
	command := exec.CommandContext(t.Context(), args[0], replaceAll(args[1:], path)...)
	command.Env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+folder, "XDG_CONFIG_HOME="+folder)
	command.Stdout, command.Stderr = &output, &output
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		<-ended // the test's context has ended
		if t.Failed() {
			t.Logf("%s:\n%s", args[0], output.String())
		}
	})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
	i.client = &http.Client{
		Jar: jar, Timeout: program.Patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		},
	}
	t.Cleanup(i.client.CloseIdleConnections)
	program.Eventually(t, args[0]+" answers", func() bool {
		select {
		case <-ended:
			t.Fatalf("%s has ended: %s", args[0], output.String())
		default:
		}
		answer, err := i.client.Get(i.public + "/data/numPastes")
		if err != nil {
			return false
		}
		defer answer.Body.Close() //nolint:errcheck // it is not read
		return answer.StatusCode == http.StatusOK
	})
}

func replaceAll(args []string, path string) []string {
	replaced := make([]string, len(args))
	for n, arg := range args {
		replaced[n] = strings.ReplaceAll(arg, "%s", path)
	}
	return replaced
}

// writeCertificate writes a certificate for the proxy's address, and returns who trusts it.
func writeCertificate(t *testing.T, folder string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "paste.example"},
		IPAddresses: []net.IP{net.ParseIP("127.0.0.1")},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, IsCA: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	secret := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	for name, content := range map[string][]byte{
		"paste.example.pem": certificate, "paste.example.key": secret,
		"paste.example-with-key.pem": append(bytes.Clone(certificate), secret...),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return pool
}

// send sends a request through the proxy, and returns the answer and its text.
func (i *installation) send(t *testing.T, method, path string, body io.Reader,
	headers ...string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, i.public+path, body)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(headers); n += 2 {
		request.Header.Set(headers[n], headers[n+1])
	}
	answer, err := i.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer, string(text)
}

// wantLinks wants https and the host in links, and the client's address in the log, whatever the client says of it.
func (i *installation) wantLinks(t *testing.T) {
	const forged = "203.0.113.9"
	answer, link := i.send(t, http.MethodPost, "/raw", strings.NewReader("code"),
		"X-Forwarded-For", forged, "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http")
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(link, i.public+"/") {
		t.Errorf("got %d %s, want a link below %s", answer.StatusCode, link, i.public)
	}
	answer, page := i.send(t, http.MethodGet, strings.TrimPrefix(strings.TrimSpace(link), i.public), nil,
		"Accept", "text/html")
	if answer.StatusCode != http.StatusOK || !strings.Contains(page, ">code") {
		t.Errorf("got %d %s, want the page", answer.StatusCode, page)
	}
	if answer, page = i.send(t, http.MethodGet, "/", nil, "Accept", "text/html"); answer.StatusCode != http.StatusOK ||
		!strings.Contains(page, `<a class="brand" href="`+path(i.public)+`/"`) {
		t.Errorf("got %d %.500s, want the form", answer.StatusCode, page)
	}
	for _, node := range i.nodes {
		for _, line := range node.Log() {
			if line["route"] != nil && line["route"] != "/readyz" && line["client"] != client {
				t.Errorf("got a request of %v, want it of %s", line["client"], client)
			}
			if message, _ := line["msg"].(string); strings.Contains(message, "GLUEPOT_HTTP_TRUSTED_PROXIES") {
				t.Errorf("got the warning %s, want none", message)
			}
		}
	}
}

// path returns the path of a URL.
func path(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return err.Error()
	}
	return parsed.Path
}

// wantUploads sends as much as Gluepot takes, and more: what refuses that is Gluepot.
func (i *installation) wantUploads(t *testing.T) {
	for length, status := range map[int]int{2 << 20: http.StatusOK, 2<<20 + 1: http.StatusRequestEntityTooLarge} {
		answer, text := i.send(t, http.MethodPost, "/raw", strings.NewReader(strings.Repeat("x", length)), "Accept",
			"application/json")
		if answer.StatusCode != status || answer.Header.Get("X-Request-Id") == "" {
			t.Errorf("%d bytes: got %d %.300s, want %d", length, answer.StatusCode, text, status)
		}
	}
}

// slow sends 100 KB a second.
type slow struct{ left int }

func (s *slow) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	time.Sleep(100 * time.Millisecond) // it is what this is about
	n := min(10_000, s.left, len(p))
	for i := range n {
		p[i] = 'x'
	}
	s.left -= n
	return n, nil
}

// wantSlowUpload sends for longer than the nodes' GLUEPOT_HTTP_READ_TIMEOUT.
func (i *installation) wantSlowUpload(t *testing.T) {
	answer, text := i.send(t, http.MethodPost, "/raw", &slow{300_000})
	if answer.StatusCode != http.StatusOK {
		t.Errorf("got %d %s, want 200", answer.StatusCode, text)
	}
}

// wantSignIn signs up with a provider, whose callback is at the proxy.
func (i *installation) wantSignIn(t *testing.T, provider *idp.Provider, mount string) {
	answer, text := i.send(t, http.MethodGet, "/sign-in/oidc", nil, "Accept", "text/html")
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("got %d %s, want to be sent to %s", answer.StatusCode, text, provider.URL)
	}
	back := idp.Visit(t, answer.Header.Get("Location")).String()
	if !strings.HasPrefix(back, i.public+"/sign-in/oidc/callback?") {
		t.Fatalf("got sent back to %s, want %s", back, i.public)
	}
	answer, text = i.send(t, http.MethodGet, strings.TrimPrefix(back, i.public), nil, "Accept", "text/html")
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != mount+"/sign-up" {
		t.Fatalf("got %d %s %s, want to choose a name", answer.StatusCode, answer.Header.Get("Location"), text)
	}
	answer, text = i.form(t, "/sign-up", url.Values{"name": {"ann"}})
	prefix := "__Host-"
	if mount != "" {
		prefix = "__Secure-"
	}
	cookies := strings.Join(answer.Header["Set-Cookie"], "\n")
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != mount+"/pastes" ||
		!strings.Contains(cookies, prefix+"gluepot-session=") || !strings.Contains(cookies, "Secure") {
		t.Errorf("got %d %v %s, want a session", answer.StatusCode, answer.Header, text)
	}
	if answer, text = i.send(t, http.MethodGet, "/pastes", nil, "Accept", "text/html"); !strings.Contains(text,
		"Signed in as <b>ann</b>") {
		t.Errorf("got %d %s, want to be signed in", answer.StatusCode, text)
	}
}

// form sends a form as a browser does for which a proxy has added "Referrer-Policy: no-referrer".
func (i *installation) form(t *testing.T, path string, fields url.Values) (*http.Response, string) {
	t.Helper()
	return i.send(t, http.MethodPost, path, strings.NewReader(fields.Encode()), "Content-Type",
		"application/x-www-form-urlencoded",
		"Accept", "text/html", "Origin", "null", "Sec-Fetch-Site", "same-origin")
}

func (i *installation) wantFormsWithoutReferrer(t *testing.T) {
	if answer, text := i.form(t, "/preview", url.Values{"code": {"# heading"}}); answer.StatusCode != http.StatusOK {
		t.Errorf("got %d %s, want the preview", answer.StatusCode, text)
	}
}

// wantNothingLost restarts one node after the other while requests come in: each is answered.
func (i *installation) wantNothingLost(t *testing.T) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	sent, failures := 0, []string(nil)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			time.Sleep(5 * time.Millisecond) // the proxy is not measured
			sent++
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.public+"/data/numPastes", nil)
			if sent%4 == 0 && err == nil {
				request, err = http.NewRequestWithContext(t.Context(), http.MethodPost, i.public+"/raw", strings.NewReader("code"))
			}
			if err == nil {
				var answer *http.Response
				if answer, err = i.client.Do(request); err == nil {
					_, _ = io.Copy(io.Discard, answer.Body)
					_ = answer.Body.Close()
					if answer.StatusCode != http.StatusOK {
						err = fmt.Errorf("%s", answer.Status)
					}
				}
			}
			if err != nil {
				failures = append(failures, fmt.Sprintf("request %d: %v", sent, err))
			}
		}
	}()
	for n := range i.nodes {
		i.nodes[n].Signal(syscall.SIGTERM)
		if code := i.nodes[n].Wait(); code != 0 {
			t.Errorf("got the exit code %d of a node, want 0", code)
		}
		i.nodes[n] = program.Start(t, i.settings[n], "serve")
		i.nodes[n].WaitForAddress()
		// The proxy has seen that it is back before the other one goes.
		program.Eventually(t, "requests reach the node again", func() bool { return asked(i.nodes[n]) })
	}
	close(stop)
	<-stopped
	if len(failures) > 0 || sent < 10 {
		t.Errorf("got %d requests of which these failed: %v, want all answered", sent, failures)
	}
	t.Logf("%d requests", sent)
}

// asked reports whether a client has reached a node.
func asked(node *program.Process) bool {
	for _, line := range node.Log() {
		if route, _ := line["route"].(string); route == "/data/numPastes" {
			return true
		}
	}
	return false
}
