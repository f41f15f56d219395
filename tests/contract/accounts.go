package contract

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// accountNames lists accounts page by page, and returns their names.
func accountNames(
	t *testing.T, s ModerationStore, filter moderation.AccountFilter, order moderation.Order, limit int,
) (names []string) {
	t.Helper()
	for after := (moderation.AccountCursor{}); ; {
		page, err := s.Moderation.Accounts(t.Context(), filter, order, after, limit)
		must(t, err)
		if len(page) > limit {
			t.Fatalf("got %d accounts on a page of %d", len(page), limit)
		}
		if len(page) == 0 {
			return names
		}
		for _, account := range page {
			alone, err := s.Moderation.AccountOf(t.Context(), account.ID)
			must(t, err)
			want(t, "account", account, alone)
			stored, err := s.Users.ByID(t.Context(), account.ID)
			must(t, err)
			want(t, "user", account.User, stored)
			names = append(names, account.Name.String())
		}
		after = page[len(page)-1].CursorIn(order)
	}
}

// listAccounts lists accounts in every order, with every filter, on pages of every length.
func listAccounts(t *testing.T, s ModerationStore) {
	ids := make(map[string]user.ID)
	for _, name := range []string{"delta", "Bravo", "alpha", "char_lie", "charxlie"} {
		ids[name] = storedUser(t, s.Store, name).ID
	}
	spam(t, s, "one", ids["delta"], now, "code")
	spam(t, s, "two", ids["delta"], now, "code")
	spam(t, s, "large", ids["alpha"], now, strings.Repeat("x", 1000))
	spam(t, s, "anonymous", "", now, strings.Repeat("x", 5000))
	spam(t, s, "removed", ids["Bravo"], now, strings.Repeat("x", 3000))
	takenAway(t, s, "removed")
	uses := make(map[token.ID]time.Time)
	for name, at := range map[string]time.Time{"Bravo": now, "char_lie": now.Add(time.Second), "delta": now} {
		uses[storedToken(t, s.Store, ids[name]).ID] = at
	}
	must(t, s.Tokens.SetLastUsed(t.Context(), uses))
	_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, ids["alpha"],
		func(u *user.User, _ map[string]string) error {
			u.Admin = true
			return nil
		})
	must(t, err)
	setHidden(t, s, ids["char_lie"], false)
	all := []string{"alpha", "Bravo", "char_lie", "charxlie", "delta"}
	for what, c := range map[string]struct {
		filter moderation.AccountFilter
		order  moderation.Order
		want   []string
	}{
		"by name": {want: all},
		"by last use": {
			order: moderation.ByLastUse, want: []string{"char_lie", "Bravo", "delta", "alpha", "charxlie"},
		},
		"by pastes":          {order: moderation.ByPastes, want: []string{"delta", "alpha", "Bravo", "char_lie", "charxlie"}},
		"by bytes":           {order: moderation.ByBytes, want: []string{"alpha", "delta", "Bravo", "char_lie", "charxlie"}},
		"a part of the name": {filter: moderation.AccountFilter{Name: "R_L"}, want: []string{"char_lie"}},
		"no pattern":         {filter: moderation.AccountFilter{Name: "%"}},
		"U+0000":             {filter: moderation.AccountFilter{Name: "\x00"}},
		"the id":             {filter: moderation.AccountFilter{Name: string(ids["delta"])}, want: []string{"delta"}},
		"administrators":     {filter: moderation.AccountFilter{Admins: true}, want: []string{"alpha"}},
		"those suspended":    {filter: moderation.AccountFilter{Suspended: true}, want: []string{"char_lie"}},
		"both":               {filter: moderation.AccountFilter{Admins: true, Suspended: true}},
		"by bytes and a name": {
			filter: moderation.AccountFilter{Name: "l"}, order: moderation.ByBytes,
			want: []string{"alpha", "delta", "char_lie", "charxlie"},
		},
	} {
		for limit := range len(all) + 1 {
			if got := accountNames(t, s, c.filter, c.order, limit+1); !slices.Equal(got, c.want) {
				t.Errorf("%s, %d on a page: got %v, want %v", what, limit+1, got, c.want)
			}
		}
	}
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, ids["alpha"], parseName(t, "alpha"), nil))
	delete(ids, "alpha")
	if got := accountNames(t, s, moderation.AccountFilter{}, moderation.ByBytes, 10); len(got) != len(ids) {
		t.Errorf("got %v once one is deleted, want %v", got, slices.Sorted(maps.Keys(ids)))
	}
	want(t, "the place of nobody", moderation.Account{}.CursorIn(moderation.ByPastes), moderation.AccountCursor{})
}
