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
			wantKind(t, "outage", uses.Do(t.Context()), fault.Unavailable)
		}
	}
	uses.RecordUse("0", w.now.Add(1)) // one of those that are remembered
	store.fail = false
	if pending := uses.Pending(); pending != most {
		t.Errorf("got %d tokens waiting, want %d", pending, most)
	}
	if err := uses.Do(t.Context()); err != nil || uses.Pending() != 0 {
		t.Errorf("got %d waiting, error %v, want none", uses.Pending(), err)
	}
}
