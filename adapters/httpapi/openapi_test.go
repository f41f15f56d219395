package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

// TestOpenAPIFile compares openapi.json with openapi.yaml, after a change of which run "go generate".
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
		t.Errorf("got a %s that is not what openapi.yaml says: run \"go generate ./adapters/httpapi\"", path)
	}
}

// appendJSON keeps the order of the fields, which whoever reads the document sees.
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
		text, err := encodeJSON(value)
		out.Write(text)
		return err
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
				t.Errorf("%s: got %d, %d bytes, %v, want 200 and the document as %s", base+document.path, answer.Code, answer.Body.Len(),
					answer.Header(), document.contentType)
			}
			known := request(api, http.MethodGet, base+document.path, http.Header{"If-None-Match": answer.Header()["Etag"]})
			if known.Code != http.StatusNotModified || known.Body.Len() > 0 {
				t.Errorf("%s: got %d and %d bytes, want 304 for the ETag that it had", base+document.path, known.Code, known.Body.Len())
			}
		}
		for _, notation := range [][]byte{yaml, json} {
			described := parseOpenAPI(t, notation)
			server, health := base, described.Paths[PathAlive].Servers
			if server == "" {
				server = "/"
			}
			if got := described.Servers; len(got) != 1 || got[0].URL != server || len(health) != 1 || health[0].URL != "/" {
				t.Errorf("%q: got the servers %v and of health checks %v, want %s and /", base, got, health, server)
			}
		}
	}
}

// openAPI is what the tests here read of the document. YAML's fields are the names in small letters.
type openAPI struct {
	Servers []openAPIServer
	Paths   map[string]openAPIPath
}

type openAPIServer struct{ URL string }

type openAPIPath struct {
	Servers                  []openAPIServer
	Get, Post, Patch, Delete map[string]any
}

func parseOpenAPI(t *testing.T, document []byte) (parsed openAPI) {
	t.Helper()
	if err := yaml.Unmarshal(document, &parsed); err != nil { // JSON is YAML
		t.Fatal(err)
	}
	return parsed
}

// TestOpenAPIRoutes compares what is routed with what is documented, in both directions.
func TestOpenAPIRoutes(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.BasePath = "/api/v2"
	api, _ := newTestAPI(t, newStore(), cfg)
	described := parseOpenAPI(t, openAPIYAML)
	routes := api.engine.Routes()
	if got := drift(routes, described, cfg.BasePath); len(got) > 0 || len(routes) == 0 {
		t.Errorf("got %d routes and this drift, want none:\n%s", len(routes), strings.Join(got, "\n"))
	}

	undocumented := append(routes, gin.RouteInfo{Method: http.MethodGet, Path: "/api/v2/user/:username/stars"})
	wantDrift(t, drift(undocumented, described, cfg.BasePath), "served, not documented: GET /api/v2/user/{username}/stars")
	within := append(slices.Clone(routes), gin.RouteInfo{Method: http.MethodPut, Path: "/api/v2/paste/:id"})
	wantDrift(t, drift(within, described, cfg.BasePath), "served, not documented: PUT /api/v2/paste/{id}")
	described.Paths["/user/{username}/stars"] = openAPIPath{Get: map[string]any{}}
	wantDrift(t, drift(routes, described, cfg.BasePath),
		"documented, not served: GET /api/v2/user/{username}/stars", "documented, not served: GET /api/v2/user/{username}/stars/",
		"documented, not served: HEAD /api/v2/user/{username}/stars", "documented, not served: HEAD /api/v2/user/{username}/stars/",
		"documented, not served: OPTIONS /api/v2/user/{username}/stars", "documented, not served: OPTIONS /api/v2/user/{username}/stars/")
}

func wantDrift(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// drift returns how routes differ from the operations of a document. Each path is routed with and without a slash at its end,
// and takes HEAD where it takes GET, and OPTIONS.
func drift(routes gin.RoutesInfo, described openAPI, basePath string) (lines []string) {
	served, documented := map[string]bool{}, map[string]bool{}
	for _, route := range routes {
		segments := strings.Split(route.Path, "/")
		for i, segment := range segments {
			if name, ok := strings.CutPrefix(segment, ":"); ok {
				segments[i] = "{" + name + "}"
			}
		}
		served[route.Method+" "+strings.Join(segments, "/")] = true
	}
	for path, operations := range described.Paths {
		if len(operations.Servers) == 0 {
			path = basePath + path
		}
		for method, operation := range map[string]map[string]any{
			http.MethodGet: operations.Get, http.MethodHead: operations.Get, http.MethodPost: operations.Post,
			http.MethodPatch: operations.Patch, http.MethodDelete: operations.Delete, http.MethodOptions: {},
		} {
			if operation != nil {
				documented[method+" "+path], documented[method+" "+path+"/"] = true, true
			}
		}
	}
	for _, route := range slices.Sorted(maps.Keys(served)) {
		if !documented[route] {
			lines = append(lines, "served, not documented: "+route)
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(documented)) {
		if !served[operation] {
			lines = append(lines, "documented, not served: "+operation)
		}
	}
	return lines
}
