package search

import (
	"context"
	"errors"
	"testing"

	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// store has no pastes, and an index if indexed.
type store struct {
	search.Store

	indexed bool
	err     error
}

func (s *store) Indexed(context.Context) (bool, error) { return s.indexed, s.err }

func (s *store) Find(context.Context, search.Query, user.ID, search.Cursor, int) ([]search.Result, bool, error) {
	return nil, false, nil
}

// TestCheck checks that the search is off without an index, and on with one. It stays as it is if the database does not
// answer.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := &store{indexed: true}
	find := New(s, nil).Find
	failure := errors.New("the database does not answer")
	for _, step := range []struct {
		name      string
		indexed   bool
		err, want error
		off       bool
	}{
		{"an index", true, nil, nil, false},
		{"no answer while on", true, failure, failure, false},
		{"no index", false, nil, search.ErrNoIndex, true},
		{"no answer while off", true, failure, failure, true},
		{"an index again", true, nil, nil, false},
	} {
		s.indexed, s.err = step.indexed, step.err
		if err := find.Check(t.Context()); !errors.Is(err, step.want) || find.Off() != step.off {
			t.Errorf("%s: got %v, off %v, want %v, off %v", step.name, err, find.Off(), step.want, step.off)
		}
		_, err := find.Do(t.Context(), token.Viewer{}, "needle", search.Cursor{})
		if step.off != errors.Is(err, search.ErrNoIndex) {
			t.Errorf("%s: the search: got %v, want %v only while it is off", step.name, err, search.ErrNoIndex)
		}
	}
}
