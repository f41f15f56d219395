package tokens

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/token"
)

type slowWriter struct {
	token.Store

	during func()
	ids    map[token.ID]bool
}

func (s *slowWriter) SetLastUsed(_ context.Context, uses map[token.ID]time.Time) error {
	if s.during != nil {
		s.during()
		s.during = nil
	}
	for id := range uses {
		s.ids[id] = true
	}
	return nil
}

// TestUseWhileMostAreStored checks that a use is not lost that comes while as many as may wait are being stored.
func TestUseWhileMostAreStored(t *testing.T) {
	t.Parallel()
	writer := &slowWriter{ids: make(map[token.ID]bool)}
	log := newUseLog(writer)
	for i := range maxUses {
		log.RecordUse(token.ID(fmt.Sprint(i)), time.Now())
	}
	writer.during = func() { log.RecordUse("late", time.Now()) }
	for range 2 {
		if err := log.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !writer.ids["late"] {
		t.Error("got the late use lost, want it stored")
	}
}
