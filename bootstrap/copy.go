package bootstrap

import (
	"context"
	"errors"
	"fmt"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/copies"
)

// copyConnections are enough for both ends of a copy: one reads while one writes.
const copyConnections = 2

// OpenCopy connects to two databases and returns the use case that copies the one to the other, and a function that closes
// both. The target is created and migrated if need be; the source is not changed, and must have exactly the migrations that
// this program knows. progress is called by one goroutine at a time; it may be nil.
//
// It fails as Open does; then nothing stays open.
func OpenCopy(
	ctx context.Context, from, to gormstore.Config, progress func(copies.Progress),
) (*copies.Copy, func() error, error) {
	from.ReplicaURLs, to.ReplicaURLs = nil, nil
	from.MaxConnections, to.MaxConnections = copyConnections, copyConnections
	source, err := gormstore.New(from)
	if err != nil {
		return nil, nil, fmt.Errorf("the source: %w", err)
	}
	target, err := gormstore.New(to)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the target: %w", err), source.Close())
	}
	closeBoth := func() error { return errors.Join(source.Close(), target.Close()) }
	if err := openSource(ctx, source); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the source: %w", err), closeBoth())
	}
	if err := openTarget(ctx, target); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("the target: %w", err), closeBoth())
	}
	return copies.New(gormstore.NewCopies(source), gormstore.NewCopies(target), progress), closeBoth, nil
}

func openSource(ctx context.Context, source *gormstore.Store) error {
	if err := source.Connect(ctx); err != nil {
		return err
	}
	schema, err := source.Schema(ctx)
	if err != nil {
		return err
	}
	return schema.Same()
}

func openTarget(ctx context.Context, target *gormstore.Store) error {
	if err := target.BringUpToDate(ctx); err != nil {
		return err
	}
	schema, err := target.Schema(ctx)
	if err != nil {
		return err
	}
	return schema.Same()
}
