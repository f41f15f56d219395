package e2e

import (
	"context"
	"net/http"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/listclient"
	"github.com/gluepot/gluepot/tests/program"
)

// TestGeneratedClient calls every operation of lists and stars with a client that oapi-codegen generated from the
// document.
func TestGeneratedClient(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		p := program.Serve(t, cfg.URL, "GLUEPOT_RECENT=true", "GLUEPOT_HTTP_BASE_PATH=/api/v2")
		id := createdID(t, p, `{"isPublic":true,"pasties":[{"title":"main.go","code":"package needle\n"}]}`)
		newClient := func(token string) *listclient.ClientWithResponses {
			client, err := listclient.NewClientWithResponses("http://"+p.Address+"/api/v2",
				listclient.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
					if token != "" {
						r.Header.Set("Authorization", "Bearer "+token)
					}
					return nil
				}))
			if err != nil {
				t.Fatal(err)
			}
			return client
		}
		owner, reader, visitor := newClient(program.EpoxyToken), newClient(program.MortarToken), newClient("")
		star, err := reader.StarPasteWithResponse(t.Context(), id)
		if err != nil || star.JSON200 == nil || star.JSON200.Stars != 1 {
			t.Fatalf("got %+v, %v, want one star", star, err)
		}
		limit := 1
		own, err := owner.ListOwnWithResponse(t.Context(), &listclient.ListOwnParams{Limit: &limit})
		if err != nil || own.JSON200 == nil || len(own.JSON200.Items) != 1 || own.JSON200.Next == nil {
			t.Fatalf("got %+v, %v, want a page and a cursor", own, err)
		}
		item := own.JSON200.Items[0]
		if item.UnderscoreId != id || item.Visibility != listclient.Public || item.Stars != 1 || item.Pasties[0].Lines != 1 ||
			item.Pasties[0].Preview != "package needle\n" || item.Bytes != 22 {
			t.Errorf("got %+v, want the paste", item)
		}
		next, err := owner.ListOwnWithResponse(t.Context(), &listclient.ListOwnParams{Cursor: own.JSON200.Next})
		if err != nil || next.JSON200 == nil || len(next.JSON200.Items) == 0 {
			t.Errorf("got %+v, %v, want the next page", next, err)
		}
		stars, err := reader.ListStarredWithResponse(t.Context(), nil)
		if err != nil || stars.JSON200 == nil || len(stars.JSON200.Items) != 1 {
			t.Errorf("got %+v, %v, want the starred paste", stars, err)
		}
		profile, err := visitor.ListUserWithResponse(t.Context(), "epoxy", nil)
		if err != nil || profile.JSON200 == nil || profile.JSON200.Items[0].UnderscoreId != id {
			t.Errorf("got %+v, %v, want the public paste", profile, err)
		}
		recent, err := visitor.ListRecentWithResponse(t.Context(), nil)
		if err != nil || recent.JSON200 == nil || recent.JSON200.Items[0].Owner != "Epoxy" {
			t.Errorf("got %+v, %v, want the public paste", recent, err)
		}
		results, err := visitor.SearchWithResponse(t.Context(), &listclient.SearchParams{Q: "needle"})
		if err != nil || results.JSON200 == nil || len(*results.JSON200.Items[0].Matches) != 1 {
			t.Errorf("got %+v, %v, want the paste with its line", results, err)
		}
		unstar, err := reader.UnstarPasteWithResponse(t.Context(), id)
		if err != nil || unstar.JSON200 == nil || unstar.JSON200.Stars != 0 {
			t.Errorf("got %+v, %v, want no stars", unstar, err)
		}
		rejection, err := visitor.ListOwnWithResponse(t.Context(), nil)
		if err != nil || rejection.StatusCode() != http.StatusUnauthorized || rejection.JSON401 == nil {
			t.Errorf("got %+v, %v, want 401 with its body", rejection, err)
		}
	})
}
