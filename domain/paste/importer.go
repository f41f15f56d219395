package paste

import (
	"context"

	"github.com/gluepot/gluepot/domain/batch"
)

// Orphans says what happens to imported pastes whose owner is not a user here.
type Orphans uint8

// What can become of them.
const (
	RefuseOrphans    Orphans = iota // they are not stored
	AnonymizeOrphans                // they are stored without an owner
)

// Importer stores pastes that another installation has made.
type Importer interface {
	// Import stores the pastes with all they hold, by id, in one transaction: it creates new ones and replaces the others, history
	// included. Stars are not stored. The results are in the pastes' order. A paste that was deleted here, itself or with its
	// owner, is batch.RemovedEarlier, whatever orphans says: nothing of it is stored. One that expired and was swept is created
	// again. One of an unknown owner is refused with fault.NotFound, unless orphans says otherwise. An error means that nothing was
	// stored.
	Import(ctx context.Context, pastes []Document, orphans Orphans) ([]batch.Result, error)
}
