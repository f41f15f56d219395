package httpapi

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// 64 KiB of headers are read, in a thousand lines, and not much more.
func TestHeaderLimits(t *testing.T) {
	t.Parallel()
	server, _ := serveStore(t, newStore(), nil)
	for header, status := range map[string]int{
		"Accept: " + strings.Repeat("a/b,", 15<<10):        http.StatusOK,
		"Accept: " + strings.Repeat("a/b,", 20<<10):        http.StatusRequestHeaderFieldsTooLarge,
		strings.TrimSpace(strings.Repeat("A:\r\n", 1000)):  http.StatusOK,
		strings.TrimSpace(strings.Repeat("A:\r\n", 10000)): http.StatusBadRequest,
	} {
		p := dial(t, server)
		p.ask("/healthz")
		p.send("/healthz", header)
		if response, err := http.ReadResponse(p.reader, nil); err != nil || response.StatusCode != status {
			t.Errorf("%d bytes %.10q...: got %v, error %v, want %d", len(header), header, response, err, status)
		}
	}

	// A body of many lines is not many headers.
	p := dial(t, server)
	p.send("/healthz", "Content-Length: 3000\r\n\r\n"+strings.Repeat("\n", 3000-len("\r\n\r\n")))
	if response, err := http.ReadResponse(p.reader, nil); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("a body of many lines: got %v, error %v, want 200", response, err)
	}

	// Many small requests at once are not many headers.
	p = dial(t, server)
	const requests = 2000
	go func() { _, _ = io.WriteString(p, strings.Repeat("GET /healthz HTTP/1.1\nHost:\n\n", requests)) }()
	for range requests {
		if response, _ := p.receive(); response.StatusCode != http.StatusOK {
			t.Fatalf("got %s, want 200", response.Status)
		}
	}
}
