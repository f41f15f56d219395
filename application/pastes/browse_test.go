package pastes_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/modules"
)

func TestPublicPastesNeedAProfile(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "Epoxy", PublicProfile: true})
	m.CreateUser(t, users.CreateInput{Name: "mortar"})
	for _, owner := range []string{"epoxy", "mortar"} {
		u, err := m.UserStore.ByName(t.Context(), modules.Name(t, owner))
		if err != nil {
			t.Fatal(err)
		}
		for i := range pastes.PageSize + 1 {
			created := paste.Document{Paste: paste.Paste{
				ID: paste.ID(fmt.Sprintf("%s%03d", owner, i)), Owner: u.ID,
				CreatedAt: m.Now.Add(time.Duration(i) * time.Second),
			}}
			created.Visibility, created.Pasties = paste.Public, []paste.Pasty{{ID: "p"}}
			if err := m.PasteStore.CreateDocument(t.Context(), created); err != nil {
				t.Fatal(err)
			}
		}
	}
	list := m.Pastes.Browse.Public
	first, err := list(t.Context(), "EPOXY", paste.Selection{})
	if err != nil || first.Owner.Name.String() != "Epoxy" || len(first.Pastes) != pastes.PageSize || !first.More {
		t.Fatalf("got %d pastes of %v, more: %v, %v, want the first page and more", len(first.Pastes), first.Owner.Name,
			first.More, err)
	}
	rest, err := list(t.Context(), "epoxy", paste.Selection{After: first.Pastes[len(first.Pastes)-1].Cursor()})
	if err != nil || len(rest.Pastes) != 1 || rest.Pastes[0].ID != "epoxy000" || rest.More {
		t.Errorf("got %v, more: %v, %v, want the oldest and no more", rest.Pastes, rest.More, err)
	}
	for _, name := range []string{"mortar", "nobody", "", "a b"} {
		_, err := list(t.Context(), name, paste.Selection{})
		modules.WantKind(t, name, err, fault.NotFound)
	}
}

func TestStarsShowWhileTheirPasteDoes(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "fan"})
	fan, self := m.SignIn(t, "fan"), m.Users.ShowSelf
	lasting, expiring := string(m.CreatePaste(t, "", "never")), string(m.CreatePaste(t, "", "1h"))
	for _, id := range []string{expiring, lasting, "missing1", expiring} {
		if err := m.PasteStore.Star(t.Context(), netip.Addr{}, fan.User.ID, paste.ID(id)); err != nil {
			t.Fatal(err)
		}
	}
	wantStars := func(want ...string) {
		t.Helper()
		account, err := self.Do(t.Context(), fan)
		if err != nil || !slices.Equal(account.Stars, want) {
			t.Errorf("got %v, %v, want %v", account.Stars, err, want)
		}
	}
	wantStars(expiring, lasting)
	m.Now = m.Now.Add(time.Hour)
	wantStars(lasting)
	if err := m.Pastes.Star.Do(t.Context(), modules.By(fan), lasting, false); err != nil {
		t.Error(err)
	}
	wantStars()
}

// TestStar stars pastes that the user may read, and others.
func TestStar(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "fan"})
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	fan, owner := m.SignIn(t, "fan"), m.SignIn(t, "owner")
	open := string(m.CreatePaste(t, "", "never"))
	private := modules.Draft("x")
	private.Private = true
	created, err := m.Pastes.Create.Do(t.Context(), audit.Operator(), "owner", private)
	if err != nil {
		t.Fatal(err)
	}
	shut, star := string(created.ID), m.Pastes.Star
	for _, viewer := range []token.Viewer{fan, owner, fan} {
		if err := star.Do(t.Context(), modules.By(viewer), open, true); err != nil {
			t.Error(err)
		}
	}
	if err := star.Do(t.Context(), modules.By(owner), shut, true); err != nil {
		t.Error(err)
	}
	modules.WantKind(t, "a visitor", star.Do(t.Context(), modules.By(visitor), open, true), fault.Unauthenticated)
	modules.WantKind(t, "another user's private paste", star.Do(t.Context(), modules.By(fan), shut, true), fault.NotFound)
	modules.WantKind(t, "no paste", star.Do(t.Context(), modules.By(fan), "unknown0", true), fault.NotFound)
	modules.WantKind(t, "no id", star.Do(t.Context(), modules.By(fan), "a b", true), fault.NotFound)
	wantStarred := func(viewer token.Viewer, want ...string) {
		t.Helper()
		page, err := m.Pastes.Browse.Starred(t.Context(), viewer, "", paste.Cursor{})
		got := []string{}
		for _, summary := range page.Pastes {
			got = append(got, string(summary.ID))
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	wantStarred(fan, open)
	wantStarred(owner, open, shut)
	if got, err := m.Pastes.Read.Do(t.Context(), fan, open); err != nil || got.Stars != 2 || !got.Starred {
		t.Errorf("got %d stars, starred %t, %v, want 2 and the reader's among them", got.Stars, got.Starred, err)
	}
	for range 2 { // the second one changes nothing
		if err := star.Do(t.Context(), modules.By(fan), open, false); err != nil {
			t.Error(err)
		}
	}
	wantStarred(fan)
	for _, c := range []struct {
		viewer  token.Viewer
		starred bool
		want    int64
	}{{fan, true, 2}, {fan, true, 2}, {owner, false, 1}, {owner, false, 1}, {fan, false, 0}} {
		if got, err := star.Count(t.Context(), modules.By(c.viewer), open, c.starred); got != c.want || err != nil {
			t.Errorf("starred %t: got %d, %v, want %d", c.starred, got, err, c.want)
		}
	}
	for _, starring := range []bool{true, false} {
		for id, viewer := range map[string]token.Viewer{shut: fan, "unknown0": fan, "a b": owner} {
			_, err := star.Count(t.Context(), modules.By(viewer), id, starring)
			modules.WantKind(t, "a paste that the viewer may not read", err, fault.NotFound)
		}
		_, err := star.Count(t.Context(), modules.By(visitor), open, starring)
		modules.WantKind(t, "a visitor", err, fault.Unauthenticated)
	}
	_, err = m.Pastes.Browse.Starred(t.Context(), visitor, "", paste.Cursor{})
	modules.WantKind(t, "a visitor's list", err, fault.Unauthenticated)
}

func TestDeletingPastes(t *testing.T) {
	t.Parallel()
	m := modules.New()
	m.CreateUser(t, users.CreateInput{Name: "owner"})
	second := m.CreatePaste(t, "owner", "never")
	m.CreatePaste(t, "", "never")
	remove := m.Pastes.Delete
	if err := remove.Do(t.Context(), audit.Operator(), string(second)); err != nil {
		t.Error(err)
	}
	for _, id := range []string{string(second), "", "\xff"} {
		modules.WantKind(t, "the id "+id, remove.Do(t.Context(), audit.Operator(), id), fault.NotFound)
	}
}
