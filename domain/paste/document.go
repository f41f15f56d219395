package paste

import (
	"context"

	"github.com/gluepot/gluepot/domain/user"
)

// Document is a paste with what it holds.
type Document struct {
	Paste
	Content
	Stars   int64 // how many users have starred it
	Starred bool  // whether its reader has: see DocumentReader
}

// DocumentFinder finds pastes with their content, also private and encrypted ones.
type DocumentFinder interface {
	// DocumentByID returns the paste with that id if it is active at the moment of reading. A paste made without content has no
	// pasties. It fails with fault.NotFound when there is no such paste and with fault.Unavailable when the store does not answer.
	DocumentByID(ctx context.Context, id ID) (Document, error)
}

// DocumentReader finds pastes with their content for readers who may see them.
type DocumentReader interface {
	// ReadDocument is DocumentByID for a reader, and says whether the reader has starred the paste; the empty id is a visitor. It
	// also fails as Document.SeenBy does. The content of a refused paste is not read, so that the time of the answer does not
	// reveal that it exists.
	ReadDocument(ctx context.Context, id ID, reader user.ID) (Document, error)
}

// CipherReader finds encrypted pastes for those who may have them.
type CipherReader interface {
	// ReadCipher is DocumentReader.ReadDocument with Document.CipherSeenBy in the place of SeenBy.
	ReadCipher(ctx context.Context, id ID, reader user.ID) (Document, error)
}

// DocumentCreator stores new pastes with their content, in one transaction.
type DocumentCreator interface {
	// CreateDocument stores a paste; Stars and Starred are not stored. It fails with fault.Conflict, with ident.ErrTaken in the
	// error's chain, when the id is taken, and with fault.NotFound when the owner does
	// not exist.
	CreateDocument(ctx context.Context, created Document) error
}

// DocumentUpdater changes pastes.
type DocumentUpdater interface {
	// Update locks the paste with that id, calls change with it, and stores and returns the Document of the Change, in one
	// transaction. So concurrent updates do not overwrite each other. ID, CreatedAt, Burns, Cipher and Stars cannot change; Starred
	// is not read.
	//
	// An error of change is returned with the zero Document, and nothing is stored, as without Change.Changed. change must not call
	// the store or modify its argument, and may be called again with fresh values. Update fails with fault.NotFound, without a call
	// of change, when no paste with that id is active.
	Update(ctx context.Context, id ID, change func(stored Document) (Change, error)) (Document, error)
}

// DocumentBurner opens pastes that burn after reading.
type DocumentBurner interface {
	// Burn removes the paste with that id as DocumentDeleter.DeleteIf does, and returns its content. Only one of several callers
	// gets it, and only once the removal is committed. It fails with fault.NotFound when no paste with that id is active, or
	// Document.BurnableBy refuses it. After another error the paste may be gone.
	Burn(ctx context.Context, id ID, reader user.ID) (Document, error)
}

// DocumentDeleter removes pastes.
type DocumentDeleter interface {
	// DeleteIf calls allow with the locked paste, as DocumentUpdater.Update calls change. It removes the paste, or returns the
	// error of allow. A tombstone stays, which Importer respects. It fails with fault.NotFound, without a call of allow, when no
	// paste with that id is active.
	DeleteIf(ctx context.Context, id ID, allow func(stored Paste) error) error
}
