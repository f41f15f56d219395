package fake

import (
	"context"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/user"
)

// Search looks at all pastes, one by one.
type Search struct{ *Store }

// Find implements search.Store.
func (s Search) Find(
	ctx context.Context, query search.Query, reader user.ID, after search.Cursor, limit int,
) (found []search.Result, more bool, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, false, err
	}
	defer unlock()
	found = []search.Result{}
	for _, known := range s.pastes {
		document := paste.Document{Paste: known, Content: s.contents[known.ID]}
		owner, owned := s.byID(known.Owner)
		own := document.OwnedBy(reader)
		switch {
		case !owned || document.Encrypted() || known.Burns || !s.active(known) || query.Mine && !own,
			!own && (!owner.PublicProfile || document.Visibility != paste.Public || len(query.Tags) > 0 && !owner.ShowTags),
			slices.ContainsFunc(query.Users, func(name user.Name) bool { return name.Folded() != owner.Name.Folded() }):
			continue
		}
		lines, ok := query.Match(&document)
		titles := search.TextsOf(&document).Titles
		inTitles := len(query.Words) > 0 && !slices.ContainsFunc(query.Words, func(w string) bool {
			return !strings.Contains(titles, w)
		})
		place := search.Cursor{Cursor: known.Cursor(), InTitles: inTitles}
		if ok && after.Before(place) {
			listed := listedOf(document)
			listed.OwnerName, listed.Stars = owner.Name.String(), s.starsOf(known.ID)
			if !own && !owner.ShowTags {
				listed.Tags = nil
			}
			found = append(found, search.Result{Summary: listed, Cursor: place, Lines: lines})
		}
	}
	slices.SortFunc(found, func(a, b search.Result) int {
		if a.Cursor.Before(b.Cursor) {
			return -1
		}
		return 1
	})
	more = len(found) > limit
	found = found[:min(len(found), limit)]
	paste.CutPasties(len(found), func(i int) *paste.Summary { return &found[i].Summary })
	return found, more, nil
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

// Rebuild implements search.Store: there is nothing to bring into line.
func (s Search) Rebuild(ctx context.Context, after paste.ID) (last paste.ID, read int, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return "", 0, err
	}
	defer unlock()
	for _, known := range s.pastes {
		if known.Owner != "" && known.ID > after {
			last, read = max(last, known.ID), read+1
		}
	}
	return last, read, nil
}
