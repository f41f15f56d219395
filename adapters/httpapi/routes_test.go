package httpapi

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEndpointsAreDescribed compares routes.go, openapi.yaml and the table of docs/API.md, each with the two others. Each path is routed
// with and without a slash at its end, and takes HEAD where it takes GET, and OPTIONS.
func TestEndpointsAreDescribed(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	routed := make(map[string]bool)
	for _, route := range api.engine.Routes() {
		routed[route.Method+" "+regexp.MustCompile(`:(\w+)`).ReplaceAllString(route.Path, "{$1}")] = true
	}
	described := make(map[string]bool)
	for path, operations := range parseOpenAPI(t, openAPIYAML).Paths {
		for method, operation := range map[string]map[string]any{
			http.MethodGet: operations.Get, http.MethodPost: operations.Post,
			http.MethodPatch: operations.Patch, http.MethodDelete: operations.Delete, http.MethodPut: operations.Put,
		} {
			if operation == nil {
				continue
			}
			described[method+" "+path] = true
			methods := []string{method, http.MethodOptions}
			if method == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
			if slices.ContainsFunc(methods, func(m string) bool { return !routed[m+" "+path] || !routed[m+" "+path+"/"] }) {
				t.Errorf("openapi.yaml has %s %s, want it in routes.go, and served with a slash, HEAD and OPTIONS", method, path)
			}
		}
	}
	var names []string
	for name := range routed {
		method, path, _ := strings.Cut(name, " ")
		if method == http.MethodHead || method == http.MethodOptions || strings.HasSuffix(path, "/") {
			continue
		}
		if name == "PUT /{id}" { // outside the base path; docs/API.md has it below its table
			continue
		}
		if !described[name] {
			t.Errorf("routes.go has %s, want it in openapi.yaml", name)
		}
		if path != PathAlive && path != PathReady {
			names = append(names, name)
		}
	}
	table, err := os.ReadFile("../../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	slices.Sort(names) // so that a row for /user/self is not one for /user/{username}
	for _, row := range regexp.MustCompile(`(?m)^\| .+? \|`).FindAllString(string(table), -1) {
		for _, found := range regexp.MustCompile("`([A-Z]+) (/[^`?]*)").FindAllStringSubmatch(row, -1) {
			i := slices.IndexFunc(names, func(name string) bool {
				pattern := regexp.MustCompile(`\{\w+}`).ReplaceAllString(name, "[^/]+")
				return regexp.MustCompile("^" + pattern + "$").MatchString(found[1] + " " + found[2])
			})
			if i < 0 {
				t.Errorf("docs/API.md has %s %s, want it in routes.go", found[1], found[2])
				continue
			}
			listed[names[i]] = true
		}
	}
	for _, name := range names {
		if !listed[name] {
			t.Errorf("routes.go has %s, want a row of docs/API.md for it", name)
		}
	}
}
