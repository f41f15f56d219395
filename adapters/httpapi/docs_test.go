package httpapi

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestDocs asks for the page below two base paths, and for whatever it refers to.
func TestDocs(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/api/v2"} {
		cfg := DefaultConfig()
		cfg.BasePath = base
		api, _ := newTestAPI(t, newStore(), cfg)
		for _, target := range []string{base + "/docs", base + "/docs/"} {
			answer := request(api, http.MethodGet, target, nil)
			header := answer.Header()
			if answer.Code != http.StatusOK || header.Get("Content-Type") != "text/html; charset=utf-8" ||
				header.Get("Cache-Control") != "no-cache" {
				t.Fatalf("%s: got %d, %v, want 200 and a page", target, answer.Code, header)
			}
			policy := header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; ") || !strings.Contains(policy, "frame-ancestors 'none'") ||
				strings.Contains(policy, "unsafe-") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
				t.Errorf("%s: got the policy %q, want one that allows this server alone, and nothing unsafe", target, policy)
			}
			text := answer.Body.String()
			if regexp.MustCompile(`<script>|<style|style=|onload|javascript:|https?:`).MatchString(text) {
				t.Errorf("%s: got %s, want nothing that the policy forbids", target, text)
			}
			references := regexp.MustCompile(`(?:href|src|data-document)="([^"]*)"`).FindAllStringSubmatch(text, -1)
			if len(references) != 9 {
				t.Errorf("%s: got %d references, want 9", target, len(references))
			}
			for _, reference := range references {
				if loaded := request(api, http.MethodGet, reference[1], nil); loaded.Code != http.StatusOK || loaded.Body.Len() == 0 {
					t.Errorf("%s: got %d, %d bytes, want 200 and a file", reference[1], loaded.Code, loaded.Body.Len())
				}
			}
			known := request(api, http.MethodGet, target, http.Header{"If-None-Match": header["Etag"]})
			if known.Code != http.StatusNotModified || known.Body.Len() > 0 {
				t.Errorf("%s: got %d and %d bytes, want 304 for the ETag that it had", target, known.Code, known.Body.Len())
			}
		}
		for target, want := range map[string]int{"/docs/nothing.js": 404, "/docs/docs.html": 404, "/docs/pages/docs.js": 404, "/docs/..": 404} {
			answer := request(api, http.MethodGet, base+target, nil)
			if answer.Code != want || !strings.Contains(answer.Body.String(), "statusMessage") {
				t.Errorf("%s: got %d %s, want %d and the error body", target, answer.Code, answer.Body, want)
			}
		}
	}
}

// TestCompressedFile asks for a file of Swagger UI with and without compression.
func TestCompressedFile(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	for _, target := range []string{"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"} {
		plain := request(api, http.MethodGet, target, nil)
		packed := request(api, http.MethodGet, target, http.Header{"Accept-Encoding": {"gzip, br"}})
		reader, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(reader)
		if err != nil || string(unpacked) != plain.Body.String() || len(unpacked) < 100_000 {
			t.Errorf("%s: got %d bytes compressed, %d not compressed, %v, want the same", target, len(unpacked), plain.Body.Len(), err)
		}
		for name, want := range map[string][2]string{
			"Content-Encoding": {"", "gzip"}, "Vary": {"Origin, Accept-Encoding", "Origin, Accept-Encoding"},
			"Content-Security-Policy": {nothingAllowed[0], nothingAllowed[0]},
		} {
			if got := [2]string{plain.Header().Get(name), packed.Header().Get(name)}; got != want {
				t.Errorf("%s: got %s %q, want %q", target, name, got, want)
			}
		}
		plainTag, packedTag := plain.Header().Get("ETag"), packed.Header().Get("ETag")
		if plainTag == packedTag {
			t.Errorf("%s: got the ETag %s twice, want one for each representation", target, plainTag)
		}
		known := request(api, http.MethodGet, target, http.Header{"Accept-Encoding": {"gzip"}, "If-None-Match": {packedTag}})
		if known.Code != http.StatusNotModified || known.Body.Len() > 0 || known.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: got %d, %v, %d bytes, want 304 alone", target, known.Code, known.Header(), known.Body.Len())
		}
		other := request(api, http.MethodGet, target, http.Header{"Accept-Encoding": {"gzip"}, "If-None-Match": {plainTag}})
		if other.Code != http.StatusOK {
			t.Errorf("%s: got %d for the ETag of the other representation, want 200", target, other.Code)
		}
		if head := request(api, http.MethodHead, target, nil); head.Code != http.StatusOK || head.Body.Len() > 0 {
			t.Errorf("HEAD %s: got %d and %d bytes, want 200 alone", target, head.Code, head.Body.Len())
		}
	}
}
