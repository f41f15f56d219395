package gormstore

import (
	"context"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
)

// TestTransactionOutOfTime has its time end between the last statement and the commit. That is nobody's mistake.
func TestTransactionOutOfTime(t *testing.T) {
	t.Parallel()
	store, _ := newFileStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := store.transaction(ctx, func(*gorm.DB) error {
		cancel()
		time.Sleep(100 * time.Millisecond) // database/sql undoes the transaction
		return nil
	})
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("got the kind %v of %v, want %v", fault.KindOf(err), err, fault.Unavailable)
	}
}
