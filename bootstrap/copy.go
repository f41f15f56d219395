package bootstrap

import (
	"context"
	"errors"
	"fmt"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/copies"
)

// OpenCopy connects to two databases and returns the use case that copies one to the other, and a function that closes both. Both must
// have exactly the migrations that this program knows; with migrate, it creates and migrates a target that has none. progress,
// which may be nil, is not called concurrently.
//
// It fails as Open does; then nothing stays open.
func OpenCopy(
	ctx context.Context, from, to gormstore.Config, migrate bool, progress func(copies.Progress),
) (*copies.Copy, func() error, error) {
	from.RefuseWrites, from.Offline = true, true
	from.MaxConnections, to.MaxConnections = 2, 2 // two are enough
	source, err := gormstore.New(from)
	if err != nil {
		return nil, nil, fmt.Errorf("the source: %w", err)
	}
	target, err := gormstore.New(to)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the target: %w", err), source.Close())
	}
	closeBoth := func() error { return errors.Join(source.Close(), target.Close()) }
	if err := openSource(ctx, source); err != nil { // before the target is created
		return nil, nil, errors.Join(fmt.Errorf("the source: %w", err), closeBoth())
	}
	if err := openTarget(ctx, target, migrate); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the target: %w", err), closeBoth())
	}
	return copies.New(gormstore.NewCopies(source), gormstore.NewCopies(target), progress), closeBoth, nil
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
