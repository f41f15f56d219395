package stats

import (
	"context"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

type counter struct{}

// Totals implements stats.Counter.
func (counter) Totals(context.Context) (stats.Totals, error) {
	return stats.Totals{Counts: stats.Counts{Users: 7}}, nil
}

// TestShow shows the totals to administrators alone.
func TestShow(t *testing.T) {
	t.Parallel()
	show := New(counter{}).Show
	for _, viewer := range []token.Viewer{{}, {User: user.User{ID: "epoxy"}}} {
		if totals, err := show.Do(t.Context(), viewer); !fault.Is(err, fault.Forbidden) || totals.Users != 0 {
			t.Errorf("got %+v, %v for %+v, want fault.Forbidden", totals, err, viewer.User)
		}
	}
	totals, err := show.Do(t.Context(), token.Viewer{User: user.User{ID: "root", Admin: true}})
	if err != nil || totals.Users != 7 {
		t.Errorf("got %+v, %v for an administrator, want the totals", totals, err)
	}
}
