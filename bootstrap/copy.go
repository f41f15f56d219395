package bootstrap

import (
	"context"
	"fmt"

	"go.uber.org/fx"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/copies"
)

// OpenCopy connects to two databases and returns the use case that copies one to the other, and a function that closes
// both. Both must have exactly the migrations that this program knows; with migrate, it creates and migrates a target
// that has none. progress, which may be nil, is not called concurrently.
//
// It fails as Open does; then nothing stays open.
func OpenCopy(
	ctx context.Context, from, to gormstore.Config, migrate bool, progress func(copies.Progress),
) (*copies.Copy, func() error, error) {
	from.RefuseWrites, from.Offline = true, true
	from.MaxConnections, to.MaxConnections = 2, 2 // two are enough
	source := func(lifecycle fx.Lifecycle) (*gormstore.Copies, error) {
		return newCopies(lifecycle, "source", from, openSource)
	}
	target := func(lifecycle fx.Lifecycle, _ copies.Source) (*gormstore.Copies, error) { // opened after the source
		return newCopies(lifecycle, "target", to, func(ctx context.Context, target *gormstore.Store) error {
			return openTarget(ctx, target, migrate)
		})
	}
	var useCase *copies.Copy
	stop, err := Start(ctx, fx.NopLogger, fx.Populate(&useCase), fx.Module("copies", fx.Provide(
		func(source copies.Source, target copies.Target) *copies.Copy {
			return copies.New(source, target, progress)
		},
		fx.Annotate(source, fx.As(new(copies.Source))),
		fx.Annotate(target, fx.As(new(copies.Target))),
	)))
	if err != nil {
		return nil, nil, err
	}
	return useCase, func() error { return stop(ctx) }, nil
}

// newCopies returns one side of a copy, whose errors say which.
func newCopies(
	lifecycle fx.Lifecycle, side string, cfg gormstore.Config, open func(context.Context, *gormstore.Store) error,
) (*gormstore.Copies, error) {
	store, err := gormstore.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("the %s: %w", side, err)
	}
	lifecycle.Append(fx.StopHook(store.Close)) // however long it takes: SQLite moves its log into the file
	lifecycle.Append(fx.StartHook(func(ctx context.Context) error {
		if err := open(ctx, store); err != nil {
			return fmt.Errorf("the %s: %w", side, err)
		}
		return nil
	}))
	return gormstore.NewCopies(store), nil
}

func openSource(ctx context.Context, source *gormstore.Store) error {
	if err := source.Connect(ctx); err != nil {
		return err
	}
	if err := source.Ready(ctx); err != nil {
		return err
	}
	schema, err := source.Schema(ctx)
	if err != nil {
		return err
	}
	return schema.Same()
}

// openTarget migrates only a database without migrations: the copy refuses any other that is not empty.
func openTarget(ctx context.Context, target *gormstore.Store, migrate bool) error {
	if migrate {
		if err := target.Create(ctx); err != nil {
			return err
		}
	}
	if err := target.Connect(ctx); err != nil {
		return err
	}
	schema, err := target.Schema(ctx)
	if err != nil {
		return err
	}
	if schema.Version == 0 && migrate {
		_, err := target.Migrate(ctx)
		return err
	}
	return schema.Same()
}
