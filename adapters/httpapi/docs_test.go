package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestDocs requests the page below two base paths, and everything that it refers to.
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
			if len(references) != 8 {
				t.Errorf("%s: got %d references, want 8", target, len(references))
			}
			for _, reference := range references {
				if file := request(api, http.MethodGet, reference[1], nil); file.Code != http.StatusOK ||
					file.Body.Len() == 0 {
					t.Errorf("%s: got %d, %d bytes, want 200 and a file", reference[1], file.Code, file.Body.Len())
				}
			}
			cached := request(api, http.MethodGet, target, http.Header{"If-None-Match": header["Etag"]})
			if cached.Code != http.StatusNotModified || cached.Body.Len() > 0 {
				t.Errorf("%s: got %d and %d bytes, want 304 for the ETag that it had", target, cached.Code, cached.Body.Len())
			}
		}
		for target, want := range map[string]int{"/docs/nothing.js": 404, "/docs/docs.html": 404, "/docs/pages/docs.js": 404,
			"/docs/..": 404} {
			answer := request(api, http.MethodGet, base+target, nil)
			if answer.Code != want || !strings.Contains(answer.Body.String(), "statusMessage") {
				t.Errorf("%s: got %d %s, want %d and the error body", target, answer.Code, answer.Body, want)
			}
		}
	}
}

// TestCompressedFile requests the files of Swagger UI.
func TestCompressedFile(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	for _, target := range []string{"/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"} {
		compressed := request(api, http.MethodGet, target, http.Header{"Accept-Encoding": {"gzip, br"}})
		reader, err := gzip.NewReader(compressed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(reader); err != nil || len(text) < 100_000 {
			t.Errorf("%s: got %d bytes, %v, want a long file", target, len(text), err)
		}
		for name, want := range map[string]string{"Content-Encoding": "gzip",
			"Content-Security-Policy": securityHeaders.Get("Content-Security-Policy")} {
			if got := compressed.Header().Get(name); got != want {
				t.Errorf("%s: got %s %q, want %q", target, name, got, want)
			}
		}
		cached := request(api, http.MethodGet, target, http.Header{"If-None-Match": compressed.Header()["Etag"]})
		if cached.Code != http.StatusNotModified || cached.Body.Len() > 0 ||
			cached.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: got %d, %v, %d bytes, want 304 alone", target, cached.Code, cached.Header(), cached.Body.Len())
		}
		if head := request(api, http.MethodHead, target, nil); head.Code != http.StatusOK || head.Body.Len() > 0 {
			t.Errorf("HEAD %s: got %d and %d bytes, want 200 alone", target, head.Code, head.Body.Len())
		}
	}
}

var update = flag.Bool("update", false, "rewrite openapi.json")

// TestOpenAPIFile compares openapi.json with openapi.yaml. After a change, run "go generate".
func TestOpenAPIFile(t *testing.T) {
	t.Parallel()
	const path = "openapi.json"
	var root yaml.Node
	if err := yaml.Unmarshal(openAPIYAML, &root); err != nil {
		t.Fatal(err)
	}
	var compact, want bytes.Buffer
	if err := appendJSON(&compact, &root); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&want, compact.Bytes(), "", "  "); err != nil {
		t.Fatal(err)
	}
	want.WriteByte('\n')
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(openAPIJSON, want.Bytes()) {
		t.Errorf("got another %s, want what openapi.yaml says: run \"go generate ./adapters/httpapi\"", path)
	}
}

// appendJSON appends a node as JSON. It keeps the order of the fields, which readers of the document see.
func appendJSON(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.DocumentNode:
		return appendJSON(out, node.Content[0])
	case yaml.MappingNode:
		out.WriteByte('{')
		for i := 0; i < len(node.Content); i += 2 {
			if err := appendElement(out, i > 0, node.Content[i]); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := appendJSON(out, node.Content[i+1]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, element := range node.Content {
			if err := appendElement(out, i > 0, element); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	case yaml.ScalarNode:
		var value any
		if err := node.Decode(&value); err != nil {
			return err
		}
		out.Write(encodeJSON(value))
		return nil
	}
	return fmt.Errorf("line %d: an alias, which JSON does not have", node.Line)
}

func appendElement(out *bytes.Buffer, comma bool, node *yaml.Node) error {
	if comma {
		out.WriteByte(',')
	}
	return appendJSON(out, node)
}

func TestOpenAPIServed(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/api/v2"} {
		cfg := DefaultConfig()
		cfg.BasePath = base
		api, _ := newTestAPI(t, newStore(), cfg)
		yaml, json := OpenAPI(base)
		for _, document := range []struct {
			path, contentType string
			body              []byte
		}{
			{"/openapi.yaml", "application/yaml", yaml}, {"/openapi.json", "application/json", json},
		} {
			answer := request(api, http.MethodGet, base+document.path, nil)
			if answer.Code != http.StatusOK || !bytes.Equal(answer.Body.Bytes(), document.body) ||
				answer.Header().Get("Content-Type") != document.contentType {
				t.Errorf("%s: got %d, %d bytes, %v, want 200 and the document as %s", base+document.path, answer.Code,
					answer.Body.Len(),
					answer.Header(), document.contentType)
			}
			cached := request(api, http.MethodGet, base+document.path, http.Header{"If-None-Match": answer.Header()["Etag"]})
			if cached.Code != http.StatusNotModified || cached.Body.Len() > 0 {
				t.Errorf("%s: got %d and %d bytes, want 304 for the ETag that it had", base+document.path, cached.Code,
					cached.Body.Len())
			}
		}
		for _, notation := range [][]byte{yaml, json} {
			spec := parseOpenAPI(t, notation)
			server, health := base, spec.Paths[PathAlive].Servers
			if server == "" {
				server = "/"
			}
			if got := spec.Servers; len(got) != 1 || got[0].URL != server || len(health) != 1 || health[0].URL != "/" {
				t.Errorf("%q: got the servers %v and of health checks %v, want %s and /", base, got, health, server)
			}
		}
	}
}

// openAPI has the fields of the document that these tests read. YAML's names are theirs in lower case.
type openAPI struct {
	Servers []openAPIServer
	Paths   map[string]openAPIPath
}

type openAPIServer struct{ URL string }

type openAPIPath struct {
	Servers                       []openAPIServer
	Get, Post, Put, Patch, Delete map[string]any
}

func parseOpenAPI(t *testing.T, document []byte) (spec openAPI) {
	t.Helper()
	if err := yaml.Unmarshal(document, &spec); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	return spec
}

// TestFront requests "/" from a server without pages, as people and programs do.
func TestFront(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/api/v2"} {
		cfg := DefaultConfig()
		cfg.BasePath = base
		api, _ := newTestAPI(t, newStore(), cfg)
		for _, accept := range []http.Header{nil, {"Accept": {"*/*"}}, {"Accept": {"text/html,*/*;q=0.8"}}} {
			if answer := request(api, http.MethodHead, "/", accept); answer.Code != http.StatusOK {
				t.Errorf("HEAD / for %q: got %d, want 200", accept["Accept"], answer.Code)
			}
		}
		page := request(api, http.MethodGet, "/", nil)
		header := page.Header()
		if page.Code != http.StatusOK || header.Get("Content-Type") != "text/html; charset=utf-8" ||
			header.Get("Vary") != "Origin" ||
			header.Get("Content-Security-Policy") != docsPolicy[0] {
			t.Errorf("got %d, %v, want 200 and a page", page.Code, header)
		}
		for _, link := range []string{"/openapi.yaml", "/openapi.json", "/docs/docs.css"} {
			if !strings.Contains(page.Body.String(), `href="`+base+link+`"`) {
				t.Errorf("got %s, want a link to %s", page.Body, base+link)
			}
		}
		for _, c := range []struct{ method, target, accept string }{
			{"POST", "/", "text/html"}, {"GET", "//", "text/html"},
			{"GET", "/%2F", "text/html"}, {"GET", "/nowhere", "text/html"},
		} {
			answer := request(api, c.method, c.target, http.Header{"Accept": {c.accept}})
			if answer.Code != http.StatusNotFound || answer.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s %s for %q: got %d, %v, want 404 and the error body", c.method, c.target, c.accept, answer.Code,
					answer.Header())
			}
		}
	}
}
