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
	stored map[token.ID]bool
}

func (s *slowWriter) SetLastUsed(_ context.Context, uses map[token.ID]time.Time) error {
	if s.during != nil {
		s.during()
		s.during = nil
	}
	for id := range uses {
		s.stored[id] = true
	}
	return nil
}

// TestUseWhileMostAreStored wants a use to be kept that comes while as many as may wait are being stored.
func TestUseWhileMostAreStored(t *testing.T) {
	t.Parallel()
	writer := &slowWriter{stored: make(map[token.ID]bool)}
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
	if !writer.stored["late"] {
		t.Error("the use that came meanwhile was lost, want it stored")
	}
}
