package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// clientLibrary describes the requests of a client library of the PasteMyst API.
type clientLibrary struct {
	header map[string]string
	draft  string // the body that creates a paste
	tags   string // in the body of an edit, which is the whole paste
	empty  string // the body of requests without content
}

// TestClientLibraries creates, reads, edits and deletes a paste with the client libraries that differ most from each
// other.
func TestClientLibraries(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		server := program.Serve(t, cfg.URL)
		for name, library := range map[string]clientLibrary{
			"pastemyst-ts": {
				header: map[string]string{"Content-Type": "application/json", "Accept": "*/*", "User-Agent": "node-fetch/1.0"},
				draft: `{"title":"old","expiresIn":"never","isPrivate":true,"isPublic":false,"tags":["b","a"],` +
					`"pasties":[{"title":"one","language":"Go","code":"a"}]}`,
				tags: `["a","b"]`,
			},
			"pastemyst.js": {
				header: map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/plain, */*"},
				draft: `{"title":"old","expiresIn":"1d","pasties":[{"title":"one","language":"go","code":"a"}],` +
					`"isPrivate":true,"isPublic":false,"tags":["a","b"]}`,
				tags: `["a","b"]`,
			},
			"pastemyst-py": { // a body with every request, and tags in one text
				header: map[string]string{"Content-Type": "application/json", "User-Agent": "PastemystPy (3.0.0)"},
				draft: `{"title":"old","expiresIn":"1h","isPrivate":true,"isPublic":false,"tags":"b,a",` +
					`"pasties":[{"language":"Go","title":"one","code":"a"}]}`,
				tags: `"a,b"`, empty: `{}`,
			},
		} {
			send := func(method, path, body string, wantStatus int) (answer string) {
				t.Helper()
				status, answer := library.send(t, server, method, path, body)
				if status != wantStatus {
					t.Errorf("%s: %s %s: got %d %s, want %d", name, method, path, status, answer, wantStatus)
				}
				return answer
			}
			created := send(http.MethodPost, "/paste", library.draft, http.StatusOK)
			var document struct {
				ID string `json:"_id"`
			}
			if err := json.Unmarshal([]byte(created), &document); err != nil {
				t.Fatalf("%s: got %s, %v, want a paste", name, created, err)
			}
			path := "/paste/" + document.ID
			if read := send(http.MethodGet, path, library.empty, http.StatusOK); read != created ||
				!strings.Contains(read, `"tags":["a","b"]`) {
				t.Errorf("%s: got %s, want the paste as created, %s", name, read, created)
			}
			changes := strings.NewReplacer(`"tags":["a","b"]`, `"tags":`+library.tags, `"old"`, `"new"`,
				`"code":"a"`, `"code":"b"`)
			edited := send(http.MethodPatch, path, changes.Replace(created), http.StatusOK)
			if !strings.Contains(edited, `"title":"new"`) || !strings.Contains(edited, `"tags":["a","b"]`) ||
				strings.Count(edited, `"editId":0`) != 2 {
				t.Errorf("%s: got %s, want the new title, the tags and two edits", name, edited)
			}
			if again := send(http.MethodPatch, path, edited, http.StatusOK); again != edited {
				t.Errorf("%s: got %s after an edit without changes, want %s", name, again, edited)
			}
			if deleted := send(http.MethodDelete, path, library.empty, http.StatusOK); deleted != "{}" {
				t.Errorf("%s: got %s for the deletion, want {}", name, deleted)
			}
			send(http.MethodGet, path, library.empty, http.StatusNotFound)
		}
	})
}

func (l clientLibrary) send(t *testing.T, server *program.Process, method, path,
	body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+server.Address+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range l.header {
		request.Header.Set(name, value)
	}
	request.Header.Set("Authorization", program.EpoxyToken)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
