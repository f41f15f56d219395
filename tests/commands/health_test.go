package commands

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gluepot "github.com/gluepot/gluepot/bootstrap/program"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/program"
)

// serve runs a server in this process until the test ends, and returns the address that it listens on.
func (i installation) serve(args ...string) (address string) {
	i.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var stderr program.Output
	ended := make(chan int, 1)
	args = append([]string{"serve", "--database-url=" + i.url, "--http-addr=127.0.0.1:0",
		"--http-drain-delay=0s"}, args...)
	go func() { ended <- gluepot.Run(ctx, args, strings.NewReader(""), new(program.Output), &stderr) }()
	i.Cleanup(func() {
		stop()
		if code := <-ended; code != exitOK {
			i.Errorf("serve: got exit code %d, want 0:\n%s", code, &stderr)
		}
	})
	program.Eventually(i.T, "the server says where it listens", func() bool {
		for line := range strings.Lines(stderr.String()) {
			var entry struct{ Msg, Address string }
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "serving" {
				address = entry.Address
			}
		}
		return address != ""
	})
	return address
}

func TestHealthOfServer(t *testing.T) {
	t.Parallel()
	address := install(t).serve("--http-base-path=/api/v2")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, listen := range []string{address, ":" + port, "0.0.0.0:" + port, "[::]:" + port} {
		for flag, state := range map[string]string{"--live=false": "ready", "--live": "alive"} {
			want := result{exitOK, "The server at 127.0.0.1:" + port + " is " + state + ".\n", ""}
			if got := run(t, "health", "--http-addr="+listen, flag); got != want {
				t.Errorf("--http-addr=%s %s: got %+v, want %+v", listen, flag, got, want)
			}
		}
	}
}

func TestHealthOverTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil) // for its certificate
	server.Close()
	certificate := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	inPEM := func(kind string, content []byte) string {
		return fileWith(t, string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content})))
	}
	certFlag := "--http-tls-cert-file=" + inPEM("CERTIFICATE", certificate.Certificate[0])
	keyFlag := "--http-tls-key-file=" + inPEM("PRIVATE KEY", key)
	i := install(t)
	address := i.serve(certFlag, keyFlag)
	want := result{exitOK, "The server at " + address + " is ready.\n", ""}
	if got := run(t, "health", "--http-addr="+address, certFlag, keyFlag); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	wantRefusal(t, "without TLS", run(t, "health", "--http-addr="+address), exitFailed,
		"the server at "+address+" is not ready: it answers 400")
	for _, command := range []string{"serve", "health"} {
		wantRefusal(t, command, run(t, command, certFlag), exitUsage,
			`--http-tls-cert-file is "`+strings.TrimPrefix(certFlag, "--http-tls-cert-file=")+
				`" and GLUEPOT_HTTP_TLS_KEY_FILE "": set both or neither`)
	}
	none := t.TempDir() + "/none"
	wantRefusal(t, "no certificate", i.run("serve --http-addr=127.0.0.1:0 "+keyFlag+" --http-tls-cert-file="+none),
		exitFailed,
		`Cannot serve with the certificate in "`+none+`" and the key in "`+strings.TrimPrefix(keyFlag,
			"--http-tls-key-file=")+
			`": open `+none+": no such file or directory. Check GLUEPOT_HTTP_TLS_CERT_FILE and GLUEPOT_HTTP_TLS_KEY_FILE.")
}

func TestHealthOfUnhealthy(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	answers := map[string]http.HandlerFunc{
		"/healthz": func(http.ResponseWriter, *http.Request) { <-hang },
		"/readyz": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"detail":"The database does not answer.\nIt never did."}`))
		},
	}
	mux := http.NewServeMux()
	for path, answer := range answers {
		mux.Handle(path, answer)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(hang) }) // before that
	elsewhere := httptest.NewServer(http.RedirectHandler(server.URL, http.StatusFound))
	t.Cleanup(elsewhere.Close)

	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	for _, c := range []struct {
		address string
		flag    string
		want    string
	}{
		{at(server), "--live=false", `is not ready: it answers 503, "The database does not answer.\nIt never did."`},
		{at(server), "--live", "is not alive: no answer within 50ms"},
		{at(elsewhere), "--live", "is not alive: it answers 302"},
		{freeport.Address(t), "--live=false", "is not ready: connection refused"},
	} {
		timeout := "--timeout=1m"
		if strings.Contains(c.want, "50ms") {
			timeout = "--timeout=50ms"
		}
		got := run(t, "health", "--http-addr="+c.address, c.flag, timeout)
		wantRefusal(t, c.want, got, exitFailed, "the server at "+c.address+" "+c.want)
	}
}

// The check reads what the listener needs and nothing else: what is wrong elsewhere is the server's to say.
func TestHealthReadsSettingsOfListener(t *testing.T) {
	address := install(t).serve()
	others := []string{"GLUEPOT_DATABASE_URL=nonsense", "GLUEPOT_HTTP_ADDR=" + address}
	if got := runWith(t, others, "health"); got.code != exitOK {
		t.Errorf("got %+v, want exit code 0", got)
	}
	for addr, part := range map[string]string{
		"nowhere": "give HOST:PORT", "127.0.0.1:0": "no fixed port", "postgres://u:p@h:1/d": "may hold a password",
	} {
		wantRefusalWith(t, addr, runWith(t, []string{"GLUEPOT_HTTP_ADDR=" + addr}, "health"), exitUsage, part)
	}
}
