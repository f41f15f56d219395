package e2e

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// gzipBrowser is a browser that accepts gzip.
type gzipBrowser struct {
	*http.Client

	t      *testing.T
	origin string
}

// ask sends a request, and returns the content coding and the body of the answer, without decoding it.
func (p *gzipBrowser) ask(method, path string, form url.Values) (encoding string, body []byte) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.origin+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header = http.Header{
		"Accept": {"text/html"}, "Content-Type": {"application/x-www-form-urlencoded"},
		"Accept-Encoding": {"gzip, deflate, br"},
		"Sec-Fetch-Site":  {"same-origin"},
	}
	answer, err := p.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // it has been read
	if body, err = io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: got %s, %v, want 200", path, answer.Status, err)
	}
	return answer.Header.Get("Content-Encoding"), body
}

// TestCompressedPages checks that pages are compressed for a browser that accepts gzip, unless they show a delete key
// or a new access token.
func TestCompressedPages(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	jar, _ := cookiejar.New(nil) // never fails
	browser := &gzipBrowser{
		Client: &http.Client{Timeout: program.Patience, Jar: jar, Transport: &http.Transport{DisableCompression: true}},
		t:      t, origin: "http://" + program.Serve(t, cfg.URL).Address,
	}
	code := strings.Repeat("\tif n, err := fmt.Fprintf(w, \"%d of %s\", 12, name); err != nil { return n, err }\n", 25)
	draft := url.Values{"title": {"A"}, "name": {"main.go"}, "language": {"Go"}, "code": {code}, "expires": {"1d"},
		"do": {"save"}}
	encoding, page := browser.ask(http.MethodPost, "/", draft)
	if encoding != "" || !strings.Contains(string(page), "can delete it") {
		t.Errorf("got encoding %q and %.200s, want the page with the delete key uncompressed", encoding, page)
	}
	_, id, _ := strings.Cut(string(page), `href="/`)
	for !strings.HasPrefix(id[min(8, len(id)):], "/fork") {
		var ok bool
		if _, id, ok = strings.Cut(id, `href="/`); !ok {
			t.Fatalf("got %s, want a link to the paste", page)
		}
	}
	encoding, compressed := browser.ask(http.MethodGet, "/"+id[:8], nil)
	if encoding != "gzip" || len(compressed) > len(page)*4/10 {
		t.Errorf("got %d bytes in encoding %q of %d, want gzip and at most 40 %%", len(compressed), encoding, len(page))
	}
	t.Logf("the page of 2 KiB of Go: %d bytes, compressed %d", len(page), len(compressed))
	_, style, _ := strings.Cut(string(page), `rel="stylesheet" href="`)
	style, _, _ = strings.Cut(style, `"`)
	if encoding, compressed := browser.ask(http.MethodGet, style, nil); encoding != "gzip" || len(compressed) > 8<<10 {
		t.Errorf("%s: got %d bytes in encoding %q, want gzip and at most 8 KiB", style, len(compressed), encoding)
	}

	browser.ask(http.MethodPost, "/sign-in", url.Values{"token": {program.EpoxyToken}})
	if encoding, _ := browser.ask(http.MethodGet, "/account/tokens", nil); encoding != "gzip" {
		t.Errorf("got encoding %q of the list of tokens, want gzip", encoding)
	}
	form := fromOwnPage("/account/tokens", url.Values{"name": {"a"}, "scope": {"read"}, "days": {"7"}},
		func(path string) string {
			_, compressed := browser.ask(http.MethodGet, path, nil)
			return decompress(t, compressed)
		})
	encoding, page = browser.ask(http.MethodPost, "/account/tokens", form)
	if encoding != "" || !strings.Contains(string(page), "not shown again") {
		t.Errorf("got encoding %q and %.200s, want the page with the token uncompressed", encoding, page)
	}
}

func decompress(t *testing.T, compressed []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
