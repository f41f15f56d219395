package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

const (
	// standbyCheckTime is how long a start waits for the standby.
	standbyCheckTime = 2 * time.Second
	// closeTime is how long a stop waits for a database that hangs.
	closeTime = 2 * time.Second
)

var (
	storeModule = fx.Module("store", fx.Provide(newStore))
	// dataloaderModule is left out on SQLite and where Config.Dataloader is false.
	dataloaderModule = fx.Module("dataloader", fx.Provide(dataloader.New))
	// standbyModule is left out without Config.ReadURL.
	standbyModule = fx.Module("standby", fx.Provide(newStandby))
)

// storeParams are what the stores of a graph need beside their Config.
type storeParams struct {
	fx.In

	Config Config
	Log    logger
	Tracer pgx.QueryTracer `optional:"true"`
}

func (in storeParams) database() gormstore.Config {
	cfg := in.Config.Database
	cfg.RefuseWrites = in.Config.ReadOnly
	if cfg.Tracer == nil {
		cfg.Tracer = in.Tracer
	}
	if cfg.OnSlowStatement == nil {
		cfg.OnSlowStatement = func(slow gormstore.Statement) {
			in.Log.Warn("a statement was slow",
				zap.String("statement", slow.SQL), zap.Duration("duration", slow.Duration), zap.Int64("rows", slow.Rows))
		}
	}
	return cfg
}

// newStore returns the store. All ports depend on it, so that it opens first and closes last.
func newStore(lifecycle fx.Lifecycle, in storeParams) (*gormstore.Store, error) {
	store, err := gormstore.New(in.database())
	if err != nil {
		return nil, err
	}
	lifecycle.Append(closing(store))
	lifecycle.Append(fx.StartHook(func(ctx context.Context) error { return open(ctx, store, in.Config) }))
	return store, nil
}

// open connects to the database, and migrates it if cfg allows it.
func open(ctx context.Context, store *gormstore.Store, cfg Config) error {
	if cfg.Migrate && !cfg.ReadOnly {
		return store.BringUpToDate(ctx)
	}
	if err := store.Connect(ctx); err != nil {
		return err
	}
	err := store.Ready(ctx)
	if cfg.AllowPendingMigrations && errors.Is(err, gormstore.ErrOutdated) {
		return nil // the readiness check says so
	}
	return err
}

// closing returns a hook that closes a store, but does not wait for a database that hangs.
func closing(store *gormstore.Store) fx.Hook {
	return fx.StopHook(func() error {
		closed := make(chan error, 1)
		go func() { closed <- store.Close() }()
		select {
		case err := <-closed:
			return err
		case <-time.After(closeTime):
			return fmt.Errorf("the database did not close within %v", closeTime)
		}
	})
}

// standby is where public profiles may be read from.
type standby struct {
	users dataloader.StaleFinder
	lag   func(context.Context) (time.Duration, error)
}

func newStandby(lifecycle fx.Lifecycle, in storeParams, primary *gormstore.Store) (*standby, error) {
	cfg := in.database()
	cfg.URL, cfg.URLSetting, cfg.Standby = in.Config.ReadURL, "GLUEPOT_DATABASE_READ_URL", true
	cfg.Reread = in.Config.RereadReadURL
	store, err := gormstore.New(cfg)
	if err != nil {
		return nil, err
	}
	lifecycle.Append(closing(store))
	lifecycle.Append(fx.StartHook(func(ctx context.Context) error { return checkStandby(ctx, primary, store) }))
	users := gormstore.NewUsers(store)
	if in.Config.Dataloader {
		return &standby{dataloader.New(store).Users(users), store.Lag}, nil
	}
	return &standby{users, store.Lag}, nil
}

var errOtherStandby = fault.New(fault.Conflict,
	"GLUEPOT_DATABASE_READ_URL leads to another database than GLUEPOT_DATABASE_URL. "+
		"Set it to a standby of that one, or leave it out.")

// checkStandby fails if the standby is another installation, such as the source of a copy: it would go on showing
// profiles that were deleted or made private. A standby that does not answer is not waited for.
func checkStandby(ctx context.Context, primary, standby *gormstore.Store) error {
	ctx, cancel := context.WithTimeout(ctx, standbyCheckTime)
	defer cancel()
	theirs, err := gormstore.NewCopies(standby).Installation(ctx)
	if err != nil {
		return nil // it is asked again for each profile
	}
	ours, err := gormstore.NewCopies(primary).Installation(ctx)
	if err == nil && ours.UID != theirs.UID {
		return errOtherStandby
	}
	return nil // a missing schema is reported by the readiness check
}

// storeParts are what the ports of tokens and pastes stand on.
type storeParts struct {
	fx.In

	Store      *gormstore.Store
	Dataloader *dataloader.Dataloader `optional:"true"`
}

// userParts are what the ports of users stand on.
type userParts struct {
	fx.In

	Store      *gormstore.Store
	Dataloader *dataloader.Dataloader `optional:"true"`
	Standby    *standby               `optional:"true"`
}

func newUserStore(in userParts) (store user.Store) {
	store = gormstore.NewUsers(in.Store)
	if in.Dataloader != nil {
		store = in.Dataloader.Users(store)
	}
	if in.Standby != nil {
		store = dataloader.NewStandby(in.Standby.users, in.Standby.lag, store)
	}
	return store
}

func newTokenStore(in storeParts) (tokens token.Store) {
	tokens = gormstore.NewTokens(in.Store)
	if in.Dataloader != nil {
		tokens = in.Dataloader.Tokens(tokens)
	}
	return tokens
}

func newPasteStore(in storeParts) (pastes paste.Store) {
	pastes = gormstore.NewPastes(in.Store)
	if in.Dataloader != nil {
		pastes = in.Dataloader.Pastes(pastes)
	}
	return pastes
}
