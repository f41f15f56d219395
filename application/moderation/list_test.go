package moderation

import (
	"context"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

// slowWindows is a store whose windows take a while and hold nothing.
type slowWindows struct {
	Store

	left int
}

const windowTime = 10 * time.Millisecond

func (s *slowWindows) Pastes(context.Context, moderation.Filter, paste.Place, int) ([]moderation.Found, paste.Place, error) {
	time.Sleep(windowTime)
	s.left--
	if s.left == 0 {
		return nil, paste.Place{}, nil
	}
	return nil, paste.Place{ID: "more"}, nil
}

// TestListRests wants the store to be left to others for as long as it is used.
func TestListRests(t *testing.T) {
	t.Parallel()
	const windows = 5
	began := time.Now()
	list := List{&module{store: &slowWindows{left: windows}}}
	if err := list.Do(t.Context(), "", moderation.Filter{}, paste.Place{}, 0, nil); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < (2*windows-1)*windowTime {
		t.Errorf("got %v for %d windows of %v, want a rest of that length between them", took, windows, windowTime)
	}
}
