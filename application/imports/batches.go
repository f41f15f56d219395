package imports

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/batch"
)

// A batch ends at whichever bound comes first: few enough records to hold locks for a short time, and little enough
// text to keep memory small when records are large.
const (
	batchRecords = 2000
	batchBytes   = 4 << 20
	// largeRecord is the longest text, in bytes, that a batch copies. A longer one ends its batch, so that memory never
	// holds several.
	largeRecord = 1 << 20
)

// run carries records from the source to the store, a batch at a time. build converts a record to the value to store.
// Records that could not be read or converted are rejected with their batch, in the order of the source, even if the
// store fails. It fails with fault.Forbidden unless the actor is the operator.
func run[R, T any](
	ctx context.Context, actor audit.Actor, source Source[R], reject Reject,
	build func(R) (T, error), store func(context.Context, []T) ([]batch.Result, error),
) (s Summary, err error) {
	if err := actor.CheckOperator(); err != nil {
		return Summary{}, err
	}
	var (
		values  []T
		records []Record[R] // of this batch, in order
		size    int
	)
	flush := func() error {
		var results []batch.Result
		var storeErr, rejectErr error // of the store, and of reject
		if len(values) > 0 {
			results, storeErr = store(ctx, values)
		}
		for _, record := range records {
			if record.Err == nil {
				if storeErr != nil {
					continue // its outcome is unknown
				}
				record.Err = s.count(results[0])
				results = results[1:]
			}
			if record.Err != nil && rejectErr == nil {
				if rejectErr = reject(record.Line, record.Raw, record.Err); rejectErr == nil {
					s.Read++
					s.Rejected++
				}
			}
		}
		values, records, size = nil, nil, 0
		return cmp.Or(storeErr, rejectErr, context.Cause(ctx))
	}
	for record, err := range source(ctx) {
		if err != nil {
			if ctx.Err() == nil {
				err = errors.Join(flush(), err)
			}
			return s, err
		}
		if size+len(record.Raw) > batchBytes {
			if err := flush(); err != nil {
				return s, err
			}
		}
		large := len(record.Raw) > largeRecord
		if !large {
			record.Raw = bytes.Clone(record.Raw)
		}
		if record.Err == nil {
			var value T
			if value, record.Err = build(record.Value); record.Err == nil {
				values = append(values, value)
			}
		}
		record.Value = *new(R) // it is not needed any more
		records, size = append(records, record), size+len(record.Raw)
		if large || len(records) == batchRecords {
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

// count counts an accepted record, or returns the reason why the record was not accepted.
func (s *Summary) count(result batch.Result) error {
	if result.Err != nil {
		return result.Err
	}
	s.Read++
	switch result.Outcome {
	case batch.New:
		s.New++
	case batch.Updated:
		s.Updated++
	case batch.Unchanged:
		s.Unchanged++
	case batch.RemovedEarlier:
		s.RemovedEarlier++
	}
	return nil
}
