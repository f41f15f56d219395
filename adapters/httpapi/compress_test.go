package httpapi

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// decode returns a body without its coding.
func decode(t *testing.T, coding string, body io.Reader) string {
	t.Helper()
	switch coding {
	case "gzip":
		reader, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		body = reader
	case "zstd":
		reader, err := zstd.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		body = reader
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCompression checks body, ETag and Vary of answers in each coding, and that pages with a secret are not
// compressed.
func TestCompression(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{}
	api, _ := newTestAPI(t, newStore(), cfg)
	for name, c := range map[string]struct{ method, path, accepts, coding, vary string }{
		"page":            {http.MethodGet, "/long", "gzip", "gzip", "Accept-Encoding"},
		"zstd":            {http.MethodGet, "/long", "gzip, deflate, br, zstd", "zstd", "Accept-Encoding"},
		"weighed":         {http.MethodGet, "/long", "zstd;q=0.1, gzip", "gzip", "Accept-Encoding"},
		"refused":         {http.MethodGet, "/long", "gzip;q=0", "", "Accept-Encoding"},
		"not asked for":   {http.MethodGet, "/long", "", "", "Accept-Encoding"},
		"another":         {http.MethodGet, "/long", "br", "", "Accept-Encoding"},
		"without body":    {http.MethodHead, "/long", "gzip", "", "Accept-Encoding"},
		"a form's answer": {http.MethodPost, "/long/form", "gzip", "gzip", "Accept-Encoding"},
		"short":           {http.MethodGet, "/a", "gzip", "", ""},
		"plain text":      {http.MethodGet, "/plain", "gzip", "", ""},
		"secret":          {http.MethodGet, "/secret", "gzip", "", ""},
		"file":            {http.MethodGet, "/file", "gzip, deflate, br", "gzip", "Accept-Encoding"},
		"file of others":  {http.MethodGet, "/file", "gzip, sdch", "gzip", "Accept-Encoding"},
		"document":        {http.MethodGet, "/docs/docs.css", "gzip", "gzip", "Origin, Accept-Encoding"},
		"JSON":            {http.MethodGet, "/openapi.json", "gzip", "gzip", "Origin, Accept-Encoding"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := request(api, c.method, c.path, nil)
			for range 2 { // the second may be kept
				got := request(api, c.method, c.path, http.Header{"Accept-Encoding": {c.accepts}})
				header := got.Header()
				coding, vary := header.Get("Content-Encoding"), strings.Join(header["Vary"], ", ")
				if coding != c.coding || vary != c.vary || header[gzhttp.HeaderNoCompression] != nil || got.Code != plain.Code {
					t.Fatalf("got %d and %v, want it in coding %q, and Vary %q", got.Code, header, c.coding, c.vary)
				}
				length := got.Body.Len()
				if coding != "" && length >= plain.Body.Len()/2 {
					t.Errorf("got %d bytes compressed of %d, want less than half", length, plain.Body.Len())
				}
				if decode(t, coding, got.Body) != plain.Body.String() {
					t.Error("got another text than without a coding, want the same")
				}
				etag := header.Get("Etag")
				if etag == "" {
					continue
				}
				if coding != "" && etag == plain.Header().Get("Etag") {
					t.Errorf("got the ETag %s of the uncompressed answer, want another", etag)
				}
				for _, ifNoneMatch := range []string{etag, "W/" + etag, plain.Header().Get("Etag")} {
					cached := request(api, http.MethodGet, c.path, http.Header{
						"Accept-Encoding": {c.accepts}, "If-None-Match": {ifNoneMatch},
					})
					if cached.Code != http.StatusNotModified || cached.Body.Len() > 0 ||
						cached.Header().Get("Content-Encoding") != "" || strings.Join(cached.Header()["Vary"], ", ") != c.vary {
						t.Errorf("%s: got %d and %v, want 304", ifNoneMatch, cached.Code, cached.Header())
					}
				}
			}
		})
	}
}
