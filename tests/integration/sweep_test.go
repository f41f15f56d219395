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

// TestMassExpiry has many pastes expire together (with -large: 300,000, or 30,000 that searches find), sweeps them, and
// prints how long that takes, what reads take beside it, and the count of pastes. The sweep runs by turns, so that what
// else the machine does disturbs both alike.
func TestMassExpiry(t *testing.T) {
	backlog, searched, turn := 2_000, 300, 100*time.Millisecond
	if *large { // then it measures
		backlog, searched, turn = 300_000, 30_000, 2*time.Second
	} else {
		t.Parallel()
	}
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres,
		"sqlite": database.SQLite} {
		t.Run(name, func(t *testing.T) { massExpiry(t, provide(t), backlog, turn, false) })
		t.Run(name+", searched", func(t *testing.T) { massExpiry(t, provide(t), searched, turn, true) })
	}
}

// beside are measurements with the sweep and without.
type beside map[bool][]time.Duration

func (b beside) String() string {
	var texts []string
	for _, sweeping := range []bool{true, false} {
		texts = append(texts, fmt.Sprintf("p50 %v, p99 %v, the slowest %v of %d",
			at100(b[sweeping], 50), at100(b[sweeping], 99), at100(b[sweeping], 100), len(b[sweeping])))
	}
	return strings.Join(texts, "; without: ")
}

func massExpiry(t *testing.T, db gormstore.Config, backlog int, turn time.Duration, searched bool) {
	const kept = 1000
	cfg := bootstrap.DefaultConfig()
	cfg.Database, cfg.Migrate, cfg.Pastes.SweepGrace = db, false, 0
	node, sql := openNode(t, cfg), database.SQL(t, db)
	at := instants[isPostgres(db)]
	some := "WITH RECURSIVE s (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < %d) SELECT x FROM s"
	exec(t, sql, insertPastes("id, created_at", fmt.Sprintf("'k' || x, %s FROM (%s) n", at.now, fmt.Sprintf(some, kept))))
	exec(t, sql, insertPastes("id, created_at, expires_at",
		fmt.Sprintf("'e' || x, %s, %s FROM (%s) n", at.past, at.past, fmt.Sprintf(some, backlog))))
	exec(t, sql, "UPDATE pastes SET pasties = 1")
	exec(t, sql, "INSERT INTO pasties (paste_id, position, id, title, language, code) SELECT id, 0, '', '', '', '"+
		fmt.Sprintf("%01024d", 0)+"' FROM pastes")
	if searched {
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
	swept := make(chan struct{})
	var reads, counts beside
	readers.Go(func() {
		reads = timed(t, swept, &sweeping, 3*time.Millisecond, func(ctx context.Context, i int) error {
			_, err := node.Pastes.Read.Do(ctx, token.Viewer{}, fmt.Sprint("k", i%kept+1))
			return err
		})
	})
	readers.Go(func() {
		counts = timed(t, swept, &sweeping, 100*time.Millisecond, func(ctx context.Context, _ int) error {
			count, err := node.Pastes.CountActive.Do(ctx)
			if err == nil && count != kept {
				err = fmt.Errorf("counted %d, want %d", count, kept)
			}
			return err
		})
	})
	took := time.Duration(0)
	// not until all are counted: a turn can end while a batch is committed
	for done := false; !done && took < 5*time.Minute; {
		time.Sleep(turn)
		sweeping.Store(true)
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), turn)
		removed, err := node.Pastes.Sweep.Do(ctx)
		if done = err == nil || ctx.Err() == nil; done && err != nil {
			t.Error(err)
		}
		if !done && removed == 0 { // the turn was too short for a batch
			turn *= 2
		}
		cancel()
		took += time.Since(began)
		sweeping.Store(false)
	}
	time.Sleep(turn)
	close(swept)
	readers.Wait()
	if stored := column(t, sql, "SELECT CAST(count(*) AS text) FROM pastes"); stored[0] != fmt.Sprint(kept) {
		t.Errorf("got %s stored, want %d", stored[0], kept)
	}
	t.Logf("%d pastes gone after %v", backlog, took.Round(time.Millisecond))
	t.Logf("reads beside it: %v", reads)
	t.Logf("counting beside it: %v", counts)
	if took > 2*time.Minute {
		t.Errorf("got the pastes gone after %v, want two minutes", took)
	}
}

// timed does something again and again, with a pause, until a channel is closed, and returns how long each took,
// sorted.
func timed(
	t *testing.T, until <-chan struct{}, sweeping *atomic.Bool, pause time.Duration,
	do func(ctx context.Context, i int) error,
) beside {
	took := beside{}
	for i := 0; ; i++ {
		began, during := time.Now(), sweeping.Load()
		if err := do(t.Context(), i); err != nil {
			t.Error(err)
			return took
		}
		took[during] = append(took[during], time.Since(began))
		select {
		case <-until:
			slices.Sort(took[true])
			slices.Sort(took[false])
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

// TestSweepEndsRetention wants what was removed to be restored until its retention is over, and then not.
func TestSweepEndsRetention(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, db gormstore.Config) {
		cfg := bootstrap.DefaultConfig()
		cfg.Database, cfg.Migrate, cfg.Pastes.RemovedRetention = db, false, time.Hour
		keeping := openNode(t, cfg)
		cfg.Pastes.RemovedRetention = 0
		ending := openNode(t, cfg)
		draft := paste.Draft{Pasties: []paste.PastyDraft{{Code: new("spam")}}}
		made, err := keeping.Pastes.Create.Do(t.Context(), audit.Operator(), "", draft)
		if err != nil {
			t.Fatal(err)
		}
		restore := func(node *bootstrap.Application) error {
			t.Helper()
			if err := node.Moderation.Remove.Do(t.Context(), audit.Operator(), string(made.ID), "spam"); err != nil {
				t.Fatal(err)
			}
			if _, err := node.Pastes.Sweep.Do(t.Context()); err != nil {
				t.Fatal(err)
			}
			return node.Moderation.Remove.Undo(t.Context(), audit.Operator(), string(made.ID))
		}
		if err := restore(keeping); err != nil {
			t.Errorf("got %v within the retention, want it restored", err)
		}
		if err := restore(ending); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v after it, want nothing to restore", err)
		}
	})
}
