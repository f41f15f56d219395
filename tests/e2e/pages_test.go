package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestPagesOfNothing checks that pages of private and of unknown pastes and profiles are the same page of a 404.
func TestPagesOfNothing(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, cfg.URL, "GLUEPOT_HTTP_BASE_PATH=/api/v2", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
	private := createdID(t, p, `{"isPrivate":true,"pasties":[{"code":"secret"}]}`)
	public := createdID(t, p, `{"isPublic":true,"title":"for all","pasties":[{"title":"main.go","code":"package main"}]}`)
	var pages []string
	for _, path := range []string{
		"/" + private, "/unknown0", "/" + private + "/history", "/unknown0/files.zip", "/~mortar", "/~nobody", "/a/b/c",
	} {
		status, page := getAccepting(t, p, path, "text/html,*/*;q=0.8")
		if status != http.StatusNotFound || strings.Contains(page, "secret") || !strings.HasPrefix(page, "<!doctype html>") {
			t.Errorf("%s: got %d %s, want 404 with a page", path, status, page)
		}
		page = withoutPath(page, path)
		pages = append(pages, page)
		if page != pages[0] {
			t.Errorf("%s: got\n%s\nwant the page as for a private paste\n%s", path, page, pages[0])
		}
		if status, answer := getAccepting(t, p, path, "application/json"); status != http.StatusNotFound ||
			!strings.Contains(answer, `"detail":"There is nothing at this path."`) {
			t.Errorf("%s: got %d %s, want 404 with the error in JSON", path, status, answer)
		}
	}
	status, page := getAccepting(t, p, "/"+public, "*/*")
	if status != http.StatusOK || !strings.Contains(page, "<title>for all · Gluepot</title>") {
		t.Errorf("got %d %s, want the paste", status, page)
	}
	if status, page := getAccepting(t, p, "/~EPOXY", "*/*"); status != http.StatusOK ||
		!strings.Contains(page, `href="/`+public+`"`) {
		t.Errorf("got %d %s, want the profile with the paste", status, page)
	}
	for _, accept := range []string{"text/html", "*/*", ""} {
		if status, page := getAccepting(t, p, "/", accept); status != http.StatusOK ||
			!strings.Contains(page, `href="/api/v2/docs"`) {
			t.Errorf("for %q: got %d %s, want a page with a link to the API's documentation", accept, status, page)
		}
	}
	status, answer := getAccepting(t, p, "/api/v2/paste/"+private, "text/html")
	if status != http.StatusNotFound || !strings.HasPrefix(answer, "{") {
		t.Errorf("got %d %s, want JSON below the base path", status, answer)
	}
	wantSessions(t, p, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, private, pages[0])
}

// withoutPath returns an error page without the path to which signing in and choosing colours lead back.
func withoutPath(page, path string) string {
	return strings.NewReplacer(url.QueryEscape(path), "PATH", `value="`+path+`"`, `value="PATH"`).Replace(page)
}

// createdID creates a paste as Epoxy, and returns its id.
func createdID(t *testing.T, p *program.Process, body string) string {
	t.Helper()
	_, answer := send(t, p, http.MethodPost, "/api/v2/paste", body, "Authorization", program.EpoxyToken)
	var created struct {
		ID string `json:"_id"`
	}
	if err := json.Unmarshal([]byte(answer), &created); err != nil || created.ID == "" {
		t.Fatalf("got %s, %v, want a paste", answer, err)
	}
	return created.ID
}

// getAccepting requests a path with an Accept header. It does not check answers against the OpenAPI document, which
// does not describe pages.
func getAccepting(t *testing.T, p *program.Process, path, accept string) (status int, body string) {
	t.Helper()
	return send(t, p, http.MethodGet, path, "", "Accept", accept)
}

func send(t *testing.T, p *program.Process, method, path, body string, headers ...string) (status int, answer string) {
	t.Helper()
	response, answer := roundTrip(t, p, method, path, body, headers...)
	return response.StatusCode, answer
}

// roundTrip is like send, but returns the whole response.
func roundTrip(t *testing.T, p *program.Process, method, path, body string,
	headers ...string) (response *http.Response, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.Address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err = http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(content)
}

// TestOneFileByText checks that a file sent as plain text gets its owner's default language unless another is detected,
// and that lists show it by its name.
func TestOneFileByText(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg) // Epoxy's default language is C++
		p := program.Serve(t, cfg.URL, trustTests)
		for _, c := range []struct{ query, code, token, language string }{
			{"isPublic=true&title=main.go", "some words", program.EpoxyToken, "Go"},
			{"", "some words", program.EpoxyToken, "C++"},
			{"language=autodetect", "some words", program.EpoxyToken, "C++"},
			{"", "#!/bin/sh\n", program.EpoxyToken, "Shell"},
			{"language=Rust", "some words", program.EpoxyToken, "Rust"},
			{"", "some words", "", "Plain Text"},
		} {
			status, answer := send(t, p, http.MethodPost, "/raw?"+c.query, c.code, "Authorization", c.token, "Accept",
				"application/json")
			if status != http.StatusOK || !strings.Contains(answer, `"language":"`+c.language+`"`) {
				t.Errorf("%s: got %d %s, want the language %s", c.query, status, answer, c.language)
			}
		}
		owner := &visitor{t: t, p: p}
		owner.signIn(program.EpoxyToken)
		for _, path := range []string{"/pastes", "/~epoxy"} {
			if _, list := owner.ask(http.MethodGet, path, nil); !strings.Contains(list, "<bdi>main.go</bdi></a>") {
				t.Errorf("%s: got %s, want the paste listed as main.go", path, list)
			}
		}
	})
}
