package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestPagesOfNothing compares what people get of a private, an expired and an unknown paste, and what programs get.
func TestPagesOfNothing(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	p := program.Serve(t, string(cfg.URL), "GLUEPOT_HTTP_BASE_PATH=/api/v2", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
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
	if status, page := accepting(t, p, "/~EPOXY", "*/*"); status != http.StatusOK || !strings.Contains(page, `href="/`+public+`"`) {
		t.Errorf("got %d %s, want the profile with the paste", status, page)
	}
	if status, page := accepting(t, p, "/", "text/html"); status != http.StatusOK || !strings.Contains(page, `href="/api/v2/docs"`) {
		t.Errorf("got %d %s, want a page that leads to the interface", status, page)
	}
	if status, answer := accepting(t, p, "/", "application/json"); status != http.StatusNotFound || !strings.HasPrefix(answer, "{") {
		t.Errorf("got %d %s, want the error in JSON", status, answer)
	}
	status, answer := accepting(t, p, "/api/v2/paste/"+private, "text/html")
	if status != http.StatusNotFound || !strings.HasPrefix(answer, "{") {
		t.Errorf("got %d %s, want JSON below the base path", status, answer)
	}
	wantSessions(t, p, []string{"GLUEPOT_DATABASE_URL=" + string(cfg.URL)}, private, pages[0])
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

func send(t *testing.T, p *program.Process, method, path, body, header, value string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+p.Address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(header, value)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(read)
}
