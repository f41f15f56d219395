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

// TestOpenAPI compares the document that a server serves with the one in the source.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	const base = "/api/v2"
	server := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_HTTP_BASE_PATH="+base)
	yaml, json := httpapi.OpenAPI(base)
	for path, want := range map[string]string{base + "/openapi.yaml": string(yaml), base + "/openapi.json": string(json)} {
		response, body := exchange(t, server, http.MethodGet, path, fromWeb)
		if response.StatusCode != http.StatusOK || body != want || response.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: got %s, %v, %d bytes, want 200 and the document for pages of any origin", path, response.Status,
				response.Header, len(body))
		}
		condition := "If-None-Match: " + response.Header.Get("ETag")
		response, _ = exchange(t, server, http.MethodGet, path, condition)
		if response.StatusCode != http.StatusNotModified {
			t.Errorf("%s: got %s, want 304 for the ETag that it had", path, response.Status)
		}
		if response, _ := exchange(t, server, http.MethodHead, path); response.ContentLength != int64(len(want)) {
			t.Errorf("HEAD %s: got %d bytes, want %d", path, response.ContentLength, len(want))
		}
	}
}

// TestBodyThatDoesNotArrive announces bodies and does not send them.
func TestBodyThatDoesNotArrive(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_HTTP_READ_TIMEOUT=10s")
	requests := []request{
		with(http.MethodPost, "/paste"), with(http.MethodPost, "/raw"), with(http.MethodPost, "/encrypted"),
		with(http.MethodPatch, "/paste/nothing1", owner),
		with(http.MethodPut, "/raw"), with(http.MethodPut, "/raw/a"), with(http.MethodPut, "/a"),
	}
	wantEvery(t, requests, func(o openapi.Operation) bool { return o.Body != "" })
	var waiting sync.WaitGroup
	for _, r := range requests {
		waiting.Go(func() {
			response, body := exchange(t, server, r.method, r.target, append(r.headers, "Content-Length: 5")...)
			if response.StatusCode != http.StatusRequestTimeout || !response.Close {
				t.Errorf("%s %s: got %s, %s, want 408 and the connection closed", r.method, r.target, response.Status, body)
			}
		})
	}
	waiting.Wait()
}

// wantEvery wants each operation of the document that a test is about to be among the test's requests.
func wantEvery(t *testing.T, requests []request, about func(openapi.Operation) bool) {
	t.Helper()
	contract, err := openapi.Shared()
	must(t, err)
	requested := make(map[string]bool)
	for _, r := range requests {
		requested[contract.NameOf(r.method, r.target)] = true
	}
	for _, o := range contract.Operations() { // some are there twice
		if about(o) && !requested[o.Name] {
			requested[o.Name] = true
			t.Errorf("got no request for %s in the list of %s, want one", o.Name, t.Name())
		}
	}
}

// excused are ends of the lines of openapi.Contract.Unseen that no test here brings about, and why.
var excused = map[string]string{
	" 500": "nothing is known to bring it about; TestInternalError of tests/openapi breaks something",
}

// missing returns what is unseen and not excused, and excuses that nothing needs.
func missing(unseen []string, excused map[string]string) (lines []string) {
	needed := map[string]bool{}
	for _, line := range unseen {
		found := false
		for end := range excused {
			if strings.HasSuffix(line, end) {
				needed[end], found = true, true
			}
		}
		if !found {
			lines = append(lines, "got no answer "+line+", want one: adapters/httpapi/openapi.yaml has it")
		}
	}
	for end, reason := range excused {
		if !needed[end] {
			lines = append(lines, fmt.Sprintf("got every answer %q, want no excuse for it: %s", end, reason))
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
	all := contract.Unseen()
	got := missing(all, excused)
	if len(got) == 0 || slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, " 500,") }) {
		t.Errorf("got %q, want what nobody has asked for, without those that are excused", got)
	}
	err = contract.Check("", openapi.Answer{
		Method: http.MethodGet, Target: "/healthz", Status: http.StatusOK, Body: []byte(`{"status":"ok"}`),
		Header: http.Header{"X-Request-Id": {"golden"}, "Cache-Control": {"no-cache"}, "Content-Type": {"application/json"},
			"Vary": {"Origin"}},
	})
	if got := len(all) - len(contract.Unseen()); got != 1 {
		t.Errorf("got %d answers seen and %v, want 1", got, err)
	}
	if got := missing(nil, excused); len(got) != 1 || !strings.Contains(got[0], "want no excuse") {
		t.Errorf("got %q, want an excuse too many", got)
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

// everythingSeen returns the exit code for a run that should have had every documented answer: 1 if one is missing.
func everythingSeen() int {
	contract, err := openapi.Shared()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines := missing(contract.Unseen(), excused)
	for _, line := range lines {
		fmt.Fprintln(os.Stderr, line)
	}
	return min(1, len(lines))
}
