package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
)

// TestMassExpiry sweeps many pastes that expired together (with -large: 300,000, or 30,000 that searches find). It
// prints how long that takes, and how long reads and counts take beside it. The sweep is on and off by turns, so that
// other load on the machine disturbs both alike.
func TestMassExpiry(t *testing.T) {
	backlog, searchable, turn := 2_000, 300, 100*time.Millisecond
	if *large { // then it measures
		backlog, searchable, turn = 300_000, 30_000, 2*time.Second
	} else {
		t.Parallel()
	}
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres,
		"sqlite": database.SQLite} {
		t.Run(name, func(t *testing.T) { massExpiry(t, provide(t), backlog, turn, false) })
		t.Run(name+", searchable", func(t *testing.T) { massExpiry(t, provide(t), searchable, turn, true) })
	}
}

// measurements are durations with the sweep (true) and without (false).
type measurements map[bool][]time.Duration

func (m measurements) String() string {
	var texts []string
	for _, sweeping := range []bool{true, false} {
		texts = append(texts, fmt.Sprintf("p50 %v, p99 %v, the slowest %v of %d",
			percentile(m[sweeping], 50), percentile(m[sweeping], 99), percentile(m[sweeping], 100), len(m[sweeping])))
	}
	return strings.Join(texts, "; without: ")
}

func massExpiry(t *testing.T, db gormstore.Config, backlog int, turn time.Duration, searchable bool) {
	const kept = 1000
	cfg := bootstrap.DefaultConfig()
	cfg.Database, cfg.Migrate, cfg.Pastes.SweepGrace = db, false, 0
	node, sql := openNode(t, cfg), database.SQL(t, db)
	at := instants[isPostgres(db)]
	series := "WITH RECURSIVE s (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < %d) SELECT x FROM s"
	exec(t, sql, insertPastes("id, created_at", fmt.Sprintf("'k' || x, %s FROM (%s) n", at.now, fmt.Sprintf(series,
		kept))))
	exec(t, sql, insertPastes("id, created_at, expires_at",
		fmt.Sprintf("'e' || x, %s, %s FROM (%s) n", at.past, at.past, fmt.Sprintf(series, backlog))))
	exec(t, sql, "UPDATE pastes SET pasties = 1")
	exec(t, sql, "INSERT INTO pasties (paste_id, position, id, title, language, code) SELECT id, 0, '', '', '', '"+
		fmt.Sprintf("%01024d", 0)+"' FROM pastes")
	if searchable {
		text := "lower(hex(randomblob(512)))"
		if isPostgres(db) {
			text = "(SELECT string_agg(md5(id || n), '') FROM generate_series(1, 32) n)"
		}
		exec(t, sql, "INSERT INTO paste_texts (paste_id, public, titles, text, tags, languages) "+
			"SELECT id, true, '', "+text+", '', '' FROM pastes")
	}
	if isPostgres(db) {
		exec(t, sql, "VACUUM ANALYZE")
	}
	var sweeping atomic.Bool
	var readers sync.WaitGroup
	done := make(chan struct{})
	var reads, counts measurements
	readers.Go(func() {
		reads = measure(t, done, &sweeping, 3*time.Millisecond, func(ctx context.Context, i int) error {
			_, err := node.Pastes.Read.Do(ctx, token.Viewer{}, fmt.Sprint("k", i%kept+1))
			return err
		})
	})
	readers.Go(func() {
		counts = measure(t, done, &sweeping, 100*time.Millisecond, func(ctx context.Context, _ int) error {
			count, err := node.Pastes.CountActive.Do(ctx)
			if err == nil && count != kept {
				err = fmt.Errorf("got the count %d, want %d", count, kept)
			}
			return err
		})
	})
	total := time.Duration(0)
	for finished := false; !finished && total < 5*time.Minute; {
		time.Sleep(turn)
		sweeping.Store(true)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), turn)
		removed, err := node.Pastes.Sweep.Do(ctx)
		if finished = err == nil || ctx.Err() == nil; finished && err != nil {
			t.Error(err)
		}
		if !finished && removed == 0 { // the turn was too short for a batch
			turn *= 2
		}
		cancel()
		total += time.Since(start)
		sweeping.Store(false)
	}
	time.Sleep(turn)
	close(done)
	readers.Wait()
	if count := column(t, sql, "SELECT CAST(count(*) AS text) FROM pastes"); count[0] != fmt.Sprint(kept) {
		t.Errorf("got %s pastes, want %d", count[0], kept)
	}
	t.Logf("%d pastes swept in %v", backlog, total.Round(time.Millisecond))
	t.Logf("reads beside the sweep: %v", reads)
	t.Logf("counts beside the sweep: %v", counts)
	if total > 2*time.Minute {
		t.Errorf("got a sweep of %v, want at most two minutes", total)
	}
}

// measure calls do repeatedly, with pauses, until a channel is closed, and returns the sorted durations.
func measure(
	t *testing.T, until <-chan struct{}, sweeping *atomic.Bool, pause time.Duration,
	do func(ctx context.Context, i int) error,
) measurements {
	durations := measurements{}
	for i := 0; ; i++ {
		start, isSweeping := time.Now(), sweeping.Load()
		if err := do(t.Context(), i); err != nil {
			t.Error(err)
			return durations
		}
		durations[isSweeping] = append(durations[isSweeping], time.Since(start))
		select {
		case <-until:
			slices.Sort(durations[true])
			slices.Sort(durations[false])
			return durations
		case <-time.After(pause):
		}
	}
}

// percentile returns a percentile of sorted durations.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)-1)*percent/100].Round(10 * time.Microsecond)
}

// TestSweepEndsRetention checks that a removed paste can be restored until its retention is over.
func TestSweepEndsRetention(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, db gormstore.Config) {
		cfg := bootstrap.DefaultConfig()
		cfg.Database, cfg.Migrate, cfg.Pastes.RemovedRetention = db, false, time.Hour
		withRetention := openNode(t, cfg)
		cfg.Pastes.RemovedRetention = 0
		withoutRetention := openNode(t, cfg)
		draft := paste.Draft{Pasties: []paste.PastyDraft{{Code: new("spam")}}}
		created, err := withRetention.Pastes.Create.Do(t.Context(), audit.Operator(), "", draft)
		if err != nil {
			t.Fatal(err)
		}
		restore := func(node *bootstrap.Application) error {
			t.Helper()
			if err := node.Moderation.Remove.Do(t.Context(), audit.Operator(), string(created.ID), "spam"); err != nil {
				t.Fatal(err)
			}
			if _, err := node.Pastes.Sweep.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			return node.Moderation.Remove.Undo(t.Context(), audit.Operator(), string(created.ID))
		}
		if err := restore(withRetention); err != nil {
			t.Errorf("got %v within the retention, want no error", err)
		}
		if err := restore(withoutRetention); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v after the retention, want fault.NotFound", err)
		}
	})
}
