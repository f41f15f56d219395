package e2e

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	large  = flag.Bool("large", false,
		"import 100,000 pastes instead of 5,000, and run the tests that need much memory or time")
)

func TestMain(m *testing.M) {
	code := database.Main(m)
	program.Remove()
	if code == 0 && wholePackage() {
		code = checkAllSeen()
	}
	os.Exit(code)
}

// exchange sends a request byte for byte, checks the answer against the OpenAPI document and returns it.
func exchange(t *testing.T, server *program.Process, method, target string,
	headers ...string) (*http.Response, string) {
	t.Helper()
	connection, err := net.DialTimeout("tcp", server.Address, program.Patience)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close() //nolint:errcheck // it has been read
	_ = connection.SetDeadline(time.Now().Add(program.Patience))
	body, chunked := "", slices.Contains(headers, "Transfer-Encoding: chunked")
	for i, header := range headers {
		content, isBody := strings.CutPrefix(header, "\n")
		switch {
		case isBody && chunked:
			if headers[i], body = "X-Body: chunked", "0\r\n\r\n"; content != "" {
				body = fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(content), content)
			}
		case isBody:
			headers[i], body = fmt.Sprintf("Content-Length: %d", len(content)), content
		}
	}
	lines := append([]string{method + " " + target + " HTTP/1.1", "Host: gluepot.test", "X-Request-Id: golden",
		"Connection: close"},
		headers...)
	if _, err := io.WriteString(connection, strings.Join(lines, "\r\n")+"\r\n\r\n"+body); err != nil {
		t.Fatalf("%s %.100s: %v", method, target, err)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s %.100s: got %v, want an answer", method, target, err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %.100s: got %v, want a body", method, target, err)
	}
	server.Check(openapi.Answer{Method: method, Target: target, Status: response.StatusCode, Header: response.Header,
		Body: content})
	return response, string(content)
}

// trustTests makes a server believe the request id that exchange sends.
const trustTests = "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1"

// goldenHeaders are the headers in the golden file, in this order.
var goldenHeaders = []string{
	"Content-Type", "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Content-Length",
	"Content-Encoding",
	"WWW-Authenticate", "Allow", "Cache-Control", "Vary", "ETag", "Location", "Gluepot-Delete-Key", "Retry-After",
	"X-Robots-Tag",
}

// createImported stores pastes that only an import can create.
func createImported(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	pastes := gormstore.NewPastes(database.Open(t, cfg))
	created := time.Date(2021, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, d := range []paste.Document{
		{
			Paste: paste.Paste{ID: "cipher01", Owner: "epoxy001", CreatedAt: created},
			Content: paste.Content{Lifetime: paste.Never,
				Cipher: &paste.Cipher{Data: []byte{1}, Key: []byte{2}, Salt: []byte{3}}},
		},
		{
			Paste: paste.Paste{ID: "imported", Owner: "epoxy001", CreatedAt: created},
			Content: paste.Content{
				Title: longTitle, Lifetime: paste.Never,
				Pasties: []paste.Pasty{{ID: "part0001", Title: "t", Language: "unknown", Code: "a\r\nb"}},
			},
		},
	} {
		if err := pastes.CreateDocument(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDecisions sends the requests of the decision tables, on both databases, and compares the status, headers and body
// of each answer with testdata/decisions.golden.
func TestDecisions(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/decisions.golden")
	if err != nil && !*update {
		t.Fatal(err)
	}
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		server := program.Serve(t, cfg.URL, trustTests, "GLUEPOT_PAGES=false")
		var golden strings.Builder
		names := newNames()
		for i, d := range slices.Concat(decisions, pasteDecisions) {
			if i == len(decisions) {
				createImported(t, cfg)
			}
			fmt.Fprintf(&golden, "## %s\n\n", d.row)
			for _, r := range d.requests {
				headers := make([]string, len(r.headers))
				for i, header := range r.headers {
					headers[i] = names.fill(header)
				}
				response, body := exchange(t, server, r.method, names.fill(r.target), headers...)
				if t.Failed() {
					t.FailNow() // openapi.yaml lacks something, which most other answers have, too
				}
				names.learn(r.name, response, body)
				fmt.Fprintf(&golden, "> %s %s\n", r.method, readable(r.target))
				for _, header := range r.headers {
					fmt.Fprintf(&golden, "> %s\n", readable(strings.ReplaceAll(header, "\n", "(body) ")))
				}
				fmt.Fprintf(&golden, "%s\n", response.Status)
				for _, name := range goldenHeaders {
					if values := response.Header.Values(name); len(values) > 0 {
						fmt.Fprintf(&golden, "%s: %s\n", name, names.hide(strings.Join(values, ", ")))
					}
				}
				fmt.Fprintf(&golden, "%s\n\n", readable(names.hide(body)))
			}
		}
		if *update {
			if err := os.WriteFile("testdata/decisions.golden", []byte(golden.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		compare(t, string(want), golden.String())
		for _, line := range server.Log() {
			if text := fmt.Sprint(line); strings.Contains(text, program.EpoxyToken) ||
				strings.Contains(text, program.MortarToken) {
				t.Errorf("got a token in the log, want none: %s", text)
			}
		}
	})
}

// compare fails the test at the first line that differs, and shows the lines around it.
func compare(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			from := max(0, i-6)
			t.Fatalf("line %d differs from the golden file:\nwant %s\n\ngot  %s\n\nIf the new answers are right, run "+
				"go test ./tests/e2e -run TestDecisions -update, and read what changes.", i+1,
				strings.Join(w[min(from, len(w)):min(i+4, len(w))], "\n     "),
				strings.Join(g[min(from, len(g)):min(i+4, len(g))], "\n     "))
		}
	}
}
