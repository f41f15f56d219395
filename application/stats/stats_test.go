package stats

import (
	"context"
	"net/netip"
	"testing"

	"github.com/gluepot/gluepot/domain/audit"
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

// TestShow checks that only administrators see the totals.
func TestShow(t *testing.T) {
	t.Parallel()
	show := New(counter{}).Show
	by := func(u user.User) audit.Actor { return audit.By(token.Viewer{User: u}, netip.Addr{}) }
	for want, actor := range map[fault.Kind]audit.Actor{
		fault.Unauthenticated: by(user.User{}), fault.Forbidden: by(user.User{ID: "epoxy"}),
	} {
		if totals, err := show.Do(t.Context(), actor); !fault.Is(err, want) || totals.Users != 0 {
			t.Errorf("got %+v, %v, want %v", totals, err, want)
		}
	}
	totals, err := show.Do(t.Context(), by(user.User{ID: "root", Admin: true}))
	if err != nil || totals.Users != 7 {
		t.Errorf("got %+v, %v for an administrator, want the totals", totals, err)
	}
}
