package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
)

// standbyCheckTime is how long a start waits for the standby.
const standbyCheckTime = 2 * time.Second

// The time for each part of a stop, even when the database hangs.
const (
	repeatStopTime = time.Second
	useFlushTime   = 3 * time.Second
	closeTime      = 2 * time.Second
)

// newStores returns the store and its standby. Everything else with hooks depends on them, and so starts later and stops earlier.
// Cancelling ctx ends the start.
func newStores(ctx context.Context, lifecycle fx.Lifecycle, cfg Config) (*gormstore.Store, standby, error) {
	store, err := gormstore.New(cfg.Database)
	if err != nil {
		return nil, standby{}, err
	}
	lifecycle.Append(closing(store))
	var from standby
	if cfg.ReadURL != "" {
		other := cfg.Database
		other.URL, other.URLSetting, other.Reread, other.Standby = cfg.ReadURL, "GLUEPOT_DATABASE_READ_URL", cfg.RereadReadURL, true
		if from.Store, err = gormstore.New(other); err != nil {
			return nil, standby{}, errors.Join(err, store.Close())
		}
		lifecycle.Append(closing(from.Store))
	}
	lifecycle.Append(fx.StartHook(func() error {
		if err := openStore(ctx, store, cfg); err != nil || from.Store == nil {
			return err
		}
		return checkStandby(ctx, store, from)
	}))
	return store, from, nil
}

var errOtherStandby = fault.New(fault.Conflict, "GLUEPOT_DATABASE_READ_URL leads to another database than GLUEPOT_DATABASE_URL. "+
	"Set it to a standby of that one, or leave it out.")

// checkStandby fails if the standby is another installation, such as the source of a copy: it would go on showing profiles that were
// deleted or made private. A standby that does not answer is not waited for.
func checkStandby(ctx context.Context, store *gormstore.Store, from standby) error {
	ctx, cancel := context.WithTimeout(ctx, standbyCheckTime)
	defer cancel()
	theirs, err := gormstore.NewCopies(from.Store).Installation(ctx)
	if err != nil {
		return nil // it is asked again for each profile
	}
	ours, err := gormstore.NewCopies(store).Installation(ctx)
	if err == nil && ours.UID != theirs.UID {
		return errOtherStandby
	}
	return nil // a missing schema is reported by the readiness check
}

// standby is where public profiles may be read from.
type standby struct{ *gormstore.Store } // nil: there is none

// closing returns a hook that closes the store, but does not wait for a database that hangs. It also runs after a failed start.
func closing(store *gormstore.Store) fx.Hook {
	return fx.StopHook(func() error {
		closed := make(chan error, 1)
		go func() { closed <- store.Close() }()
		select {
		case err := <-closed:
			return err
		case <-time.After(closeTime):
			return fmt.Errorf("the database is not closed after %v", closeTime)
		}
	})
}

// openStore connects to the database, and migrates it if cfg allows it. Otherwise the readiness check, or Open, reports missing
// migrations.
func openStore(ctx context.Context, store *gormstore.Store, cfg Config) error {
	if cfg.Migrate && !cfg.ReadOnly {
		return store.BringUpToDate(ctx)
	}
	if err := store.Connect(ctx); err != nil {
		return err
	}
	if err := store.Ready(ctx); !errors.Is(err, gormstore.ErrOutdated) {
		return err
	}
	return nil
}

// storeUses stores the last-used times of tokens at intervals and at the end.
func storeUses(lifecycle fx.Lifecycle, cfg Config, app *Application) {
	if cfg.ReadOnly {
		return
	}
	uses := app.Tokens.Uses
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
			cfg.Logger.Warn("last-used times are not stored yet", zap.Int("tokens", uses.Pending()), zap.Error(err))
		}
	}))
}

// sweep removes expired pastes, if cfg says so.
func sweep(lifecycle fx.Lifecycle, cfg Config, app *Application) {
	if cfg.SweepInterval == 0 || cfg.ReadOnly {
		return
	}
	lifecycle.Append(repeat(cfg.SweepInterval, func(ctx context.Context) {
		removed, err := app.Pastes.Sweep.Do(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			cfg.Logger.Warn("sweep", zap.Int("removed", removed), zap.Error(err))
		case removed > 0:
			cfg.Logger.Info("sweep", zap.Int("removed", removed))
		}
	}))
}

// After a count, the next one waits totalsRest times as long as it took.
const (
	totalsInterval = 2 * time.Second
	totalsTimeout  = time.Minute
	totalsAtStart  = 5 * time.Second  // the timeout of the first count, during the start
	totalsPause    = 30 * time.Second // after a failure
	totalsRest     = 50
)

// countTotals counts what is stored at intervals, if cfg needs it, and updates pastes.Room.
func countTotals(lifecycle fx.Lifecycle, cfg Config, app *Application) {
	if !cfg.Totals && cfg.Pastes.MaxBytes == 0 {
		return
	}
	var next time.Time
	warned := false
	count := func(ctx context.Context, timeout time.Duration) {
		began := time.Now()
		if began.Before(next) {
			return
		}
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		totals, err := app.Stats.Sum.Do(limited)
		next = time.Now().Add(totalsRest * time.Since(began))
		if err != nil {
			next = time.Now().Add(totalsPause)
			if ctx.Err() == nil {
				cfg.Logger.Warn("cannot count what is stored", zap.Error(err))
			}
			return
		}
		bytes := totals.ContentBytes + totals.HistoryBytes
		app.Pastes.Room.Hold(bytes)
		full := cfg.Pastes.MaxBytes > 0 && bytes >= cfg.Pastes.MaxBytes/5*4
		if full && !warned {
			cfg.Logger.Warn("the pastes have four fifths of GLUEPOT_STORE_MAX_BYTES or more: creating ends when it is reached",
				zap.Int64("bytes", bytes), zap.Int64("limit", cfg.Pastes.MaxBytes))
		}
		warned = full
	}
	if cfg.Pastes.MaxBytes > 0 {
		lifecycle.Append(fx.StartHook(func(ctx context.Context) { count(ctx, totalsAtStart) }))
	}
	lifecycle.Append(repeat(totalsInterval, func(ctx context.Context) { count(ctx, totalsTimeout) }))
}

// repeat calls do in the background after each interval. Its stop hook cancels the running call and waits for it, but not for ever.
// A call that ends later loses nothing, since it works in transactions. So a late end is not an error.
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
