package server

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gluepot/gluepot/domain/fault"
)

// pair is a self-signed certificate for a name and its key, in PEM.
type pair struct {
	name      string
	cert, key []byte
}

func newPair(t *testing.T, name string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}
}

// files are where a server looks for its certificate.
type files struct{ cert, key string }

// put replaces a file atomically, as programs that renew certificates do.
func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func (f files) put(t *testing.T, p pair) {
	t.Helper()
	put(t, f.cert, p.cert)
	put(t, f.key, p.key)
}

// serveTLS serves with a certificate.
func serveTLS(t *testing.T, first pair, change func(*Config)) (*Server, files, *observer.ObservedLogs) {
	t.Helper()
	folder := t.TempDir()
	f := files{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")}
	f.put(t, first)
	server, _, lines := serve(t, func(cfg *Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = f.cert, f.key
		if change != nil {
			change(cfg)
		}
	})
	return server, f, lines
}

// shake connects with a client that trusts only the certificate of a pair.
func shake(t *testing.T, s *Server, pair pair, change func(*tls.Config)) (*peer, error) {
	t.Helper()
	p := dial(t, s)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pair.cert)
	cfg := &tls.Config{RootCAs: roots, ServerName: pair.name, MinVersion: tls.VersionTLS12}
	if change != nil {
		change(cfg)
	}
	client := tls.Client(p.Conn, cfg)
	if err := client.HandshakeContext(t.Context()); err != nil {
		return nil, err
	}
	return &peer{Conn: client, t: t, reader: bufio.NewReader(client)}, nil
}

func mustShake(t *testing.T, s *Server, pair pair) *peer {
	t.Helper()
	p, err := shake(t, s, pair, nil)
	if err != nil {
		t.Fatalf("%s: got %v, want a handshake with its certificate", pair.name, err)
	}
	return p
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certificate := newPair(t, "a.test")
	server, _, _ := serveTLS(t, certificate, nil)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		p, err := shake(t, server, certificate, func(cfg *tls.Config) {
			cfg.MinVersion, cfg.MaxVersion, cfg.NextProtos = version, version, []string{"h2", "http/1.1"}
		})
		if err != nil {
			t.Fatalf("version %x: got %v, want a handshake", version, err)
		}
		p.ask("/")
		p.send("/long") // on the same connection
		if response, body := p.receive(); response.StatusCode != http.StatusOK || len(body) < longAnswer {
			t.Errorf("version %x: got %s and %d bytes, want 200 and %d", version, response.Status, len(body), longAnswer)
		}
		client, ok := p.Conn.(*tls.Conn)
		if !ok || client.ConnectionState().NegotiatedProtocol != "http/1.1" {
			t.Errorf("version %x: got another protocol, want http/1.1", version)
		}
	}
	if _, err := shake(t, server, certificate, func(cfg *tls.Config) {
		cfg.MinVersion, cfg.MaxVersion = 0, tls.VersionTLS11
	}); err == nil {
		t.Error("version 1.1: got a handshake, want none")
	}
	if _, err := shake(t, server, newPair(t, "a.test"), nil); err == nil {
		t.Error("got a handshake with a client that does not trust the certificate, want none")
	}
}

// TestTLSCertificateIsReadAgain checks that the next handshake after a change gets the new certificate, and that open
// connections stay.
func TestTLSCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	first, second, third := newPair(t, "a.test"), newPair(t, "b.test"), newPair(t, "c.test")
	server, f, lines := serveTLS(t, first, nil)
	before := mustShake(t, server, first)
	before.ask("/")
	resumable := tls.NewLRUClientSessionCache(8)
	remember := func(cfg *tls.Config) { cfg.ClientSessionCache, cfg.ServerName = resumable, "a.test" }
	if p, err := shake(t, server, first, remember); err != nil {
		t.Fatal(err)
	} else {
		p.ask("/") // which brings the ticket, if there is one
	}

	f.put(t, second)
	mustShake(t, server, second).ask("/")
	if _, err := shake(t, server, first, remember); err == nil {
		t.Error("got a handshake with the certificate of before, want none")
	}
	before.ask("/")

	put(t, f.cert, third.cert) // whose key is not there yet
	for range 3 {
		mustShake(t, server, second)
	}
	if err := os.Remove(f.key); err != nil {
		t.Fatal(err)
	}
	mustShake(t, server, second)
	put(t, f.key, third.key)
	mustShake(t, server, third).ask("/")
	if err := os.WriteFile(f.cert, first.cert[:len(first.cert)/2], 0o600); err != nil { // in place
		t.Fatal(err)
	}
	mustShake(t, server, third)
	f.put(t, first)
	mustShake(t, server, first)

	errors := lines.FilterMessage("the new certificate cannot be used: the previous one stays in use")
	reloads := lines.FilterMessage("the certificate was reloaded")
	if errors.Len() != 3 || reloads.Len() != 3 {
		t.Errorf("got %d changes refused and %d applied in the log, want 3 and 3: %v", errors.Len(), reloads.Len(),
			lines.All())
	}
	for _, line := range errors.All() {
		for _, p := range []pair{first, second, third} {
			if strings.Contains(fmt.Sprint(line.Message, line.ContextMap()), string(p.key[100:120])) {
				t.Errorf("got %v in the log, want no key in it", line)
			}
		}
	}
}

// TestTLSCertificateBehindLinks is for Kubernetes, which mounts a secret as links through a link to a folder, and swaps
// that.
func TestTLSCertificateBehindLinks(t *testing.T) {
	t.Parallel()
	first, second := newPair(t, "a.test"), newPair(t, "b.test")
	folder := t.TempDir()
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(folder, "new")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(folder, "new"), filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	for version, p := range map[string]pair{"1": first, "2": second} {
		if err := os.Mkdir(filepath.Join(folder, version), 0o700); err != nil {
			t.Fatal(err)
		}
		files{filepath.Join(folder, version, "tls.crt"), filepath.Join(folder, version, "tls.key")}.put(t, p)
	}
	link("1", "..data")
	link("..data/tls.crt", "tls.crt")
	link("..data/tls.key", "tls.key")
	server, _, _ := serve(t, func(cfg *Config) {
		cfg.TLSCertFile, cfg.TLSKeyFile = filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")
	})
	mustShake(t, server, first)
	link("2", "..data")
	mustShake(t, server, second)
}

func TestInvalidTLSFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	one, other := newPair(t, "a.test"), newPair(t, "b.test")
	f := files{filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")}
	start := func() error {
		cfg := DefaultConfig()
		cfg.Addr, cfg.TLSCertFile, cfg.TLSKeyFile = "127.0.0.1:0", f.cert, f.key
		return New(cfg, new(handler), zap.NewNop()).Start(t.Context())
	}
	refuse := func(what string) {
		t.Helper()
		if err := start(); !fault.Is(err, fault.Invalid) || !strings.Contains(fault.MessageOf(err), f.cert) {
			t.Errorf("%s: got %v, want fault.Invalid with the path", what, err)
		}
	}
	refuse("no files")
	f.put(t, pair{cert: one.cert, key: other.key})
	refuse("another's key")
	f.put(t, pair{cert: one.key, key: one.cert})
	refuse("files in each other's place")
	for _, cfg := range []Config{{TLSCertFile: "x"}, {TLSKeyFile: "x"}} {
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "set both or neither") {
			t.Errorf("%+v: got %v, want it refused", cfg, err)
		}
	}
}

func TestPlainRequestToTLS(t *testing.T) {
	t.Parallel()
	server, _, _ := serveTLS(t, newPair(t, "a.test"), nil)
	p := dial(t, server)
	p.send("/")
	if response, body := p.receive(); response.StatusCode != http.StatusBadRequest || !strings.Contains(body, "HTTPS") {
		t.Errorf("got %s %q, want 400 and a word about HTTPS", response.Status, body)
	}

	p = dial(t, server)
	_, _ = io.WriteString(p, "SSH-2.0-OpenSSH_9.2\r\n")
	if got, err := io.ReadAll(p); err == nil && strings.Contains(string(got), "HTTP/") {
		t.Errorf("got %q, want no HTTP answer to another protocol", got)
	}
}

// TestSilentTLSClient checks that the read timeout bounds the handshake.
func TestSilentTLSClient(t *testing.T) {
	t.Parallel()
	server, _, _ := serveTLS(t, newPair(t, "a.test"), func(cfg *Config) { cfg.ReadTimeout = 50 * time.Millisecond })
	var p net.Conn = dial(t, server)
	if n, err := p.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("got %d bytes, error %v, want the connection to be closed", n, err)
	}
}
