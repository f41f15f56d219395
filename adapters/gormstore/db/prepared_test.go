package db

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
)

// TestPreparedReads wants statements to be prepared once, no more than are kept, and another caller's end to harm nobody.
func TestPreparedReads(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "g.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // it is a file of this test
	reads := newPreparedReads(db)
	one := func(ctx context.Context, query string) (got int, err error) {
		err = reads.QueryRowContext(ctx, query, 7).Scan(&got)
		return got, err
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := one(gone, "SELECT ?"); err == nil {
		t.Error("a caller that is gone: got no error, want one")
	}
	query := "SELECT ?"
	for range 2 * maxPrepared {
		for range 2 {
			if got, err := one(t.Context(), query); got != 7 || err != nil {
				t.Fatalf("%s: got %d, %v, want 7", query, got, err)
			}
		}
		query += " "
	}
	if got := len(reads.statements); got != maxPrepared {
		t.Errorf("got %d statements kept, want %d", got, maxPrepared)
	}
}
