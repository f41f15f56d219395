package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// ID shortens the suites.
type ID = paste.ID

// activeIDs returns the ids of all active pastes of an owner.
func activeIDs(t *testing.T, s Store, owner user.ID) []string {
	t.Helper()
	ids, _, err := s.Pastes.ActiveIDs(t.Context(), owner, paste.Cursor{}, 1000)
	must(t, err)
	return texts(ids)
}

func texts(ids []paste.ID) []string {
	texts := []string{}
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	return texts
}

func ownPastes(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	storedPaste(t, s, "old", owner.ID, now.Add(-time.Hour), time.Time{})
	storedPaste(t, s, "tie-a", owner.ID, now, time.Time{})
	storedPaste(t, s, "tie-B", owner.ID, now, time.Time{})
	storedPaste(t, s, "tie-c", owner.ID, now, later)
	storedPaste(t, s, "new", owner.ID, now.Add(time.Microsecond), time.Time{})
	storedPaste(t, s, "expired", owner.ID, now.Add(-time.Hour), now.Add(-time.Minute))
	storedPaste(t, s, "others", other.ID, now, time.Time{})
	storedPaste(t, s, "nobodys", "", now, time.Time{})
	want := []string{"new", "tie-c", "tie-a", "tie-B", "old"}
	if got := activeIDs(t, s, owner.ID); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// pagedPastes takes an owner's pastes in pages of every size.
func pagedPastes(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	expected, ids := []paste.Cursor{}, []ID{}
	for _, one := range []struct {
		id      string
		created time.Time
	}{
		{"new", now.Add(time.Microsecond)}, {"tie-c", now}, {"tie-a", now}, {"tie-Z", now}, {"tie-B", now}, {"tie--", now},
		{"old", now.Add(-time.Hour)}, {"before1970", time.UnixMicro(-1)}, {"year1", time.UnixMicro(0).AddDate(-1969, 0, 1)},
	} {
		expires := time.Time{}
		if one.id == "tie-a" || one.id == "old" {
			expires = later
		}
		storedPaste(t, s, one.id, owner.ID, one.created, expires)
		expected, ids = append(expected, paste.Cursor{CreatedAt: one.created.UTC(), ID: ID(one.id)}), append(ids, ID(one.id))
	}
	storedPaste(t, s, "tie-b", other.ID, now, time.Time{})
	storedPaste(t, s, "tie-C", "", now, time.Time{})
	storedPaste(t, s, "tie-D", owner.ID, now, now)
	storedPaste(t, s, "expired", owner.ID, now.Add(time.Hour), now)
	for limit := 1; limit <= len(expected)+1; limit++ {
		got, after := []ID{}, paste.Cursor{}
		for {
			page, last, err := s.Pastes.ActiveIDs(t.Context(), owner.ID, after, limit)
			must(t, err)
			if got = append(got, page...); len(page) > limit || page == nil || len(got) > len(expected) {
				t.Fatalf("%d at once: got %v, want a list of at most %d, and each paste once", limit, page, limit)
			}
			if len(page) > 0 && last != expected[len(got)-1] {
				t.Errorf("%d at once: got the last one of %v at %v, want it at %v", limit, page, last, expected[len(got)-1])
			}
			if len(page) < limit {
				break
			}
			after = last
		}
		if !slices.Equal(got, ids) {
			t.Errorf("%d at once: got %v, want %v", limit, got, ids)
		}
	}
	for what, c := range map[string]struct {
		after paste.Cursor
		first string // of the page
	}{
		"between two of the same time": {paste.Cursor{CreatedAt: now, ID: "tie-N"}, "tie-B"},
		"of an expired paste":          {paste.Cursor{CreatedAt: now, ID: "tie-D"}, "tie-B"},
		"of the time alone":            {paste.Cursor{CreatedAt: now}, "old"},
		"in another zone": {paste.Cursor{CreatedAt: now.In(time.FixedZone("east", 5*60*60)),
			ID: "tie-c"}, "tie-a"},
		"between two times":              {paste.Cursor{CreatedAt: now.Add(-time.Minute), ID: "tie-c"}, "old"},
		"of another owner's paste":       {paste.Cursor{CreatedAt: now, ID: "tie-b"}, "tie-a"},
		"in the future":                  {paste.Cursor{CreatedAt: later, ID: "x"}, "new"},
		"a microsecond before the first": {paste.Cursor{CreatedAt: now.Add(2 * time.Microsecond), ID: "-"}, "new"},
	} {
		page, _, err := s.Pastes.ActiveIDs(t.Context(), owner.ID, c.after, 1)
		must(t, err)
		if got := texts(page); !slices.Equal(got, []string{c.first}) {
			t.Errorf("after a place %s: got %v, want %v", what, got, c.first)
		}
	}
	page, _, err := s.Pastes.ActiveIDs(t.Context(), owner.ID,
		paste.Cursor{CreatedAt: time.UnixMicro(0).AddDate(-1969, 0, 0), ID: "x"}, 1)
	must(t, err)
	want(t, "pastes after the last one", len(page), 0)
	for _, id := range []user.ID{"", "unknown", "OWNER"} {
		page, _, err := s.Pastes.ActiveIDs(t.Context(), id, paste.Cursor{}, 1)
		must(t, err)
		if page == nil || len(page) != 0 {
			t.Errorf("pastes of %q: got %#v, want an empty list", id, page)
		}
	}
}

// changingPages has pastes come and go between pages: what was there throughout is there once.
func changingPages(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	expiry := time.Now().Add(300 * time.Millisecond).Truncate(time.Microsecond)
	for i, id := range []string{"a", "b", "gone", "c", "expiring", "d", "e"} {
		expires := time.Time{}
		if id == "expiring" {
			expires = expiry
		}
		storedPaste(t, s, id, owner.ID, now.Add(-time.Duration(i)*time.Microsecond), expires)
	}
	page := func(after paste.Cursor, limit int, want ...string) paste.Cursor {
		t.Helper()
		ids, last, err := s.Pastes.ActiveIDs(t.Context(), owner.ID, after, limit)
		must(t, err)
		if got := texts(ids); !slices.Equal(got, want) {
			t.Fatalf("after %v: got %v, want %v", after, got, want)
		}
		return last
	}
	first := page(paste.Cursor{}, 3, "a", "b", "gone")
	// its place is still one
	must(t, s.Pastes.DeleteIf(t.Context(), unrecorded, "gone", func(paste.Paste) error { return nil }))
	storedPaste(t, s, "newest", owner.ID, now.Add(time.Hour), time.Time{})
	storedPaste(t, s, "in-between", owner.ID, now.Add(-5*time.Microsecond), time.Time{})
	for time.Now().Before(expiry) {
		time.Sleep(time.Until(expiry))
	}
	second := page(first, 2, "c", "in-between")
	page(second, 3, "d", "e")
	page(paste.Cursor{}, 100, "newest", "a", "b", "c", "in-between", "d", "e")
}

// titledPastes takes public ones and all of them in pieces of every length.
func titledPastes(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	store := func(id string, owner user.ID, created, expires time.Time, change func(*paste.Content)) {
		t.Helper()
		newPaste := paste.Document{Paste: paste.Paste{ID: ID(id), Owner: owner, CreatedAt: created, ExpiresAt: expires}}
		newPaste.Title, newPaste.Visibility, newPaste.Lifetime = "title of "+id+"\x00", paste.Public, paste.Never
		newPaste.Pasties = []paste.Pasty{
			{ID: "p", Title: id + ".go", Code: "\n \t\n first\x00 of " + id + " \nsecond\n"},
			{ID: "q", Title: "other", Code: "other"},
		}
		if change != nil {
			change(&newPaste.Content)
		}
		must(t, s.Pastes.CreateDocument(t.Context(), newPaste))
	}
	store("old", owner.ID, now.Add(-time.Hour), time.Time{}, nil)
	store("tie-a", owner.ID, now, later, nil)
	store("tie-B", owner.ID, now, time.Time{}, func(c *paste.Content) { c.Title = strings.Repeat("é", 5000) })
	store("new", owner.ID, now.Add(time.Microsecond), time.Time{}, func(c *paste.Content) {
		c.Title, c.Pasties[0].Title = "", ""
		c.Pasties[0].Code = strings.Repeat("ü", 100_000)
	})
	store("unlisted", owner.ID, now, time.Time{}, func(c *paste.Content) { c.Visibility = paste.Unlisted })
	store("private", owner.ID, now, time.Time{}, func(c *paste.Content) { c.Visibility = paste.Private })
	store("expired", owner.ID, now.Add(-time.Hour), now.Add(-time.Minute), nil)
	store("before1970", owner.ID, time.UnixMicro(-1), time.Time{}, nil)
	store("year1", owner.ID, time.UnixMicro(0).AddDate(-1969, 0, 1), time.Time{}, nil)
	store("others", other.ID, now, time.Time{}, nil)
	store("nobodys", "", now, time.Time{}, nil)
	storedPaste(t, s, "empty", owner.ID, now, time.Time{})
	store("sealed", owner.ID, now, time.Time{}, func(c *paste.Content) {
		c.Title, c.Pasties, c.Cipher = "", nil, &paste.Cipher{Data: []byte{1}, Key: []byte{2}, Salt: []byte{3}}
	})
	public := func(ctx context.Context, owner user.ID, after paste.Cursor, limit int) ([]paste.Summary, error) {
		return s.Pastes.Select(ctx, owner, paste.Selection{Public: true, After: after}, limit)
	}
	all := func(ctx context.Context, owner user.ID, after paste.Cursor, limit int) ([]paste.Summary, error) {
		return s.Pastes.Select(ctx, owner, paste.Selection{After: after}, limit)
	}
	listings{public, []string{"new", "tie-a", "tie-B", "old", "before1970", "year1"}}.check(t, owner.ID)
	listings{all, []string{"new", "unlisted", "tie-a", "tie-B", "private", "empty", "old",
		"before1970", "year1"}}.check(t, owner.ID)
	_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, owner.ID, func(u *user.User, _ map[string]string) error {
		u.PublicProfile = false
		return nil
	})
	must(t, err)
	none, err := public(t.Context(), owner.ID, paste.Cursor{}, 10)
	must(t, err)
	want(t, "public pastes of a private profile", len(none), 0)
}

// selectedPastes lists an owner's pastes in each order, page by page, all of them and those with a tag.
func selectedPastes(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	at := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute).UTC() }
	for i, c := range []struct {
		id, title, pasty string
		edited           int // 0: never
		tags             []string
	}{
		{"a", "beta", "", 0, []string{"odd\x00", "x"}}, {"b", "", "Alpha.go", 9, nil}, {"c", "BETA", "", 0, []string{"x"}},
		{"d", "", "", 2, []string{"X"}}, {"e", strings.Repeat("é", 200), "", 0, []string{"x y"}},
		{"f", "beta", "", 2, []string{"x"}},
	} {
		created := paste.Document{Paste: paste.Paste{ID: ID(c.id), Owner: owner.ID, CreatedAt: at(i / 2)}}
		created.Title, created.Tags, created.Pasties = c.title, c.tags, []paste.Pasty{{ID: "p", Title: c.pasty}}
		created.Visibility = paste.Visibility(i % 3)
		if c.edited > 0 {
			created.Edits = []paste.Edit{{ID: "e", Text: "before", At: at(c.edited)}}
		}
		must(t, s.Pastes.CreateDocument(t.Context(), created))
	}
	for _, c := range []struct {
		selection paste.Selection
		expected  string
	}{
		{paste.Selection{}, "fedcba"}, {paste.Selection{Order: paste.ByEdit}, "bfedca"},
		{paste.Selection{Order: paste.ByTitle}, "dbacfe"},
		{paste.Selection{Tag: "x"}, "fca"}, {paste.Selection{Tag: "x", Order: paste.ByEdit}, "fca"},
		{paste.Selection{Tag: "odd\x00"}, "a"},
		{paste.Selection{Tag: "x", Order: paste.ByTitle}, "acf"}, {paste.Selection{Tag: "y"}, ""},
		{paste.Selection{Public: true}, "eb"},
		{paste.Selection{Public: true, Tag: "x y"}, "e"},
		{paste.Selection{Title: "BET"}, "fca"}, {paste.Selection{Title: ".GO"}, "b"},
		{paste.Selection{Title: "é"}, "e"}, {paste.Selection{Title: "É"}, ""}, {paste.Selection{Title: "b%a"}, ""},
		{paste.Selection{Title: "b_ta"}, ""}, {paste.Selection{Title: "\x00"}, ""}, {paste.Selection{Title: `\`}, ""},
		{paste.Selection{Title: "beta", Tag: "x", Order: paste.ByTitle}, "acf"},
	} {
		for _, size := range []int{1, 2, 10} {
			var got strings.Builder
			for page, selection := []paste.Summary{{}}, c.selection; len(page) > 0; {
				var err error
				page, err = s.Pastes.Select(t.Context(), owner.ID, selection, size)
				must(t, err)
				for i := range page {
					got.WriteString(string(page[i].ID))
					selection = c.selection.Next(&page[i])
				}
			}
			want(t, fmt.Sprintf("%+v in pages of %d", c.selection, size), got.String(), c.expected)
		}
	}
	all, err := s.Pastes.Select(t.Context(), owner.ID, paste.Selection{}, 10)
	must(t, err)
	want(t, "tags", strings.Join(all[5].Tags, ","), "odd\x00,x")
	want(t, "edited", all[4].EditedAt, at(9))
	want(t, "never edited", all[5].EditedAt, at(0))
}

// profiles have their user's public pastes, and tags if the user shows them.
func profiles(t *testing.T, s Store) {
	owner := storedUser(t, s, "Owner")
	for _, id := range []paste.ID{"public", "private"} {
		d := paste.Document{Paste: paste.Paste{ID: id, Owner: owner.ID, CreatedAt: now}}
		d.Tags, d.Visibility = []string{"a", "b"}, paste.Public
		if id == "private" {
			d.Visibility = paste.Private
		}
		must(t, s.Pastes.CreateDocument(t.Context(), d))
	}
	refusal := errors.New("no")
	all := func(user.User) error { return nil }
	profile := func(name string, allow func(user.User) error,
		selection paste.Selection) (user.User, []paste.Summary, error) {
		return s.Pastes.Profile(t.Context(), parseName(t, name), allow, selection, 10)
	}
	for _, c := range []struct {
		what            string
		public, showing bool
		selection       paste.Selection
		expected        string // the ids with their tags
	}{
		{"everything", true, true, paste.Selection{}, "public[a b]"},
		{"a tag", true, true, paste.Selection{Tag: "a"}, "public[a b]"},
		{"another tag", true, true, paste.Selection{Tag: "c"}, ""},
		{"hidden tags", true, false, paste.Selection{}, "public[]"},
		{"a hidden tag", true, false, paste.Selection{Tag: "a"}, ""},
		{"private", false, true, paste.Selection{}, ""},
	} {
		_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, owner.ID,
			func(u *user.User, _ map[string]string) error {
				u.PublicProfile, u.ShowTags = c.public, c.showing
				return nil
			})
		must(t, err)
		found, listed, err := profile("OWNER", all, c.selection)
		must(t, err)
		want(t, c.what+": user", found.Name.String(), "Owner")
		var got strings.Builder
		for _, one := range listed {
			_, _ = fmt.Fprint(&got, one.ID, one.Tags)
		}
		want(t, c.what, got.String(), c.expected)
	}
	if found, listed, err := profile("owner", func(user.User) error {
		return refusal
	}, paste.Selection{}); found.ID != "" ||
		len(listed) > 0 || !errors.Is(err, refusal) {
		t.Errorf("got %+v, %v, %v, want nothing and the error of allow", found, listed, err)
	}
	_, _, err := profile("nobody", all, paste.Selection{})
	wantKind(t, err, fault.NotFound)
}

// recentPastes lists what users with a public profile show, of all of them.
func recentPastes(t *testing.T, s Store) {
	owner, other, hidden := storedUser(t, s, "owner"), storedUser(t, s, "other"), newUser(t, "hidden")
	hidden.PublicProfile = false
	must(t, s.createUser(t.Context(), hidden, nil))
	store := func(id string, owner user.ID, created, expires time.Time, visibility paste.Visibility,
		cipher *paste.Cipher) {
		t.Helper()
		newPaste := paste.Document{Paste: paste.Paste{ID: ID(id), Owner: owner, CreatedAt: created, ExpiresAt: expires}}
		newPaste.Title, newPaste.Visibility, newPaste.Cipher = "title of "+id, visibility, cipher
		must(t, s.Pastes.CreateDocument(t.Context(), newPaste))
	}
	store("old", owner.ID, now.Add(-time.Hour), time.Time{}, paste.Public, nil)
	store("tie-a", other.ID, now, later, paste.Public, nil)
	store("tie-b", owner.ID, now, time.Time{}, paste.Public, nil)
	store("new", other.ID, now.Add(time.Microsecond), time.Time{}, paste.Public, nil)
	store("unlisted", owner.ID, now, time.Time{}, paste.Unlisted, nil)
	store("private", owner.ID, now, time.Time{}, paste.Private, nil)
	store("nobodys", "", now, time.Time{}, paste.Public, nil)
	store("hidden", hidden.ID, now, time.Time{}, paste.Public, nil)
	store("expired", owner.ID, now, now.Add(time.Minute), paste.Public, nil)
	store("sealed", owner.ID, now, time.Time{}, paste.Public, &paste.Cipher{Data: []byte{1}})
	for _, size := range []int{1, 3, 10} {
		got := []string{}
		for page, after := []paste.Summary{{}}, (paste.Cursor{}); len(page) > 0; {
			var err error
			page, err = s.Pastes.Recent(t.Context(), "", after, size)
			must(t, err)
			for i := range page {
				got, after = append(got, string(page[i].ID)+" of "+page[i].OwnerName), page[i].Cursor()
			}
		}
		want(t, fmt.Sprint("in pages of ", size), strings.Join(got, ", "),
			"new of other, tie-b of owner, tie-a of other, old of owner")
	}
	for title, ids := range titled("tie-b tie-a") {
		listed, err := s.Pastes.Recent(t.Context(), title, paste.Cursor{}, 10)
		must(t, err)
		want(t, "titled "+title, idsOf(listed), ids)
	}
	listed, err := s.Pastes.Recent(t.Context(), "TIE", paste.Cursor{CreatedAt: now, ID: "tie-b"}, 10)
	must(t, err)
	want(t, "titled, after a place", idsOf(listed), "tie-a")
}

// titled has parts of titles, with the pastes that have them: those whose titles contain "tie", or none.
func titled(ties string) map[string]string {
	return map[string]string{"of TIE": ties, "%tie": "", "t_e": "", "tie\x00": "", "\\": ""}
}

func idsOf(listed []paste.Summary) string {
	ids := make([]string, len(listed))
	for i := range listed {
		ids[i] = string(listed[i].ID)
	}
	return strings.Join(ids, " ")
}

// starredPastes has stars of pastes that their giver may read, and of others.
func starredPastes(t *testing.T, s Store) {
	fan, other := storedUser(t, s, "fan"), storedUser(t, s, "other")
	store := func(id string, owner user.ID, created, expires time.Time, visibility paste.Visibility,
		cipher *paste.Cipher) {
		t.Helper()
		newPaste := paste.Document{Paste: paste.Paste{ID: ID(id), Owner: owner, CreatedAt: created, ExpiresAt: expires}}
		newPaste.Title, newPaste.Visibility, newPaste.Cipher = "title of "+id, visibility, cipher
		must(t, s.Pastes.CreateDocument(t.Context(), newPaste))
		must(t, s.Pastes.Star(t.Context(), nowhere, fan.ID, newPaste.ID))
	}
	store("old", other.ID, now.Add(-time.Hour), time.Time{}, paste.Public, nil)
	store("private-own", fan.ID, now, time.Time{}, paste.Private, nil)
	store("nobodys", "", now.Add(time.Microsecond), later, paste.Unlisted, nil)
	store("private", other.ID, now, time.Time{}, paste.Private, nil)
	store("sealed", fan.ID, now, time.Time{}, paste.Unlisted, &paste.Cipher{Data: []byte{1}})
	store("expired", other.ID, now, now.Add(time.Minute), paste.Public, nil)
	storedPaste(t, s, "unstarred", fan.ID, now, time.Time{})
	shut := newUser(t, "shut")
	shut.PublicProfile = false
	must(t, s.createUser(t.Context(), shut, nil))
	store("anybodys", shut.ID, now.Add(-2*time.Hour), time.Time{}, paste.Public, nil)
	must(t, s.Pastes.Star(t.Context(), nowhere, fan.ID, "not-there"))
	must(t, s.Pastes.Star(t.Context(), nowhere, other.ID, "old"))
	for limit := 1; limit <= 4; limit++ {
		starred := []string{}
		for listed, after := []paste.Summary{{}}, (paste.Cursor{}); len(listed) > 0; {
			var err error
			listed, err = s.Pastes.StarredBy(t.Context(), fan.ID, "", after, limit)
			must(t, err)
			for _, one := range listed {
				after = one.Cursor()
				starred = append(starred, one.Title+" of "+one.OwnerName)
			}
		}
		want(t, "starred, page by page", fmt.Sprint(starred),
			"[title of nobodys of  title of private-own of fan title of old of other title of anybodys of ]")
	}
	listed, err := s.Pastes.StarredBy(t.Context(), other.ID, "", paste.Cursor{}, 10)
	must(t, err)
	want(t, "starred by another", len(listed), 1)
	for title, ids := range map[string]string{"of OLD": "old", "private": "private-own", "%": "", "expired": ""} {
		listed, err := s.Pastes.StarredBy(t.Context(), fan.ID, title, paste.Cursor{}, 10)
		must(t, err)
		want(t, "starred and titled "+title, idsOf(listed), ids)
	}
	for _, c := range []struct {
		id      paste.ID
		reader  user.ID
		starred bool
	}{
		{"old", fan.ID, true}, {"old", other.ID, true}, {"old", "", false}, {"nobodys", other.ID, false},
		{"private-own", fan.ID, true},
		{"unstarred", fan.ID, false},
	} {
		doc, err := s.Pastes.ReadDocument(t.Context(), c.id, c.reader)
		must(t, err)
		want(t, "starred by "+string(c.reader)+": "+string(c.id), doc.Starred, c.starred)
	}
	must(t, s.Pastes.Unstar(t.Context(), nowhere, fan.ID, "old"))
	doc, err := s.Pastes.ReadDocument(t.Context(), "old", fan.ID)
	must(t, err)
	want(t, "starred after Unstar", doc.Starred, false)
	want(t, "stars after Unstar", doc.Stars, 1)
}

// listings are what a method lists of an owner's pastes, and what it should return.
type listings struct {
	list func(ctx context.Context, owner user.ID, after paste.Cursor, limit int) ([]paste.Summary, error)
	want []string
}

func (l listings) check(t *testing.T, owner user.ID) {
	t.Helper()
	for limit := 1; limit <= len(l.want)+1; limit++ {
		got, after := []string{}, paste.Cursor{}
		for {
			listed, err := l.list(t.Context(), owner, after, limit)
			must(t, err)
			if len(listed) > limit || listed == nil || len(got) > len(l.want) {
				t.Fatalf("got %d, nil: %v, after %v, want at most %d, and each paste once", len(listed), listed == nil, got, limit)
			}
			for _, one := range listed {
				after = one.Cursor()
				got = append(got, string(one.ID))
				switch title := one.Title; one.ID {
				case "new", "empty":
					want(t, "title", title, "")
				case "tie-B":
					if !strings.HasPrefix(title, strings.Repeat("é", paste.MaxTitle)) || !utf8.ValidString(title) {
						t.Errorf("got a title of %d bytes, want at least its first %d characters", len(title), paste.MaxTitle)
					}
				default:
					want(t, "title", title, "title of "+string(one.ID)+"\x00")
				}
				wantBeginning(t, one)
				want(t, "owner", one.Owner, owner)
				visibility := map[paste.ID]paste.Visibility{"unlisted": paste.Unlisted, "empty": paste.Unlisted,
					"private": paste.Private}
				shown, ok := visibility[one.ID]
				if !ok {
					shown = paste.Public
				}
				want(t, "visibility of "+string(one.ID), one.Visibility, shown)
			}
			if len(listed) < limit {
				break
			}
		}
		if !slices.Equal(got, l.want) {
			t.Errorf("%d at once: got %v, want %v", limit, got, l.want)
		}
	}
	for _, nobody := range []user.ID{"", "unknown", "OWNER"} {
		listed, err := l.list(t.Context(), nobody, paste.Cursor{}, 1)
		must(t, err)
		if listed == nil || len(listed) != 0 {
			t.Errorf("pastes of %q: got %#v, want an empty list", nobody, listed)
		}
	}
	_, err := l.list(cancelled(t), owner, paste.Cursor{}, 1)
	wantKind(t, err, fault.Unavailable)
}

// wantBeginning checks what a paste without a title can be called by.
func wantBeginning(t *testing.T, one paste.Summary) {
	t.Helper()
	title, line := string(one.ID)+".go", "first\x00 of "+string(one.ID)
	switch one.ID {
	case "new":
		title, line = "", strings.Repeat("ü", 100_000)
		if n := utf8.RuneCountInString(one.FirstLine); n < 50 || n > 10_000 {
			t.Errorf("got %d characters of a long line, want some", n)
		}
		line = line[:min(len(one.FirstLine), len(line))]
	case "empty":
		title, line = "", ""
	}
	want(t, "title of the first pasty of "+string(one.ID), one.PastyTitle, title)
	want(t, "first line of "+string(one.ID), one.FirstLine, line)
}

func noPastes(t *testing.T, s Store) {
	storedPaste(t, s, "nobodys", "", now, time.Time{})
	want(t, "pastes", len(activeIDs(t, s, storedUser(t, s, "owner").ID)), 0)
	want(t, "pastes of an unknown user", len(activeIDs(t, s, "unknown")), 0)
}

// expiryInstant asks without a pause while a paste expires. Every answer from before the instant has it and
// none from after; the store's clock may be another one than the test's, on the same machine.
func expiryInstant(t *testing.T, s Store) {
	const expiring = 300 * time.Millisecond
	owner := storedUser(t, s, "owner")
	expiry := time.Now().Add(expiring).Truncate(time.Microsecond)
	must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, storedPaste(t, s, "expiring", owner.ID, now, expiry)))
	refusal := errors.New("seen")
	one := func(err error) (int, error) { // of a method that knows one paste
		if errors.Is(err, refusal) {
			return 1, nil
		} else if fault.Is(err, fault.NotFound) {
			return 0, nil
		}
		return 1, err
	}
	asks := []struct {
		what string
		ask  func() (int, error)
	}{
		{"ActiveIDs", func() (int, error) { return len(activeIDs(t, s, owner.ID)), nil }},
		{"ActiveCount", func() (int, error) {
			count, err := s.Pastes.ActiveCount(t.Context())
			return int(count), err
		}},
		{"AccountByID", func() (int, error) {
			account, err := s.Users.AccountByID(t.Context(), owner.ID)
			return len(account.Stars), err
		}},
		{"DocumentByID", func() (int, error) {
			_, err := s.Pastes.DocumentByID(t.Context(), "expiring")
			return one(err)
		}},
		{"ReadDocument", func() (int, error) {
			_, err := s.Pastes.ReadDocument(t.Context(), "expiring", owner.ID)
			return one(err)
		}},
		{"Select", func() (int, error) {
			listed, err := s.Pastes.Select(t.Context(), owner.ID, paste.Selection{}, 2)
			return len(listed), err
		}},
		{"StarredBy", func() (int, error) {
			listed, err := s.Pastes.StarredBy(t.Context(), owner.ID, "", paste.Cursor{}, 2)
			return len(listed), err
		}},
		{"Totals", func() (int, error) {
			totals, err := s.Stats.Totals(t.Context())
			return int(totals.ActivePastes), err
		}},
		{"Update", func() (int, error) {
			_, err := s.Pastes.Update(
				t.Context(),
				unrecorded,
				"expiring",
				func(paste.Document) (paste.Change, error) { return paste.Change{}, refusal },
			)
			return one(err)
		}},
		{"DeleteIf", func() (int, error) {
			return one(s.Pastes.DeleteIf(t.Context(), unrecorded, "expiring", func(paste.Paste) error { return refusal }))
		}},
	}
	for after := false; !after; {
		after = !time.Now().Before(expiry.Add(expiring))
		for _, a := range asks {
			asked := time.Now()
			got, err := a.ask()
			answered := time.Now()
			must(t, err)
			if answered.Before(expiry) && got != 1 || !asked.Before(expiry) && got != 0 {
				t.Fatalf("%s, asked %v before the expiry and answered %v before it: got %d, want 1 before it and 0 after it",
					a.what, expiry.Sub(asked), expiry.Sub(answered), got)
			}
		}
	}
}

func counts(t *testing.T, s Store) {
	count := func(expected int64) {
		t.Helper()
		got, err := s.Pastes.ActiveCount(t.Context())
		must(t, err)
		want(t, "count", got, expected)
	}
	count(0)
	storedPaste(t, s, "one", "", now, time.Time{})
	storedPaste(t, s, "two", storedUser(t, s, "owner").ID, now, later)
	count(2)
	storedPaste(t, s, "expired", "", now.Add(-time.Hour), now)
	count(2)
	if _, err := s.Pastes.RemoveExpired(t.Context(), 0, 10); err != nil {
		t.Fatal(err)
	}
	count(2)
}

func pasteConflicts(t *testing.T, s Store) {
	id := storedPaste(t, s, "one", "", now, time.Time{})
	wantIDTaken(t, s.Pastes.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: id, CreatedAt: now}}))
	orphan := paste.Document{Paste: paste.Paste{ID: "two", Owner: "unknown", CreatedAt: now}}
	wantKind(t, s.Pastes.CreateDocument(t.Context(), orphan), fault.NotFound)
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 1)
}

func removeExpired(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	storedPaste(t, s, "never", owner.ID, now, time.Time{})
	storedPaste(t, s, "later", owner.ID, now, later)
	storedPaste(t, s, "fresh", owner.ID, now, time.Now().Add(-time.Hour)) // within the grace
	for i := range 5 {
		storedPaste(t, s, fmt.Sprint("expired", i), owner.ID, now.Add(-time.Hour),
			time.Now().Add(-time.Duration(3+i)*time.Hour))
	}
	stored := func() int64 {
		t.Helper()
		totals, err := s.Stats.Totals(t.Context())
		must(t, err)
		want(t, "active", totals.ActivePastes, 2)
		return totals.ActivePastes + totals.ExpiredPastes
	}
	want(t, "stored", stored(), 8)
	left := int64(8)
	for _, expected := range []int{3, 2, 0} {
		removed, err := s.Pastes.RemoveExpired(t.Context(), 2*time.Hour, 3)
		must(t, err)
		want(t, "removed", removed, expected)
		left -= int64(expected)
		want(t, "stored", stored(), left)
		if expected == 3 { // those that expired first
			for _, id := range []paste.ID{"expired0", "expired1"} {
				wantIDTaken(t, s.Pastes.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: id, CreatedAt: now}}))
			}
		}
	}
	removed, err := s.Pastes.RemoveExpired(t.Context(), 0, 3)
	must(t, err)
	want(t, "removed without a grace", removed, 1)
	if got, expected := activeIDs(t, s, owner.ID), []string{"never", "later"}; !slices.Equal(got, expected) {
		t.Errorf("left %v, want %v", got, expected)
	}
}

func starOrder(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for _, id := range []string{"b", "c", "a"} {
		storedPaste(t, s, id, "", now, time.Time{})
		must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, ID(id)))
	}
	must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, "b")) // again
	account, err := s.Users.AccountByID(t.Context(), owner.ID)
	must(t, err)
	if want := []string{"b", "c", "a"}; !slices.Equal(account.Stars, want) {
		t.Errorf("got %v, want %v", account.Stars, want)
	}
	wantKind(t, s.Pastes.Star(t.Context(), nowhere, "unknown", "b"), fault.NotFound)
}

func cancelledPaste(t *testing.T, s Store) {
	_, err := s.Pastes.ActiveCount(cancelled(t))
	wantKind(t, err, fault.Unavailable)
	_, err = s.Pastes.RemoveExpired(cancelled(t), 0, 1)
	wantKind(t, err, fault.Unavailable)
	_, _, err = s.Pastes.ActiveIDs(cancelled(t), "owner", paste.Cursor{}, 1)
	wantKind(t, err, fault.Unavailable)
}
