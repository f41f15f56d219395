package httpapi

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEndpointsAreDescribed compares routes.go, openapi.yaml and the table of docs/API.md.
func TestEndpointsAreDescribed(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	served := make(map[string]servedPath) // by method and path as the document has them
	for _, path := range api.paths {
		pattern := regexp.MustCompile(`:(\w+)`).ReplaceAllString(strings.Join(path.segments, "/"), "{$1}")
		for method := range strings.SplitSeq(path.allowed[0], ", ") {
			if method != http.MethodHead && method != http.MethodOptions {
				served[method+" "+pattern] = path
			}
		}
	}
	var document struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(openAPIJSON, &document); err != nil {
		t.Fatal(err)
	}
	var names []string // those with parameters after those without
	for path, members := range document.Paths {
		for member := range members {
			name := strings.ToUpper(member) + " " + path
			if _, ok := served[name]; ok {
				names = append(names, name)
			} else if member != "parameters" && member != "servers" {
				t.Errorf("openapi.yaml has %s, want a line of routes.go for it", name)
			}
		}
	}
	slices.Sort(names)
	table, err := os.ReadFile("../../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for _, row := range regexp.MustCompile(`(?m)^\| (.+?) \|`).FindAllString(string(table), -1) {
		for _, found := range regexp.MustCompile("`([A-Z]+) (/[^`?]*)").FindAllStringSubmatch(row, -1) {
			at := slices.IndexFunc(names, func(name string) bool {
				return strings.HasPrefix(name, found[1]+" ") && served[name].fits(found[2])
			})
			if at < 0 {
				t.Errorf("docs/API.md has %s %s, want it in openapi.yaml and routes.go, too", found[1], found[2])
				continue
			}
			listed[names[at]] = true
		}
	}
	for name := range served {
		if !slices.Contains(names, name) {
			t.Errorf("routes.go has %s, want it in openapi.yaml, and go generate ./adapters/httpapi", name)
		}
		if !listed[name] && !strings.HasSuffix(name, PathAlive) && !strings.HasSuffix(name, PathReady) {
			t.Errorf("routes.go has %s, want a row of docs/API.md for it", name)
		}
	}
}
