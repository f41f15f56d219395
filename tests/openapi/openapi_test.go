package openapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/bootstrap"
)

// fresh returns a contract of the real document, or of a changed one, that no answer has been checked against.
func fresh(t *testing.T, change ...string) (*Contract, error) {
	t.Helper()
	_, document := httpapi.OpenAPI("")
	text := strings.NewReplacer(change...).Replace(string(document))
	if len(change) > 0 && text == string(document) {
		t.Fatalf("got a document without %s, want one to replace it in", change[0])
	}
	return New([]byte(text))
}

// answers returns valid answers of the interface.
func answers() map[string]Answer {
	header := func(fields ...string) http.Header {
		header := http.Header{"X-Request-Id": {"golden"}, "Date": {"Sat, 21 Nov 2026 20:03:48 GMT"},
			"X-Content-Type-Options": {"nosniff"}}
		for i := 0; i < len(fields); i += 2 {
			header.Set(fields[i], fields[i+1])
		}
		return header
	}
	const json, etag = "application/json", `"xydBT7qBbME"`
	problem := func(status int) []byte {
		return fmt.Appendf(nil,
			`{"type":"about:blank","title":"t","status":%d,"detail":"d","statusMessage":"d","requestId":"golden"}`, status)
	}
	return map[string]Answer{
		"profile": {
			http.MethodGet, "/user/Epoxy/", 200, header("Content-Type", json, "Cache-Control", "no-cache", "Vary", "Origin"),
			[]byte(`{"_id":"epoxy001","username":"Epoxy","avatarUrl":"","defaultLang":"Go","publicProfile":true,` +
				`"supporterLength":24,"contributor":true}`),
		},
		"paste": {
			http.MethodGet, "/paste/k2j4x8m1?x=y", 200,
			header("Content-Type", json, "Cache-Control", "no-cache", "Vary", "Origin, Authorization", "ETag", etag),
			[]byte(`{"_id":"k2j4x8m1","ownerId":"","title":"","createdAt":1795282550,` +
				`"expiresIn":"1w","deletesAt":1795887350,"stars":0,` +
				`"isPrivate":false,"isPublic":false,"tags":[],"encrypted":false,` +
				`"pasties":[{"_id":"ttrkmv63","language":"Go","title":"main.go","code":"package main"}],"edits":[]}`),
		},
		"known": {
			http.MethodGet, "/data/language?name=go", 304,
			header("Cache-Control", "public, max-age=3600", "Vary", "Origin", "ETag", etag), nil,
		},
		"head": {
			http.MethodHead, "/data/numPastes", 200,
			header("Content-Type", json, "Cache-Control", "no-cache", "Vary", "Origin"), nil,
		},
		"unauthorized": {
			http.MethodGet, "/user/self", 401, header("Content-Type", "application/problem+json", "Cache-Control",
				"private, no-store",
				"Vary", "Origin, Accept", "WWW-Authenticate", "Bearer"), problem(401),
		},
		"method": {
			http.MethodPut, "/paste/k2j4x8m1", 405,
			header("Content-Type", json, "Cache-Control", "no-store", "Vary", "Origin, Accept",
				"Allow", "GET, HEAD, PATCH, DELETE, OPTIONS"), problem(405),
		},
		"nothing": {
			http.MethodGet, "/user%2Fself", 404,
			header("Content-Type", json, "Cache-Control", "no-store", "Vary", "Origin, Accept"), problem(404),
		},
		"front": {
			http.MethodGet, "/", 200,
			header("Content-Type", "text/html; charset=utf-8", "Cache-Control", "no-cache", "Vary", "Origin", "ETag", etag),
			[]byte("<!doctype html>"),
		},
		"code": {
			http.MethodGet, "/raw/k2j4x8m1/ttrkmv63", 200,
			header("Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-cache",
				"Vary", "Origin, Authorization", "ETag", etag), []byte("package main"),
		},
	}
}

// TestCheck changes each valid answer in one place.
func TestCheck(t *testing.T) {
	t.Parallel()
	contract, err := fresh(t)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range answers() {
		if err := contract.Check("", a); err != nil {
			t.Errorf("%s: got %v, want no error", name, err)
		}
		if err := contract.Check("/api/v2", a); a.Status != http.StatusNotFound && name != "front" && err == nil {
			t.Errorf("%s below a base path: got no error, want one", name)
		}
	}
	replace := func(old, new string) func(*Answer) {
		return func(a *Answer) { a.Body = []byte(strings.Replace(string(a.Body), old, new, 1)) }
	}
	for _, c := range []struct {
		name, drift string
		change      func(*Answer)
		want        string
	}{
		{"profile", "a new field", replace(`"contributor"`, `"email":"x","contributor"`),
			"additional properties 'email' not allowed"},
		{"profile", "a field is gone", replace(`,"contributor":true`, ``), "missing property 'contributor'"},
		{"profile", "null", replace(`"avatarUrl":""`, `"avatarUrl":null`), "got null, want string"},
		{"profile", "another type", replace(`24`, `"24"`), "got string, want integer"},
		{"profile", "not an integer's literal", replace(`24`, `24.0`), "not the literal of an integer of 32 bits"},
		{"profile", "beyond 32 bits", replace(`24`, `2147483648`), "not the literal of an integer of 32 bits"},
		{"profile", "trailing data", replace(`true}`, `true}{}`), "invalid character after top-level value"},
		{"profile", "a status", func(a *Answer) { a.Status = 202 }, "does not have the status 202 for GET /user/{username}"},
		{"profile", "a media type", func(a *Answer) {
			a.Header.Set("Content-Type", "text/html")
		}, `"text/html" is not documented`},
		{"profile", "a new header", func(a *Answer) {
			a.Header.Set("X-Powered-By", "x")
		}, "the header X-Powered-By is not documented"},
		{"profile", "a header is gone", func(a *Answer) {
			a.Header.Del("X-Request-Id")
		}, "the header X-Request-Id is missing"},
		{"profile", "a header's value", func(a *Answer) {
			a.Header.Set("Cache-Control", "public")
		}, "the header Cache-Control"},
		{"paste", "a new field inside", replace(`"code"`, `"hash":"x","code"`), "additional properties 'hash' not allowed"},
		{"paste", "a new lifetime", replace(`"1w"`, `"3w"`), "value must be one of 'never'"},
		{"paste", "invalid UTF-8", replace(`main.go`, "\xff"), "not valid UTF-8"},
		{"known", "a body", func(a *Answer) { a.Body = []byte("{}") }, "got a body of 2 bytes"},
		{"known", "no ETag", func(a *Answer) { a.Header.Del("ETag") }, "the header ETag is missing"},
		{"head", "a body", func(a *Answer) { a.Body = []byte("{}") }, "got a body of 2 bytes"},
		{"unauthorized", "no challenge", func(a *Answer) {
			a.Header.Del("WWW-Authenticate")
		}, "the header WWW-Authenticate is missing"},
		{"unauthorized", "a new field", replace(`"type"`, `"instance":"x","type"`),
			"additional properties 'instance' not allowed"},
		{"method", "no methods", func(a *Answer) { a.Header.Del("Allow") }, "the header Allow is missing"},
		{"nothing", "something there", func(a *Answer) {
			a.Status = 200
		}, "does not have the status 200 for an unknown path"},
		{"front", "at another path", func(a *Answer) {
			a.Target = "/nowhere"
		}, "does not have the status 200 for an unknown path"},
		{"front", "for another method", func(a *Answer) { a.Method = http.MethodPatch }, "does not have the status 200"},
		{"front", "no page", replace("<!doctype html>", "{}"), "does not match pattern"},
		{"code", "without its charset", func(a *Answer) {
			a.Header.Set("Content-Type", "text/plain")
		}, `"text/plain" is not documented`},
	} {
		answer := answers()[c.name]
		c.change(&answer)
		if err := contract.Check("", answer); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: got %v, want an error with %q", c.name, c.drift, err, c.want)
		}
	}
}

// TestNew changes the document.
func TestNew(t *testing.T) {
	t.Parallel()
	const count = `"numPastes": {
            "type": "integer",
            "format": "int64",`
	for _, c := range []struct{ old, new, want string }{
		{count, `"numPastes": {"type": "integer", "format": "uint64",`, `the format "uint64" is unknown`},
		{`"additionalProperties": false,`, ``, "additionalProperties is missing"},
		{`"numPastes": 12`, `"numPastes": "twelve"`, "numPastes"},
		{`"500": {`, `"default": {`, "got a default response"},
		{`"#/components/headers/RetryAfter"`, `"#/components/headers/Retry"`, "Retry"},
		{`"description": "The number.",`, ``, "description"},
	} {
		if _, err := fresh(t, c.old, c.new); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.new, err, c.want)
		}
	}
}

func TestUnseen(t *testing.T) {
	t.Parallel()
	contract, err := fresh(t)
	if err != nil {
		t.Fatal(err)
	}
	before := contract.Unseen()
	wrong := answers()["paste"]
	wrong.Body = nil
	for _, a := range []Answer{answers()["profile"], answers()["head"], answers()["method"], wrong} {
		_ = contract.Check("", a)
	}
	after := contract.Unseen()
	seen := slices.DeleteFunc(before, func(line string) bool { return slices.Contains(after, line) })
	if want := []string{"GET /user/{username} 200"}; !slices.Equal(seen, want) {
		t.Errorf("got the answers %q, want only %q", seen, want)
	}
}

// TestTransport checks that a client reports an answer that the document does not describe.
func TestTransport(t *testing.T) {
	t.Parallel()
	contract, err := fresh(t)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "golden")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write([]byte(`{"numPastes":1,"numUsers":2}`))
	}))
	defer server.Close()
	var problems []error
	client := http.Client{Transport: &Transport{Check: func(a Answer) {
		problems = append(problems, contract.Check("", a))
	}}}
	response, err := client.Get(server.URL + "/data/numPastes")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if len(problems) != 1 || problems[0] == nil || !strings.Contains(problems[0].Error(), "'numUsers' not allowed") {
		t.Errorf("got %v, want one error that names numUsers", problems)
	}
}

// TestInternalError checks an answer with the status 500, which no request is known to cause.
func TestInternalError(t *testing.T) {
	t.Parallel()
	contract, err := fresh(t)
	if err != nil {
		t.Fatal(err)
	}
	cfg := bootstrap.DefaultConfig()
	cfg.Database.URL = "sqlite://" + filepath.Join(t.TempDir(), "gluepot.db")
	gluepot, stop, err := bootstrap.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t.Context()) //nolint:errcheck // nothing was stored
	modules := httpapi.Modules{
		Users: gluepot.Users, Tokens: gluepot.Tokens, Pastes: gluepot.Pastes, Languages: gluepot.Languages,
	}
	api, err := httpapi.New(httpapi.DefaultConfig(), modules, func(context.Context) error {
		panic("a canary")
	}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	if err := contract.Check("", Answer{http.MethodGet, "/readyz", answer.Code, answer.Header(),
		answer.Body.Bytes()}); err != nil {
		t.Error(err)
	}
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "canary") {
		t.Errorf("got %d %s, want 500 without the cause", answer.Code, answer.Body)
	}
}

func BenchmarkCheck(b *testing.B) {
	contract, err := Shared()
	if err != nil {
		b.Fatal(err)
	}
	for name, a := range answers() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := contract.Check("", a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
