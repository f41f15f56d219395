package httpapi

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEndpointsAreDescribed compares routes.go, openapi.yaml and the table of docs/API.md with each other. It checks
// that each path works with and without a trailing slash, and takes OPTIONS, and HEAD if it takes GET.
func TestEndpointsAreDescribed(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	parameters := regexp.MustCompile(`:(\w+)`)
	inRouter, methodsByPath := make(map[string]bool), make(map[string][]string)
	for _, e := range append(api.endpoints(), api.healthChecks()...) {
		path := parameters.ReplaceAllString(e.path, "{$1}")
		inRouter[e.method+" "+path] = true
		methodsByPath[e.path] = append(methodsByPath[e.path], e.method)
		if e.method == http.MethodGet {
			methodsByPath[e.path] = append(methodsByPath[e.path], http.MethodHead)
		}
	}
	for path, methods := range methodsByPath {
		for _, target := range []string{path, path + "/"} {
			answer := request(api, http.MethodOptions, parameters.ReplaceAllString(target, "x"), nil)
			want := strings.Join(append(methods, http.MethodOptions), ", ")
			if got := answer.Header().Get("Allow"); answer.Code != http.StatusNoContent || got != want {
				t.Errorf("%s: got %d and the methods %s, want %s", target, answer.Code, got, want)
			}
		}
	}
	inSpec := make(map[string]bool)
	for path, operations := range parseOpenAPI(t, openAPIYAML).Paths {
		for method, operation := range map[string]map[string]any{
			http.MethodGet: operations.Get, http.MethodPost: operations.Post,
			http.MethodPatch: operations.Patch, http.MethodDelete: operations.Delete, http.MethodPut: operations.Put,
		} {
			if operation == nil {
				continue
			}
			inSpec[method+" "+path] = true
			if !inRouter[method+" "+path] {
				t.Errorf("openapi.yaml has %s %s, want it in routes.go", method, path)
			}
		}
	}
	var names []string
	for name := range inRouter {
		if !inSpec[name] {
			t.Errorf("routes.go has %s, want it in openapi.yaml", name)
		}
		if _, path, _ := strings.Cut(name, " "); path != PathAlive && path != PathReady {
			names = append(names, name)
		}
	}
	table, err := os.ReadFile("../../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	inTable := make(map[string]bool)
	slices.Sort(names) // so that a row for /user/self is not one for /user/{username}
	for _, row := range regexp.MustCompile(`(?m)^\| .+? \|`).FindAllString(string(table), -1) {
		for _, match := range regexp.MustCompile("`([A-Z]+) (/[^`?]*)").FindAllStringSubmatch(row, -1) {
			i := slices.IndexFunc(names, func(name string) bool {
				pattern := regexp.MustCompile(`\{\w+}`).ReplaceAllString(name, "[^/]+")
				return regexp.MustCompile("^" + pattern + "$").MatchString(match[1] + " " + match[2])
			})
			if i < 0 {
				t.Errorf("docs/API.md has %s %s, want it in routes.go", match[1], match[2])
				continue
			}
			inTable[names[i]] = true
		}
	}
	for _, name := range names {
		if !inTable[name] {
			t.Errorf("routes.go has %s, want a row of docs/API.md for it", name)
		}
	}
}
