package imports

import (
	"bytes"
	"context"
	"errors"

	"github.com/gluepot/gluepot/domain/batch"
)

// A batch ends at whichever bound comes first: few enough records to hold locks for a short time, and little enough text to keep memory
// small when records are large.
const (
	batchRecords = 2000
	batchBytes   = 4 << 20
	// largeRecord is the longest text, in bytes, that a batch copies. A longer one ends its batch, so that memory never holds
	// several.
	largeRecord = 1 << 20
)

// item is a value to store, or the reason why its record is rejected.
type item[T any] struct {
	line  int
	raw   []byte
	value T
	err   error
}

// run carries records from the source to the store, a batch at a time. build converts a record to the value to store.
func run[R, T any](
	ctx context.Context, source Source[R], reject Reject,
	build func(R) (T, error), store func(context.Context, []T) ([]batch.Result, error),
) (s Summary, err error) {
	var (
		items []item[T]
		size  int
	)
	flush := func() error {
		if err := storeBatch(ctx, items, &s, reject, store); err != nil {
			return err
		}
		items, size = nil, 0
		return context.Cause(ctx)
	}
	for record, err := range source(ctx) {
		if err != nil {
			if ctx.Err() == nil {
				err = errors.Join(flush(), err)
			}
			return s, err
		}
		next := item[T]{line: record.Line, raw: record.Raw, err: record.Err}
		if next.err == nil {
			next.value, next.err = build(record.Value)
		}
		if len(items) > 0 && size+len(next.raw) > batchBytes {
			if err := flush(); err != nil {
				return s, err
			}
		}
		large := len(next.raw) > largeRecord
		if !large {
			next.raw = bytes.Clone(next.raw)
		}
		items, size = append(items, next), size+len(next.raw)
		if large || len(items) == batchRecords {
			if err := flush(); err != nil {
				return s, err
			}
		}
	}
	if ctx.Err() != nil { // there may be more records
		return s, context.Cause(ctx)
	}
	return s, flush()
}

// storeBatch stores the valid items, counts the outcomes, and passes rejected records to reject. Records that could not be read
// are passed on even if the store fails.
func storeBatch[T any](
	ctx context.Context, items []item[T], s *Summary, reject Reject, store func(context.Context, []T) ([]batch.Result, error),
) error {
	values := make([]T, 0, len(items))
	for i := range items {
		if items[i].err == nil {
			values = append(values, items[i].value)
		}
	}
	var (
		results  []batch.Result
		failure  error // of the store
		unwanted error // of reject
	)
	if len(values) > 0 {
		results, failure = store(ctx, values)
	}
	for i := range items {
		reason := items[i].err
		if reason == nil {
			if failure != nil {
				continue // its outcome is unknown
			}
			reason = s.count(results[0])
			results = results[1:]
		}
		if reason != nil {
			if unwanted == nil {
				unwanted = reject(items[i].line, items[i].raw, reason)
			}
			if unwanted != nil {
				continue // it was not recorded
			}
			s.Rejected++
		}
		s.Read++
	}
	if failure != nil {
		return failure
	}
	return unwanted
}

// count counts a record that was accepted, and returns the reason why one was not.
func (s *Summary) count(result batch.Result) error {
	switch {
	case result.Err != nil:
	case result.Outcome == batch.New:
		s.New++
	case result.Outcome == batch.Updated:
		s.Updated++
	case result.Outcome == batch.Unchanged:
		s.Unchanged++
	case result.Outcome == batch.RemovedEarlier:
		s.RemovedEarlier++
	}
	return result.Err
}
