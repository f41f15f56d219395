package lists

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

func TestSelections(t *testing.T) {
	t.Parallel()
	for order := range listOrders {
		for _, tag := range []string{"", "two words", "a&b"} {
			first := paste.Selection{Order: paste.Order(order), Tag: tag}
			last := paste.Summary{EditedAt: time.UnixMicro(2).UTC(), TitleKey: "a.b é"}
			last.ID, last.CreatedAt = "k2j4x8m1", time.UnixMicro(1).UTC()
			for _, selection := range []paste.Selection{first, first.Next(&last)} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, listPath("/pastes", selection), nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := parseSelection(r.URL.Query()); err != nil || !reflect.DeepEqual(got, selection) {
					t.Errorf("%s: got %+v, %v, want %+v", r.URL, got, err, selection)
				}
			}
		}
	}
}
