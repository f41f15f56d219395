package gormstore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// replicas are read-only copies of the database. What only shows a user to others can go to one of them;
// nothing else does (decision 0012).
//
// A replica is used while it is known to be no further behind than allowed: a watcher notes the primary's
// position in the write-ahead log again and again, and asks each replica how far it has come. A replica
// that has reached a position is as fresh as the moment at which the primary was there. When the watcher
// learns nothing new, the freshness runs out by itself.
type replicas struct {
	all            []*replica
	maxLag         time.Duration
	connectTimeout time.Duration
	next           atomic.Uint32

	mu      sync.Mutex
	waiting map[context.Context]context.CancelCauseFunc // reads that ask the primary, because no replica was fresh

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

type replica struct {
	db         *sql.DB
	freshUntil atomic.Pointer[time.Time] // nil: it is not; a time and no number, whose clock nobody puts back
	reaching   atomic.Bool               // see reach

	mu      sync.Mutex
	asked   position     // the newest position of the primary that it is known to have reached
	started int64        // when the server was, that has reached it
	lost    atomic.Int64 // how often something that it was known to have was not there any more
}

// position is where a server was in its log at a moment. Positions on different timelines say nothing of each other: a follower of
// a former primary may be further in that one's log than the new primary is in its own (decision 0053).
type position struct {
	timeline int64
	lsn      int64
	at       time.Time
}

// A role without pg_read_all_stats does not see which timeline a replica receives, and nobody sees one where it receives nothing. What
// is seen then is that of the last restart point, which follows a promotion by minutes. With such a role the primary answers until then.
const (
	primaryPosition = `SELECT ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint,
(pg_current_wal_lsn() - '0/0')::bigint`
	replicaPosition = `SELECT coalesce((SELECT received_tli FROM pg_stat_wal_receiver), (SELECT timeline_id FROM pg_control_checkpoint())),
coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint, (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint`
)

func newReplicas(cfg Config) (*replicas, error) {
	r := &replicas{
		maxLag: cfg.ReplicaMaxLag, connectTimeout: cfg.ConnectTimeout, waiting: make(map[context.Context]context.CancelCauseFunc),
	}
	for i, url := range cfg.ReplicaURLs {
		own := cfg
		own.URL = url
		at, err := newTarget(own, cfg.rereadReplicaURL(i), nil)
		if err != nil {
			return nil, err
		}
		candidate := new(replica)
		at.welcome = candidate.welcome
		candidate.db = at.open()
		candidate.db.SetMaxOpenConns(cfg.MaxConnections + 1) // one is the watcher's: lookups never take more than half
		candidate.db.SetMaxIdleConns(cfg.MaxConnections + 1)
		r.all = append(r.all, candidate)
	}
	return r, nil
}

// pick returns a fresh replica, each in its turn, or nil, and how many are fresh.
func (r *replicas) pick() (picked *replica, fresh int) {
	if len(r.all) == 0 {
		return nil, 0
	}
	now, first := time.Now(), int(r.next.Add(1))
	for i := range r.all {
		candidate := r.all[(first+i)%len(r.all)]
		if until := candidate.freshUntil.Load(); until == nil || !now.Before(*until) {
			continue
		}
		if picked == nil {
			picked = candidate
		}
		fresh++
	}
	return picked, fresh
}

// hasLess reports whether what the server had before, up to a place in the log, may have been replaced, or be no longer there: PostgreSQL
// goes back to its last restart point, and is not started anew, when one of its processes has crashed. The caller holds mu.
func (c *replica) hasLess(had, reached, started int64) bool {
	return c.started != started || reached < had
}

// welcome asks a new connection what the watcher asks, who has perhaps not looked since the server was there again.
func (c *replica) welcome(ctx context.Context, conn *pgx.Conn) error {
	var reached, started int64
	c.mu.Lock()
	had := c.asked.lsn
	c.mu.Unlock()
	err := conn.QueryRow(ctx, replicaPosition, pgx.QueryExecModeSimpleProtocol).Scan(nil, &reached, &started)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hasLess(min(had, c.asked.lsn), reached, started) { // of what it was known to have before it was asked, and still is
		c.lost.Add(1)
		c.freshUntil.Store(nil)
	}
	return nil
}

// errFresh ends the wait for a primary.
var errFresh = errors.New("the primary is silent, and a replica may be read from again")

// untilFresh returns a context for asking the primary what a replica may answer. It ends with the cause errFresh when the watcher
// has found the primary silent and a replica fresh: a frozen primary would keep whoever asks it for all of his time.
func (r *replicas) untilFresh(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[ctx] = cancel
	return ctx, func() {
		cancel(nil)
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting, ctx)
	}
}

// callBack ends all waits for the primary.
func (r *replicas) callBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cancel := range r.waiting {
		cancel(errFresh)
	}
}

// watch starts to follow the replicas of a primary.
func (r *replicas) watch(primary *sql.DB) {
	if len(r.all) == 0 || r.stop != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	interval := min(max(r.maxLag/5, 20*time.Millisecond), time.Second)
	r.stopped.Go(func() {
		var known []position // the oldest first, none older than allowed
		for {
			known = r.look(ctx, primary, known, interval)
			select {
			case <-ctx.Done():
				return
			case <-time.After(interval):
			}
		}
	})
}

// look asks the primary and then each replica once.
func (r *replicas) look(ctx context.Context, primary *sql.DB, known []position, patience time.Duration) []position {
	now := position{at: time.Now()}
	silent := ask(ctx, primary, primaryPosition, patience, &now.timeline, &now.lsn) != nil
	if !silent {
		if len(known) > 0 && known[0].timeline != now.timeline { // another leads: what is known of the former is of no use
			known = nil
		}
		known = append(known, now)
	}
	for len(known) > 0 && time.Since(known[0].at) > r.maxLag {
		known = known[1:]
	}
	var asking sync.WaitGroup
	for _, candidate := range r.all {
		asking.Go(func() {
			var (
				reached position
				started int64
			)
			lost := candidate.lost.Load()
			if ask(ctx, candidate.db, replicaPosition, patience, &reached.timeline, &reached.lsn, &started) != nil {
				candidate.freshUntil.Store(nil)
				r.reach(ctx, candidate)
				return
			}
			candidate.mu.Lock()
			defer candidate.mu.Unlock()
			if candidate.hasLess(candidate.asked.lsn, reached.lsn, started) {
				candidate.asked, candidate.started = position{}, started
			}
			// One that runs goes on to higher timelines only, whatever it says once its primary is silent and it receives none.
			if len(known) > 0 && known[0].timeline > candidate.asked.timeline {
				candidate.asked = position{}
			}
			for _, p := range known {
				if p.timeline == reached.timeline && p.lsn <= reached.lsn && p.at.After(candidate.asked.at) {
					candidate.asked = p
				}
			}
			if candidate.lost.Load() != lost { // the answer may be of before
				return
			}
			until := candidate.asked.at.Add(r.maxLag)
			candidate.freshUntil.Store(&until)
			if silent && time.Now().Before(until) {
				r.callBack()
			}
		})
	}
	asking.Wait()
	return known
}

// reach opens a connection for the next question, where that takes longer than a question may: to a server that is far, or busy. Nobody
// else would, because nobody reads from a replica that has not answered.
func (r *replicas) reach(ctx context.Context, candidate *replica) {
	if !candidate.reaching.CompareAndSwap(false, true) {
		return
	}
	r.stopped.Go(func() {
		defer candidate.reaching.Store(false)
		ctx, cancel := context.WithTimeout(ctx, r.connectTimeout)
		defer cancel()
		_ = candidate.db.PingContext(ctx) // the connection stays in the pool
	})
}

func ask(ctx context.Context, db *sql.DB, query string, patience time.Duration, answer ...any) error {
	ctx, cancel := context.WithTimeout(ctx, max(patience, 100*time.Millisecond))
	defer cancel()
	return db.QueryRowContext(ctx, query).Scan(answer...)
}

func (r *replicas) close() {
	if r.stop != nil {
		r.stop()
		r.stopped.Wait()
	}
	for _, candidate := range r.all {
		_ = candidate.db.Close() // nothing is pending on it
	}
}
