package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
)

// TestImportIsInterrupted ends the context during the import of a paste with a long history.
func TestImportIsInterrupted(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		pastes := gormstore.NewPastes(database.Open(t, cfg))
		long := paste.Document{Paste: paste.Paste{ID: "longlong", CreatedAt: time.Now()}}
		long.Lifetime = paste.Never
		for i := range 50_000 {
			long.Edits = append(long.Edits, paste.Edit{ID: fmt.Sprintf("e%07d", i), Number: int64(i), Text: "before",
				At: time.Unix(1, 0)})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := pastes.Import(ctx, contract.Whole(long), paste.RefuseOrphans)
		t.Log(time.Since(start))
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want fault.Unavailable with the context's error", err)
		}
	})
}
