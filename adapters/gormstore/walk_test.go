package gormstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// TestVisitorsWaitForOthers has a visitor want a place that somebody has who will give it up: of another store, as when one is
// copied to another, or of the same one.
func TestVisitorsWaitForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bulk, lists, writes := newGate(2), newGate(1), newGate(1)
		writerLeaves, err := enter(t.Context(), writes, bulk)
		if err != nil {
			t.Fatal(err)
		}
		visited := make(chan error, 1)
		go func() { visited <- walkAndEnter(t.Context(), []*gate{lists, bulk}, []*gate{writes, bulk}) }()
		synctest.Wait()
		writerLeaves()
		if err := <-visited; err != nil {
			t.Errorf("a visitor who waits for a writer: got %v, want it to wait", err)
		}
	})
}

// TestVisitorsDoNotWaitForThemselves has visitors want what only the end of a walk could make room for.
func TestVisitorsDoNotWaitForThemselves(t *testing.T) {
	t.Parallel()
	bulk, lists, writes := newGate(2), newGate(1), newGate(1)
	if err := walkAndEnter(t.Context(), []*gate{lists, bulk}, []*gate{lists, bulk}); !errors.Is(err, errNested) {
		t.Errorf("a list within a list: got %v, want %v", err, errNested)
	}
	err := visitAfter(t.Context(), []*gate{lists, bulk}, func() error {
		return <-inGoroutine(func() error { return walkAndEnter(t.Context(), []*gate{writes, bulk}, []*gate{lists, bulk}) })
	})
	if !errors.Is(err, errNested) {
		t.Errorf("a list within an update, beside a visitor of a list: got %v, want %v", err, errNested)
	}
	single := newGate(1) // a pool of two or three connections
	if err := walkAndEnter(t.Context(), []*gate{lists, single}, []*gate{writes, single}); !errors.Is(err, errNested) {
		t.Errorf("a write within a list where bulk work has one connection: got %v, want %v", err, errNested)
	}
}

// walkAndEnter has a visitor of a walk behind some gates pass others.
func walkAndEnter(ctx context.Context, outer, inner []*gate) error {
	return visitAfter(ctx, outer, func() error {
		leave, err := enter(ctx, inner...)
		if err == nil {
			leave()
		}
		return err
	})
}

func visitAfter(ctx context.Context, gates []*gate, visit func() error) error {
	leave, err := enter(ctx, gates...)
	if err != nil {
		return err
	}
	defer leave()
	return visiting(visit, gates...)
}

func inGoroutine(do func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	return done
}

// TestVisitorsDoNotJoinLookups has a visitor look something up that somebody else, who is no visitor, waits for already: for room that
// only the end of the walk makes.
func TestVisitorsDoNotJoinLookups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bulk := newGate(1)
		one := func(ctx context.Context, key int) (int, error) {
			leave, err := enter(ctx, bulk)
			if err != nil {
				return 0, err
			}
			defer leave()
			return key, nil
		}
		many := func(ctx context.Context, keys []int) ([]found[int], error) {
			_, err := one(ctx, keys[0])
			return make([]found[int], len(keys)), err
		}
		lookups := newDataloader(2, new(batchSizes), one, many, bulk)
		var others <-chan error
		ctx, cancel := context.WithTimeout(t.Context(), batchTimeout)
		defer cancel()
		err := visitAfter(ctx, []*gate{bulk}, func() error {
			others = inGoroutine(func() error { _, err := lookups.find(ctx, 1); return err })
			synctest.Wait()
			_, err := lookups.find(ctx, 2)
			return err
		})
		if !errors.Is(err, errNested) {
			t.Errorf("a visitor's lookup: got %v, want %v", err, errNested)
		}
		if err := <-others; err != nil {
			t.Errorf("the lookup of somebody else: got %v, want it after the walk", err)
		}
	})
}
