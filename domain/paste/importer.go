package paste

import (
	"context"

	"github.com/gluepot/gluepot/domain/batch"
)

// Orphans says what becomes of a paste that is imported and whose owner is not a user here.
type Orphans uint8

// What can become of them.
const (
	RefuseOrphans    Orphans = iota // they are not stored
	AnonymizeOrphans                // they are stored without an owner
)

// Importer stores pastes that another installation has made.
type Importer interface {
	// Import stores the pastes with all they hold, by id, in one transaction: it creates those that are new and brings the
	// others into line, history included. Stars are not stored. The results are in the pastes' order. One that was deleted
	// here and is not there, and one whose owner was, is batch.RemovedEarlier: nothing of it is stored, whatever orphans
	// says. One that has expired and was swept is new again. One of an owner who was never here is refused with
	// fault.NotFound, unless orphans says otherwise. An error means that nothing was stored.
	Import(ctx context.Context, pastes []Document, orphans Orphans) ([]batch.Result, error)
}
