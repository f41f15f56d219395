package integration

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
)

// TestMassExpiry has many pastes expire together (with -large: 300,000), sweeps them, and prints how long that takes, what reads take
// beside it, and the count of pastes.
func TestMassExpiry(t *testing.T) { //nolint:paralleltest // it measures
	backlog := 5_000
	if *large {
		backlog = 300_000
	}
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres, "sqlite": database.SQLite} {
		t.Run(name, func(t *testing.T) { massExpiry(t, provide(t), backlog) })
	}
}

func massExpiry(t *testing.T, db gormstore.Config, backlog int) {
	const kept = 1000
	cfg := bootstrap.DefaultConfig()
	cfg.Database, cfg.Migrate, cfg.SweepGrace = db, false, 0
	node, sql := openNode(t, cfg), database.SQL(t, db)
	at := instants[isPostgres(db)]
	some := "WITH RECURSIVE s (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < %d) SELECT x FROM s"
	exec(t, sql, insertPastes("id, created_at", fmt.Sprintf("'k' || x, %s FROM (%s) n", at.now, fmt.Sprintf(some, kept))))
	exec(t, sql, insertPastes("id, created_at, expires_at",
		fmt.Sprintf("'e' || x, %s, %s FROM (%s) n", at.past, at.past, fmt.Sprintf(some, backlog))))
	exec(t, sql, "UPDATE pastes SET pasties = 1")
	exec(t, sql, "INSERT INTO pasties (paste_id, position, id, title, language, code) SELECT id, 0, '', '', '', '"+
		fmt.Sprintf("%01024d", 0)+"' FROM pastes")
	if isPostgres(db) {
		exec(t, sql, "VACUUM ANALYZE pastes")
		exec(t, sql, "VACUUM ANALYZE pasties")
	}
	measure := func(until <-chan struct{}) (reads, counts []time.Duration) {
		var readers sync.WaitGroup
		readers.Go(func() {
			reads = timed(t, until, 10*time.Millisecond, func(ctx context.Context, i int) error {
				_, err := node.Pastes.Read.Do(ctx, token.Viewer{}, fmt.Sprint("k", i%kept+1))
				return err
			})
		})
		readers.Go(func() {
			counts = timed(t, until, 200*time.Millisecond, func(ctx context.Context, _ int) error {
				count, err := node.Pastes.CountActive.Do(ctx)
				if err == nil && count != kept {
					err = fmt.Errorf("counted %d, want %d", count, kept)
				}
				return err
			})
		})
		readers.Wait()
		return reads, counts
	}
	swept := make(chan struct{})
	began := time.Now()
	var took time.Duration
	go func() {
		defer close(swept)
		removed, err := node.Pastes.Sweep.Do(t.Context())
		took = time.Since(began)
		if err != nil || removed != backlog {
			t.Errorf("got %d removed, error %v, want %d", removed, err, backlog)
		}
	}()
	reads, counts := measure(swept)
	idle := make(chan struct{})
	time.AfterFunc(min(took, 20*time.Second), func() { close(idle) })
	readsWithout, countsWithout := measure(idle)
	t.Logf("%d pastes gone after %v", backlog, took.Round(time.Millisecond))
	t.Logf("reads beside it: p50 %v, p99 %v; without: p50 %v, p99 %v", at100(reads, 50), at100(reads, 99), at100(readsWithout, 50),
		at100(readsWithout, 99))
	t.Logf("counting beside it: p50 %v, p99 %v, the slowest %v; without: p50 %v, p99 %v", at100(counts, 50), at100(counts, 99),
		at100(counts, 100), at100(countsWithout, 50), at100(countsWithout, 99))
	if took > 2*time.Minute {
		t.Errorf("got the pastes gone after %v, want two minutes", took)
	}
}

// timed does something again and again, with a pause, until a channel is closed, and returns how long each took, sorted.
func timed(t *testing.T, until <-chan struct{}, pause time.Duration, do func(ctx context.Context, i int) error) (took []time.Duration) {
	for i := 0; ; i++ {
		began := time.Now()
		if err := do(t.Context(), i); err != nil {
			t.Error(err)
			return took
		}
		took = append(took, time.Since(began))
		select {
		case <-until:
			slices.Sort(took)
			return took
		case <-time.After(pause):
		}
	}
}

// at100 returns a percentile.
func at100(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100].Round(10 * time.Microsecond)
}
