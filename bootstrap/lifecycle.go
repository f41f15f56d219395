package bootstrap

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// The time for each part of a stop, even when the database hangs. See also closeTime.
const (
	repeatStopTime = time.Second
	useFlushTime   = 3 * time.Second
)

// Hooks are added where their use cases are made. So they begin before what depends on the use cases, such as a
// server, and end after it.

func newTokens(
	lifecycle fx.Lifecycle, cfg Config, log logger, store token.Store, users user.Store, now func() time.Time,
) *tokens.UseCases {
	useCases := tokens.New(store, users, now)
	if !cfg.ReadOnly {
		storeUses(lifecycle, cfg, log, useCases.Uses)
	}
	return useCases
}

func newPastes(
	lifecycle fx.Lifecycle, cfg Config, log logger, store paste.Store, users user.Store, options pastes.Options,
	stats *stats.UseCases, now func() time.Time,
) *pastes.UseCases {
	useCases := pastes.New(store, users, options, now)
	if cfg.SweepInterval > 0 && !cfg.ReadOnly {
		lifecycle.Append(repeat(cfg.SweepInterval, sweep(useCases.Sweep, log)))
	}
	if cfg.Totals || cfg.Pastes.MaxBytes > 0 {
		countTotals(lifecycle, cfg, log, stats.Sum, useCases.SizeLimit)
	}
	return useCases
}

// storeUses stores the last-used times of tokens at intervals and at the end.
func storeUses(lifecycle fx.Lifecycle, cfg Config, log logger, uses *tokens.UseLog) {
	store := func(ctx context.Context, limit time.Duration) error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return uses.Do(ctx)
	}
	lifecycle.Append(fx.StopHook(func(ctx context.Context) error { // runs after the one below
		if err := store(ctx, useFlushTime); err != nil {
			return fmt.Errorf("the last-used times of %d tokens are lost: %w", uses.Pending(), err)
		}
		return nil
	}))
	lifecycle.Append(repeat(cfg.UseInterval, func(ctx context.Context) {
		if err := store(ctx, 10*time.Second); err != nil && ctx.Err() == nil {
			log.Warn("last-used times are not stored yet", zap.Int("tokens", uses.Pending()), zap.Error(err))
		}
	}))
}

// sweep returns a function that removes expired pastes.
func sweep(sweep *pastes.Sweep, log logger) func(context.Context) {
	return func(ctx context.Context) {
		removed, err := sweep.Do(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			log.Warn("sweep", zap.Int("removed", removed), zap.Error(err))
		case removed > 0:
			log.Info("sweep", zap.Int("removed", removed))
		}
	}
}

// After a count, the next one waits totalsRest times as long as it took.
const (
	totalsInterval = 2 * time.Second
	totalsTimeout  = time.Minute
	totalsAtStart  = 5 * time.Second  // the timeout of the first count, during the start
	totalsPause    = 30 * time.Second // after a failure
	totalsRest     = 50
)

// countTotals counts what is stored at intervals, and tells room.
func countTotals(lifecycle fx.Lifecycle, cfg Config, log logger, sum *stats.Sum, room *pastes.SizeLimit) {
	var next time.Time
	count := func(ctx context.Context, timeout time.Duration) {
		began := time.Now()
		if began.Before(next) {
			return
		}
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		totals, err := sum.Do(limited)
		next = time.Now().Add(totalsRest * time.Since(began))
		if err != nil {
			next = time.Now().Add(totalsPause)
			if ctx.Err() == nil {
				log.Warn("cannot count the stored bytes", zap.Error(err))
			}
			return
		}
		bytes := totals.ContentBytes + totals.HistoryBytes
		if room.SetUsed(bytes) {
			log.Warn("the pastes use at least four fifths of GLUEPOT_STORE_MAX_BYTES: at the limit, no pastes can be created",
				zap.Int64("bytes", bytes), zap.Int64("limit", cfg.Pastes.MaxBytes))
		}
	}
	if cfg.Pastes.MaxBytes > 0 {
		lifecycle.Append(fx.StartHook(func(ctx context.Context) { count(ctx, totalsAtStart) }))
	}
	lifecycle.Append(repeat(totalsInterval, func(ctx context.Context) { count(ctx, totalsTimeout) }))
}

// repeat calls do in the background after each interval. Its stop hook cancels the running call and waits for it, but
// not for ever. A call that ends later loses nothing, since it works in transactions. So a late end is not an error.
func repeat(interval time.Duration, do func(context.Context)) fx.Hook {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	run := func() {
		defer close(ended)
		for ticks := time.Tick(interval); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-ticks:
				do(ctx)
			}
		}
	}
	return fx.StartStopHook(func() { go run() }, func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(repeatStopTime):
		}
	})
}
