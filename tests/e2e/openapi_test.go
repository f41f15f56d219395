package e2e

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

// TestOpenAPI compares the document that a server serves with that in the source.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	const base = "/api/v2"
	server := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_HTTP_BASE_PATH="+base)
	yaml, json := httpapi.OpenAPI(base)
	for path, want := range map[string]string{base + "/openapi.yaml": string(yaml), base + "/openapi.json": string(json)} {
		response, body := exchange(t, server, http.MethodGet, path, fromWeb)
		if response.StatusCode != http.StatusOK || body != want || response.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: got %s, %v, %d bytes, want 200, any origin allowed, and the document", path, response.Status,
				response.Header, len(body))
		}
		condition := "If-None-Match: " + response.Header.Get("ETag")
		response, _ = exchange(t, server, http.MethodGet, path, condition)
		if response.StatusCode != http.StatusNotModified {
			t.Errorf("%s: got %s, want 304 for its ETag", path, response.Status)
		}
		if response, _ := exchange(t, server, http.MethodHead, path); response.ContentLength != int64(len(want)) {
			t.Errorf("HEAD %s: got %d bytes, want %d", path, response.ContentLength, len(want))
		}
	}
}

// TestBodyThatDoesNotArrive announces bodies but does not send them.
func TestBodyThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_HTTP_READ_TIMEOUT=10s")
	requests := []request{
		with(http.MethodPost, "/paste"), with(http.MethodPost, "/raw"), with(http.MethodPost, "/encrypted"),
		with(http.MethodPatch, "/paste/nothing1", owner),
		with(http.MethodPut, "/raw"), with(http.MethodPut, "/raw/a"), with(http.MethodPut, "/a"),
	}
	wantEvery(t, requests, func(o openapi.Operation) bool { return o.Body != "" })
	var group sync.WaitGroup
	for _, r := range requests {
		group.Go(func() {
			response, body := exchange(t, server, r.method, r.target, append(r.headers, "Content-Length: 5")...)
			if response.StatusCode != http.StatusRequestTimeout || !response.Close {
				t.Errorf("%s %s: got %s, %s, want 408 and the connection closed", r.method, r.target, response.Status, body)
			}
		})
	}
	group.Wait()
}

// wantEvery checks that the requests of a test cover each operation of the document that the test is about.
func wantEvery(t *testing.T, requests []request, about func(openapi.Operation) bool) {
	t.Helper()
	contract, err := openapi.Shared()
	must(t, err)
	covered := make(map[string]bool)
	for _, r := range requests {
		covered[contract.NameOf(r.method, r.target)] = true
	}
	for _, o := range contract.Operations() { // has some twice
		if about(o) && !covered[o.Name] {
			covered[o.Name] = true
			t.Errorf("got no request for %s in the list of %s, want one", o.Name, t.Name())
		}
	}
}

// exceptions are the ends of lines of openapi.Contract.Unseen that no test here causes, with the reasons.
var exceptions = map[string]string{
	" 500": "no known request causes it; TestInternalError of tests/openapi breaks something",
}

// missing returns a message for each unseen line without an exception, and for each exception that nothing needs.
func missing(unseen []string, exceptions map[string]string) (lines []string) {
	needs := map[string]bool{}
	for _, line := range unseen {
		excepted := false
		for end := range exceptions {
			if strings.HasSuffix(line, end) {
				needs[end], excepted = true, true
			}
		}
		if !excepted {
			lines = append(lines, "got no answer "+line+", want one: adapters/httpapi/openapi.yaml has it")
		}
	}
	for end, reason := range exceptions {
		if !needs[end] {
			lines = append(lines, fmt.Sprintf("got every answer %q, want no exception for it: %s", end, reason))
		}
	}
	return lines
}

func TestMissing(t *testing.T) {
	t.Parallel()
	_, document := httpapi.OpenAPI("")
	contract, err := openapi.New(document)
	if err != nil {
		t.Fatal(err)
	}
	unseen := contract.Unseen()
	got := missing(unseen, exceptions)
	if len(got) == 0 || slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, " 500,") }) {
		t.Errorf("got %q, want the unseen answers without the exceptions", got)
	}
	err = contract.Check("", openapi.Answer{
		Method: http.MethodGet, Target: "/healthz", Status: http.StatusOK, Body: []byte(`{"status":"ok"}`),
		Header: http.Header{"X-Request-Id": {"golden"}, "Cache-Control": {"no-cache"}, "Content-Type": {"application/json"},
			"Vary": {"Origin"}},
	})
	if got := len(unseen) - len(contract.Unseen()); got != 1 {
		t.Errorf("got %d seen answers, error %v, want 1", got, err)
	}
	if got := missing(nil, exceptions); len(got) != 1 || !strings.Contains(got[0], "want no exception") {
		t.Errorf("got %q, want one line about an unnecessary exception", got)
	}
}

// wholePackage reports whether every test of the package has run.
func wholePackage() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return os.Getenv("GLUEPOT_TEST_PROGRAM") == ""
}

// checkAllSeen returns the exit code of a run that should have had every documented answer: 1 if one is missing.
func checkAllSeen() int {
	contract, err := openapi.Shared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines := missing(contract.Unseen(), exceptions)
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, line)
	}
	return min(1, len(lines))
}
