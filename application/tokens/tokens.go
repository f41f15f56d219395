// Package tokens has the use cases about access tokens.
package tokens

import (
	"context"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/token"
)

// UseLog remembers when tokens were used and stores it now and then, so that no request has to write.
// It implements token.UseRecorder. What it holds when the process is killed is lost: at most one
// interval's worth of last-used times.
type UseLog struct {
	tokens token.UseWriter

	mu   sync.Mutex
	uses map[token.ID]time.Time
}

// NewUseLog returns an empty log.
func NewUseLog(tokens token.UseWriter) *UseLog {
	return &UseLog{tokens: tokens, uses: make(map[token.ID]time.Time)}
}

// RecordUse implements token.UseRecorder.
func (l *UseLog) RecordUse(id token.ID, at time.Time) {
	l.mu.Lock()
	if at.After(l.uses[id]) {
		l.uses[id] = at
	}
	l.mu.Unlock()
}

// Do stores what was recorded since the last call. What could not be stored is kept for the next.
func (l *UseLog) Do(ctx context.Context) error {
	l.mu.Lock()
	uses := l.uses
	l.uses = make(map[token.ID]time.Time)
	l.mu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	if err := l.tokens.SetLastUsed(ctx, uses); err != nil {
		for id, at := range uses {
			l.RecordUse(id, at)
		}
		return err
	}
	return nil
}
