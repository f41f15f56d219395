package fake

import (
	"context"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/user"
)

// Search scans all pastes.
type Search struct{ *Store }

// Find implements search.Store.
func (s Search) Find(
	ctx context.Context, query search.Query, reader user.ID, after search.Cursor, limit int,
) (results []search.Result, more bool, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	results = []search.Result{}
	for _, stored := range s.pastes {
		document := paste.Document{Paste: stored, Content: s.contents[stored.ID]}
		owner, hasOwner := s.byID(stored.Owner)
		own := document.OwnedBy(reader)
		switch {
		case !hasOwner || document.Encrypted() || stored.Burns || !s.active(stored) || query.Mine && !own,
			!own && (!owner.PublicProfile || document.Visibility != paste.Public || len(query.Tags) > 0 && !owner.ShowTags),
			slices.ContainsFunc(query.Users, func(name user.Name) bool { return name.Folded() != owner.Name.Folded() }):
			continue
		}
		lines, ok := query.Match(&document)
		titles := search.TextsOf(&document).Titles
		inTitles := len(query.Words) > 0 && !slices.ContainsFunc(query.Words, func(w string) bool {
			return !strings.Contains(titles, w)
		})
		place := search.Cursor{Cursor: stored.Cursor(), InTitles: inTitles}
		if ok && after.Before(place) {
			summary := summaryOf(document)
			summary.OwnerName, summary.Stars = owner.Name.String(), s.starsOf(stored.ID)
			if !own && !owner.ShowTags {
				summary.Tags = nil
			}
			results = append(results, search.Result{Summary: summary, Cursor: place, Lines: lines})
		}
	}
	slices.SortFunc(results, func(a, b search.Result) int {
		if a.Cursor.Before(b.Cursor) {
			return -1
		}
		return 1
	})
	more = len(results) > limit
	results = results[:min(len(results), limit)]
	paste.CutPasties(len(results), func(i int) *paste.Summary { return &results[i].Summary })
	return results, more, nil
}

// Indexed implements search.Store.
func (s Search) Indexed(ctx context.Context) (bool, error) {
	unlock, err := s.lock(ctx)
	if err == nil {
		unlock()
	}
	return err == nil, err
}

// Prepare implements search.Store.
func (s Search) Prepare(ctx context.Context) error {
	unlock, err := s.lock(ctx)
	if err == nil {
		unlock()
	}
	return err
}

// Rebuild implements search.Store. There is no index to rebuild.
func (s Search) Rebuild(ctx context.Context, after paste.ID) (last paste.ID, read int, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return "", 0, err
	}
	defer unlock()
	for _, stored := range s.pastes {
		if stored.Owner != "" && stored.ID > after {
			last, read = max(last, stored.ID), read+1
		}
	}
	return last, read, nil
}
