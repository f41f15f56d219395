package application

import (
	"strconv"
	"testing"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// TestUsesAreBounded has more tokens in use than are remembered while the store is away.
func TestUsesAreBounded(t *testing.T) {
	t.Parallel()
	const used, most = 150_000, 100_000
	w := newWorld()
	store := &failing{Tokens: w.tokenStore, fail: true}
	uses := tokens.New(store, w.userStore, w.clock).Uses
	for i := range used {
		uses.RecordUse(token.ID(strconv.Itoa(i)), w.now)
		if i == used/2 { // an attempt in between keeps what it could not store, and counts nothing twice
			dropped, err := uses.Do(t.Context())
			wantKind(t, "outage", err, fault.Unavailable)
			if dropped != 0 {
				t.Errorf("got %d uses dropped, want none", dropped)
			}
		}
	}
	uses.RecordUse("0", w.now.Add(1)) // one of those that are remembered
	store.fail = false
	if pending := uses.Pending(); pending != most {
		t.Errorf("got %d tokens waiting, want %d", pending, most)
	}
	if dropped, err := uses.Do(t.Context()); dropped != used-most || err != nil {
		t.Errorf("got %d uses dropped, error %v, want %d", dropped, err, used-most)
	}
	if dropped, err := uses.Do(t.Context()); dropped != 0 || err != nil || uses.Pending() != 0 {
		t.Errorf("got %d uses dropped, %d waiting, error %v, want none", dropped, uses.Pending(), err)
	}
}
