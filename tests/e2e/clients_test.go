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

// clientLibrary is how a client library of the PasteMyst API asks: what it sends with every request, and as bodies.
type clientLibrary struct {
	header  map[string]string
	created string
	tags    string // in an edit, which sends the whole paste back
	empty   string // the body of requests that have none
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
				created: `{"title":"old","expiresIn":"never","isPrivate":true,"isPublic":false,"tags":["b","a"],` +
					`"pasties":[{"title":"one","language":"Go","code":"a"}]}`,
				tags: `["a","b"]`,
			},
			"pastemyst.js": {
				header: map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/plain, */*"},
				created: `{"title":"old","expiresIn":"1d","pasties":[{"title":"one","language":"go","code":"a"}],` +
					`"isPrivate":true,"isPublic":false,"tags":["a","b"]}`,
				tags: `["a","b"]`,
			},
			"pastemyst-py": { // a body with every request, and tags in one text
				header: map[string]string{"Content-Type": "application/json", "User-Agent": "PastemystPy (3.0.0)"},
				created: `{"title":"old","expiresIn":"1h","isPrivate":true,"isPublic":false,"tags":"b,a",` +
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
			created := send(http.MethodPost, "/paste", library.created, http.StatusOK)
			var made struct {
				ID string `json:"_id"`
			}
			if err := json.Unmarshal([]byte(created), &made); err != nil {
				t.Fatalf("%s: got %s, %v, want a paste", name, created, err)
			}
			path := "/paste/" + made.ID
			if read := send(http.MethodGet, path, library.empty, http.StatusOK); read != created ||
				!strings.Contains(read, `"tags":["a","b"]`) {
				t.Errorf("%s: read %s, want what was created: %s", name, read, created)
			}
			changes := strings.NewReplacer(`"tags":["a","b"]`, `"tags":`+library.tags, `"old"`, `"new"`,
				`"code":"a"`, `"code":"b"`)
			edited := send(http.MethodPatch, path, changes.Replace(created), http.StatusOK)
			if !strings.Contains(edited, `"title":"new"`) || !strings.Contains(edited, `"tags":["a","b"]`) ||
				strings.Count(edited, `"editId":0`) != 2 {
				t.Errorf("%s: got %s, want the title and the code edited", name, edited)
			}
			if again := send(http.MethodPatch, path, edited, http.StatusOK); again != edited {
				t.Errorf("%s: got %s after sending the paste back as it is, want %s", name, again, edited)
			}
			if deleted := send(http.MethodDelete, path, library.empty, http.StatusOK); deleted != "{}" {
				t.Errorf("%s: deleting answered %s, want {}", name, deleted)
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
