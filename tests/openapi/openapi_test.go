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

// fresh returns a contract of the real document that has seen nothing, or of a changed one.
func fresh(t *testing.T, change ...string) (*Contract, error) {
	t.Helper()
	_, document := httpapi.OpenAPI("")
	changed := strings.NewReplacer(change...).Replace(string(document))
	if len(change) > 0 && changed == string(document) {
		t.Fatalf("got nothing in the document that is %s", change[0])
	}
	return New([]byte(changed))
}

// answers are as the interface gives them.
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

// TestCheck changes right answers in one place each.
func TestCheck(t *testing.T) {
	t.Parallel()
	contract, err := fresh(t)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range answers() {
		if err := contract.Check("", a); err != nil {
			t.Errorf("%s: got %v, want it to be right", name, err)
		}
		if err := contract.Check("/api/v2", a); a.Status != http.StatusNotFound && name != "front" && err == nil {
			t.Errorf("%s below a base path: got no error, want one: the server has nothing there", name)
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
		{"profile", "something after it", replace(`true}`, `true}{}`), "invalid character after top-level value"},
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
		{"paste", "no UTF-8", replace(`main.go`, "\xff"), "not valid UTF-8"},
		{"known", "a body", func(a *Answer) { a.Body = []byte("{}") }, "there is a body of 2 bytes"},
		{"known", "no ETag", func(a *Answer) { a.Header.Del("ETag") }, "the header ETag is missing"},
		{"head", "a body", func(a *Answer) { a.Body = []byte("{}") }, "there is a body of 2 bytes"},
		{"unauthorized", "no challenge", func(a *Answer) {
			a.Header.Del("WWW-Authenticate")
		}, "the header WWW-Authenticate is missing"},
		{"unauthorized", "a new field", replace(`"type"`, `"instance":"x","type"`),
			"additional properties 'instance' not allowed"},
		{"method", "no methods", func(a *Answer) { a.Header.Del("Allow") }, "the header Allow is missing"},
		{"nothing", "something there", func(a *Answer) {
			a.Status = 200
		}, "does not have the status 200 for what is none of its paths"},
		{"front", "at another path", func(a *Answer) {
			a.Target = "/nowhere"
		}, "does not have the status 200 for what is none of its paths"},
		{"front", "for another method", func(a *Answer) { a.Method = http.MethodPatch }, "does not have the status 200"},
		{"front", "no page", replace("<!doctype html>", "{}"), "does not match pattern"},
		{"code", "without its charset", func(a *Answer) {
			a.Header.Set("Content-Type", "text/plain")
		}, `"text/plain" is not documented`},
	} {
		drifted := answers()[c.name]
		c.change(&drifted)
		if err := contract.Check("", drifted); err == nil || !strings.Contains(err.Error(), c.want) {
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
		{count, `"numPastes": {"type": "integer", "format": "uint64",`, `nothing checks the format "uint64"`},
		{`"additionalProperties": false,`, ``, "it does not say whether there may be additionalProperties"},
		{`"numPastes": 12`, `"numPastes": "twelve"`, "numPastes"},
		{`"500": {`, `"default": {`, "it documents every status at once"},
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
		t.Errorf("got %q seen, want only %q", seen, want)
	}
}

// TestTransport has a server that answers what no document has.
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
	var reported []error
	client := http.Client{Transport: &Transport{Check: func(a Answer) {
		reported = append(reported, contract.Check("", a))
	}}}
	response, err := client.Get(server.URL + "/data/numPastes")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if len(reported) != 1 || reported[0] == nil || !strings.Contains(reported[0].Error(), "'numUsers' not allowed") {
		t.Errorf("got %v, want one error that names numUsers", reported)
	}
}

// TestInternalError is about the status that nothing in the program is known to have.
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
		t.Errorf("got %d %s, want 500 that does not say why", answer.Code, answer.Body)
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
