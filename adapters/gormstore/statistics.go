package gormstore

import (
	"database/sql"
	"math/bits"
	"sync/atomic"
	"time"
)

// Statistics is what a store has done since it was opened, and how it is now.
type Statistics struct {
	// Pool is the connections to the database, without those to its replicas and that of Ready.
	Pool sql.DBStats
	// Batches says how many lookups the statements of each kind of dataloader answered, where storing a new paste is one. On
	// SQLite, which merges none but counts, the others stay empty.
	Batches map[string]BatchSizes
	// Replicas are in the order of Config.ReplicaURLs.
	Replicas []ReplicaStatistics
}

// BatchSizes counts statements by how many lookups each answered.
type BatchSizes struct {
	Statements, Lookups uint64
	// AtMost has, for each power of two up to 64, the number of statements that answered as many lookups or fewer.
	AtMost map[float64]uint64
}

// ReplicaStatistics is how far a replica is behind.
type ReplicaStatistics struct {
	Fresh bool          // it may be read from
	Lag   time.Duration // at most; when it is not known to be fresh, 0
}

// Statistics returns a snapshot. It does not ask the database.
func (s *Store) Statistics() Statistics {
	snapshot := Statistics{Pool: s.sql.Stats(), Batches: map[string]BatchSizes{
		"users":     s.batches.users.snapshot(),
		"tokens":    s.batches.tokens.snapshot(),
		"accounts":  s.batches.accounts.snapshot(),
		"pastes":    s.batches.pastes.snapshot(),
		"counts":    s.batches.counts.snapshot(),
		"creations": s.batches.creations.snapshot(),
	}}
	now := time.Now()
	for _, copied := range s.replicas.all {
		left := time.Duration(0)
		if until := copied.freshUntil.Load(); until != nil {
			left = until.Sub(now)
		}
		if left > 0 {
			snapshot.Replicas = append(snapshot.Replicas, ReplicaStatistics{Fresh: true, Lag: s.replicas.maxLag - left})
		} else {
			snapshot.Replicas = append(snapshot.Replicas, ReplicaStatistics{})
		}
	}
	return snapshot
}

// batches counts the statements of each dataloader.
type batches struct{ users, tokens, accounts, pastes, counts, creations batchSizes }

// tell has a tracer told which statements serve several callers. It may be nil.
func (b *batches) tell(tracer StatementTracer) {
	for _, each := range []*batchSizes{&b.users, &b.tokens, &b.accounts, &b.pastes, &b.counts, &b.creations} {
		each.tracer = tracer
	}
}

// batchSizes counts statements by their lookups: the last counter has those of more than 64. The zero value counts.
type batchSizes struct {
	tracer     StatementTracer // told whom each serves; nil: nobody is
	lookups    atomic.Uint64
	statements [8]atomic.Uint64
}

func (b *batchSizes) add(lookups int) {
	b.lookups.Add(uint64(lookups))
	b.statements[min(bits.Len(uint(lookups-1)), len(b.statements)-1)].Add(1)
}

func (b *batchSizes) snapshot() BatchSizes {
	sizes := BatchSizes{Lookups: b.lookups.Load(), AtMost: make(map[float64]uint64, len(b.statements)-1)}
	for i := range b.statements {
		sizes.Statements += b.statements[i].Load()
		if i < len(b.statements)-1 {
			sizes.AtMost[float64(int(1)<<i)] = sizes.Statements
		}
	}
	return sizes
}
