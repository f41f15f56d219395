package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/user"
)

// summaries have what lists show of their pasties: the lines of each, and how it begins.
func summaries(t *testing.T, s Store) {
	owner, fan := storedUser(t, s, "owner"), storedUser(t, s, "fan")
	codes := []string{
		"", "x", "x\n", "x\ny", "\n", "\n\n\n\n", "a\r\nb\r\nc\r\nd", odd, strings.Repeat("é", 200),
		strings.Repeat("\x00\x1a", 200),
		strings.Repeat("a\n", 100), strings.Repeat("b", 299) + "é", "a\n" + strings.Repeat("c", 400) + "\nd\ne",
	}
	created := paste.Document{Paste: paste.Paste{ID: "a", Owner: owner.ID, CreatedAt: now}}
	created.Title, created.Visibility = "needle", paste.Public
	for i, code := range codes {
		created.Pasties = append(created.Pasties, paste.Pasty{ID: fmt.Sprint("p", i), Title: odd, Language: "Go", Code: code})
	}
	must(t, s.Pastes.CreateDocument(t.Context(), created))
	must(t, s.Pastes.Star(t.Context(), nowhere, fan.ID, created.ID))
	must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, created.ID))
	var expected []paste.PastySummary
	for _, p := range created.Pasties {
		expected = append(expected, p.Summary())
	}
	for name, list := range map[string]func() ([]paste.Summary, error){
		"Select": func() ([]paste.Summary, error) {
			return s.Pastes.Select(t.Context(), owner.ID, paste.Selection{}, 2)
		},
		"Profile": func() ([]paste.Summary, error) {
			_, listed, err := s.Pastes.Profile(t.Context(), parseName(t, "owner"), func(user.User) error { return nil },
				paste.Selection{}, 2)
			return listed, err
		},
		"Recent": func() ([]paste.Summary, error) { return s.Pastes.Recent(t.Context(), "", paste.Cursor{}, 2) },
		"StarredBy": func() ([]paste.Summary, error) {
			return s.Pastes.StarredBy(t.Context(), fan.ID, "", paste.Cursor{}, 2)
		},
		"Find": func() (listed []paste.Summary, err error) {
			query, err := search.Parse("needle", func(text string) string { return text })
			must(t, err)
			results, _, err := s.Search.Find(t.Context(), query, "", search.Cursor{}, 2)
			for i := range results {
				listed = append(listed, results[i].Summary)
			}
			return listed, err
		},
	} {
		listed, err := list()
		must(t, err)
		if len(listed) != 1 {
			t.Errorf("%s: got %d pastes, want one", name, len(listed))
			continue
		}
		if !slices.Equal(listed[0].Pasties, expected) {
			t.Errorf("%s: got %+v, want %+v", name, listed[0].Pasties, expected)
		}
		want(t, name+": stars", listed[0].Stars, 2)
		want(t, name+": bytes", listed[0].Bytes, created.ContentBytes())
		want(t, name+": cut", listed[0].Cut, false)
	}
}

// cutSummaries lists pastes with so many pasties that a list has no room for all of them. The first has its own anyway.
func cutSummaries(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for i, pasties := range []int{1, 600, 1} { // the oldest first
		created := paste.Document{Paste: paste.Paste{
			ID: ID(fmt.Sprint("long", i)), Owner: owner.ID, CreatedAt: now.Add(time.Duration(i) * time.Second),
		}}
		for range pasties {
			title := strings.Repeat("é", paste.MaxPastyTitle)
			created.Pasties = append(created.Pasties, paste.Pasty{ID: "p", Title: title, Language: "Go"})
		}
		must(t, s.Pastes.CreateDocument(t.Context(), created))
	}
	summariesAfter := func(after paste.Cursor) string {
		listed, err := s.Pastes.Select(t.Context(), owner.ID, paste.Selection{After: after}, 10)
		must(t, err)
		var got []string
		for _, one := range listed {
			got = append(got, fmt.Sprint(one.ID, " ", len(one.Pasties), " of ", one.PastyCount, " ", one.Cut))
		}
		return strings.Join(got, ", ")
	}
	want(t, "summaries", summariesAfter(paste.Cursor{}), "long2 1 of 1 false, long1 0 of 600 true, long0 0 of 1 true")
	second := paste.Cursor{ID: "long2", CreatedAt: now.Add(2 * time.Second)}
	want(t, "summaries after the first", summariesAfter(second), "long1 600 of 600 false, long0 0 of 1 true")
}
