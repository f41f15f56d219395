package stats_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/users"
	domainstats "github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/modules"
)

func TestTotals(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	m.IssueToken(t, "owner")
	m.CreatePaste(t, "owner", "1h")
	m.CreatePaste(t, "", "never")
	owner, err := user.Find(t.Context(), m.UserStore, "owner")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.PasteStore.Star(t.Context(), netip.Addr{}, owner.ID, "missing1"); err != nil {
		t.Fatal(err)
	}
	m.Now = m.Now.Add(time.Hour)
	got, err := m.Stats.Sum.Do(t.Context())
	want := domainstats.Counts{Users: 1, Tokens: 1, ActivePastes: 1, ExpiredPastes: 1, WaitingStars: 1}
	if err != nil || got.Counts != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
