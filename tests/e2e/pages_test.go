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

// TestPagesOfNothing compares the pages of a private, an expired and an unknown paste, and the answers to programs.
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
		status, page := accepting(t, p, path, "text/html,*/*;q=0.8")
		if status != http.StatusNotFound || strings.Contains(page, "secret") || !strings.HasPrefix(page, "<!doctype html>") {
			t.Errorf("%s: got %d %s, want a page of 404", path, status, page)
		}
		page = withoutPath(page, path)
		pages = append(pages, page)
		if page != pages[0] {
			t.Errorf("%s: got another page than for a private paste:\n%s\n%s", path, page, pages[0])
		}
		if status, answer := accepting(t, p, path, "application/json"); status != http.StatusNotFound ||
			!strings.Contains(answer, `"detail":"There is nothing at this path."`) {
			t.Errorf("%s: got %d %s, want the error in JSON", path, status, answer)
		}
	}
	status, page := accepting(t, p, "/"+public, "*/*")
	if status != http.StatusOK || !strings.Contains(page, "<title>for all · Gluepot</title>") {
		t.Errorf("got %d %s, want the paste", status, page)
	}
	if status, page := accepting(t, p, "/~EPOXY", "*/*"); status != http.StatusOK ||
		!strings.Contains(page, `href="/`+public+`"`) {
		t.Errorf("got %d %s, want the profile with the paste", status, page)
	}
	for _, accept := range []string{"text/html", "*/*", ""} {
		if status, page := accepting(t, p, "/", accept); status != http.StatusOK ||
			!strings.Contains(page, `href="/api/v2/docs"`) {
			t.Errorf("for %q: got %d %s, want a page that leads to the interface", accept, status, page)
		}
	}
	status, answer := accepting(t, p, "/api/v2/paste/"+private, "text/html")
	if status != http.StatusNotFound || !strings.HasPrefix(answer, "{") {
		t.Errorf("got %d %s, want JSON below the base path", status, answer)
	}
	wantSessions(t, p, []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}, private, pages[0])
}

// withoutPath returns an error page without where signing in and choosing colours lead back to.
func withoutPath(page, path string) string {
	return strings.NewReplacer(url.QueryEscape(path), "PATH", `value="`+path+`"`, `value="PATH"`).Replace(page)
}

// createdID has Epoxy create a paste and returns its id.
func createdID(t *testing.T, p *program.Process, body string) string {
	t.Helper()
	_, answer := send(t, p, http.MethodPost, "/api/v2/paste", body, "Authorization", program.EpoxyToken)
	var made struct {
		ID string `json:"_id"`
	}
	if err := json.Unmarshal([]byte(answer), &made); err != nil || made.ID == "" {
		t.Fatalf("got %s, %v, want a paste", answer, err)
	}
	return made.ID
}

// accepting asks for a path with an Accept. Answers are not held against the document, which pages are not in.
func accepting(t *testing.T, p *program.Process, path, accept string) (status int, body string) {
	t.Helper()
	return send(t, p, http.MethodGet, path, "", "Accept", accept)
}

func send(t *testing.T, p *program.Process, method, path, body string, headers ...string) (status int, answer string) {
	t.Helper()
	response, answer := sent(t, p, method, path, body, headers...)
	return response.StatusCode, answer
}

// sent is send, and returns the headers of the answer, too.
func sent(t *testing.T, p *program.Process, method, path, body string,
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
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(read)
}

// TestOneFileByText checks that a text that is sent alone gets its owner's default language unless another is detected,
// and is listed by the name of its file.
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
				t.Errorf("%s: got %s, want the paste by the name of its file", path, list)
			}
		}
	})
}
