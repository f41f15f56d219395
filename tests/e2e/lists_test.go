package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// listPage is a page of a list.
type listPage struct {
	Items []struct {
		ID   string `json:"_id"`
		Tags []string
	}
	Next string
}

// readPage requests a page of a list.
func readPage(t *testing.T, p *program.Process, path, token string, status int) (page listPage) {
	t.Helper()
	got, body := p.Get(path, token)
	if got != status {
		t.Fatalf("%s: got %d %s, want %d", path, got, body, status)
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatal(err)
	}
	return page
}

// TestListsByPage pages through each list in several page sizes, and sends its cursors to other lists and readers,
// which must refuse them.
func TestListsByPage(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		p := program.Serve(t, cfg.URL, "GLUEPOT_RECENT=true", "GLUEPOT_SEARCH=true")
		owner := []string{"Authorization", program.EpoxyToken, "Accept", "application/json"}
		var ids []string
		for i := range 7 {
			body := fmt.Sprintf(`{"title":"%d paged","isPublic":true,"tags":"paged","pasties":[{"code":"needle"}]}`, i%3)
			_, answer := send(t, p, http.MethodPost, "/paste", body, owner...)
			var paste struct {
				ID string `json:"_id"`
			}
			if err := json.Unmarshal([]byte(answer), &paste); err != nil || paste.ID == "" {
				t.Fatalf("got %s, %v, want a paste", answer, err)
			}
			ids = append(ids, paste.ID)
			send(t, p, http.MethodPut, "/paste/"+paste.ID+"/star", "", "Authorization", program.MortarToken)
		}
		slices.Sort(ids)
		cursors := make(map[string]string)
		for list, token := range map[string]string{
			"/list/own?tag=paged": program.EpoxyToken, "/list/own?title=PAGED&sort=title": program.EpoxyToken,
			"/list/own?tag=paged&sort=edited": program.EpoxyToken, "/list/starred?": program.MortarToken,
			"/list/user/epoxy?tag=": "", "/list/recent?": "", "/list/search?q=needle": "",
		} {
			for _, limit := range []int{1, 3, 7, 100} {
				var got []string
				for cursor := ""; ; {
					path := fmt.Sprintf("%s&limit=%d&cursor=%s", list, limit, url.QueryEscape(cursor))
					page := readPage(t, p, path, token, http.StatusOK)
					if len(page.Items) > limit {
						t.Errorf("%s: got %d pastes, want at most %d", list, len(page.Items), limit)
					}
					for _, item := range page.Items {
						if slices.Contains(ids, item.ID) { // the others belong to the fixture
							got = append(got, item.ID)
						}
					}
					if cursor = page.Next; cursor == "" {
						break
					}
					cursors[list] = cursor
				}
				if slices.Sort(got); !slices.Equal(got, ids) {
					t.Errorf("%s in pages of %d: got %q, want %q", list, limit, got, ids)
				}
			}
		}
		for list, cursor := range cursors {
			for other := range cursors {
				token := map[bool]string{true: program.MortarToken, false: program.EpoxyToken}[strings.Contains(other, "starred")]
				if other != list {
					readPage(t, p, other+"&cursor="+url.QueryEscape(cursor), token, http.StatusBadRequest)
				}
			}
			for _, invalid := range []string{
				cursor[1:], cursor + "A", "A" + cursor, strings.ToUpper(cursor), "x", strings.Repeat("A", 3000),
			} {
				readPage(t, p, list+"&cursor="+url.QueryEscape(invalid), program.MortarToken, http.StatusBadRequest)
			}
		}
		readPage(t, p, "/list/own?tag=paged&cursor="+cursors["/list/own?tag=paged"], program.MortarToken,
			http.StatusBadRequest)
		search := "/list/search?q=needle"
		readPage(t, p, search+"&cursor="+cursors[search], program.EpoxyToken, http.StatusBadRequest)
	})
}

// TestListsTurnedOff checks the answers while the list of recent pastes and the search are turned off.
func TestListsTurnedOff(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, database.SQLite(t).URL, "GLUEPOT_SEARCH=false")
	for _, path := range []string{"/list/recent", "/list/search?q=needle"} {
		if status, body := p.Get(path, ""); status != http.StatusNotFound || !strings.Contains(body, "nothing at this path") {
			t.Errorf("%s: got %d %s, want 404", path, status, body)
		}
	}
}
