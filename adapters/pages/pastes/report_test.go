package pastes_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
	"github.com/gluepot/gluepot/tests/visit/embedded"
)

// TestReportOfBurning reports a paste that burns after reading without opening it.
func TestReportOfBurning(t *testing.T) {
	t.Parallel()
	s := embedded.New(t)
	code := "x"
	draft := paste.Draft{Burns: true, Pasties: []paste.PastyDraft{{Code: &code}}}
	created, err := s.Pastes.Create.Do(t.Context(), audit.Operator(), "", draft)
	if err != nil {
		t.Fatal(err)
	}
	path := "/" + string(created.ID)
	visit.WantIn(t, s.Page(path), `href="`+path+`/report"`)
	visit.WantIn(t, s.Page(path+"/report"), "Send report")
	answer, _, err := s.Post("", path+"/report", url.Values{"reason": {"spam"}})
	if err != nil || answer.Code != http.StatusSeeOther {
		t.Fatalf("got %v, %d, want the report stored", err, answer.Code)
	}
	visit.WantIn(t, s.Page(answer.Header().Get("Location")), "The operator will review the paste.")
	visit.WantIn(t, s.Page(path), "Open and delete")
}
