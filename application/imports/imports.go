// Package imports has the use cases that import another installation's data. They can be run again at any time, also
// after being killed: records are stored by id, each batch in a transaction.
package imports

import (
	"context"
	"iter"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be brought in, in the order in which it has to be: pastes and keys have owners.
type UseCases struct {
	Users  *Users
	Keys   *Keys
	Pastes *Pastes
}

// New returns the use cases over their ports.
func New(users user.Store, tokens token.Store, pastes paste.Store, now func() time.Time) *UseCases {
	return &UseCases{
		Users:  &Users{users: users, now: now},
		Keys:   &Keys{tokens: tokens, now: now},
		Pastes: &Pastes{pastes: pastes},
	}
}

// Record is one record of a source, or the reason why it could not be read.
type Record[T any] struct {
	Value T
	Err   error  // a *fault.Error: the record is broken
	Line  int    // where it begins in the source, counted from 1
	Raw   []byte // its text, unchanged; only valid until the next record is asked for
}

// Records are the records of a source in their order. An error ends them.
type Records[T any] = iter.Seq2[Record[T], error]

// Source returns the records of another installation. They must end soon after ctx ends.
type Source[T any] func(ctx context.Context) Records[T]

// Summary counts outcomes. Read is the sum of the others.
type Summary struct {
	Read, New, Updated, Unchanged, RemovedEarlier, Rejected int64
}

// Reject records a rejected record; raw is only valid during the call. An error ends the import.
type Reject func(line int, raw []byte, reason error) error
