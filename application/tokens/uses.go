package tokens

import (
	"context"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/token"
)

// maxUses bounds the recorded uses, to about 20 MiB, while the store does not answer.
const maxUses = 100_000

// UseLog records when tokens were used and stores it at intervals, so that requests do not write. What it holds when
// the process is killed is lost: at most one interval's worth of last-used times.
type UseLog struct {
	tokens token.Store

	mu      sync.Mutex
	uses    map[token.ID]time.Time
	storing int // number of uses that Do is storing
}

func newUseLog(tokens token.Store) *UseLog {
	return &UseLog{tokens: tokens, uses: make(map[token.ID]time.Time)}
}

// RecordUse takes note that a token was used. When the uses of too many tokens wait to be stored, those of further
// tokens are dropped.
func (l *UseLog) RecordUse(id token.ID, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.record(id, at)
}

// record is RecordUse for a caller that holds the lock.
func (l *UseLog) record(id token.ID, at time.Time) {
	last, ok := l.uses[id]
	if at.After(last) && (ok || len(l.uses) < maxUses) {
		l.uses[id] = at
	}
}

// Do stores what was recorded. What could not be stored is kept for the next call; the error is that of
// token.Store.SetLastUsed.
func (l *UseLog) Do(ctx context.Context) error {
	l.mu.Lock()
	uses := l.uses
	l.uses, l.storing = make(map[token.ID]time.Time), len(uses)
	l.mu.Unlock()
	var err error
	if len(uses) > 0 {
		err = l.tokens.SetLastUsed(ctx, uses)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.storing = 0
	if err != nil {
		for id, at := range uses {
			l.record(id, at)
		}
	}
	return err
}

// Pending returns how many tokens' uses are not stored yet, including those that Do is storing.
func (l *UseLog) Pending() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.uses) + l.storing
}
