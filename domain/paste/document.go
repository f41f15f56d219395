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

// DocumentFinder finds pastes with what they hold, also private and encrypted ones.
type DocumentFinder interface {
	// DocumentByID returns the paste of that id, when it is active at the moment of reading. One that was made without content
	// has no pasties.
	// It fails with fault.NotFound when there is no such paste and with fault.Unavailable when the store does not answer.
	DocumentByID(ctx context.Context, id ID) (Document, error)
}

// DocumentReader finds pastes with their content for readers who may see them.
type DocumentReader interface {
	// ReadDocument does what DocumentByID does for the user with that id, and says whether that user has starred the paste; the
	// empty id is a visitor who has not signed in. It fails with fault.NotFound also when Document.SeenBy refuses the paste to
	// that reader, and with ErrBurns where that does. What such a paste holds is not read, so that the time to the answer does
	// not tell it from one that does not exist.
	ReadDocument(ctx context.Context, id ID, reader user.ID) (Document, error)
}

// CipherReader finds encrypted pastes for those who may have them.
type CipherReader interface {
	// ReadCipher does what DocumentReader.ReadDocument does, by Document.CipherSeenBy.
	ReadCipher(ctx context.Context, id ID, reader user.ID) (Document, error)
}

// DocumentCreator stores new pastes with what they hold: all of it or nothing.
type DocumentCreator interface {
	// CreateDocument stores a paste; Stars and Starred are not stored. It fails with fault.Conflict, with ident.ErrTaken in the
	// error's chain, when the id is taken, and with fault.NotFound when the owner does
	// not exist.
	CreateDocument(ctx context.Context, created Document) error
}

// DocumentUpdater changes pastes.
type DocumentUpdater interface {
	// Update calls change with the paste of that id, in a transaction that lets no other caller change or delete the paste
	// meanwhile, and stores and returns the Document of the Change. Two updates at once so both hold. ID, CreatedAt, Burns,
	// Cipher and Stars stay as they are; Starred is not looked for.
	//
	// An error of change is returned, with the zero Document, and leaves everything as it was; so does a Change without
	// Changed. change must not call the store or modify what it is given, and can be called more than once, each time with
	// fresh values. Update fails with fault.NotFound, without a call of change, when no paste with that id is active.
	Update(ctx context.Context, id ID, change func(stored Document) (Change, error)) (Document, error)
}

// DocumentBurner gives away what pastes hold that burn after reading.
type DocumentBurner interface {
	// Burn removes the paste of that id as DocumentDeleter.DeleteIf does, and returns what it held: to one of any number of
	// callers at once, and only when the removal cannot be undone any more. It fails with fault.NotFound when no paste
	// with that id is active, or Document.BurnableBy refuses it to that reader. After another error the paste may be gone.
	Burn(ctx context.Context, id ID, reader user.ID) (Document, error)
}

// DocumentDeleter removes pastes.
type DocumentDeleter interface {
	// DeleteIf calls allow with the paste of that id, as DocumentUpdater.Update calls change, and removes the paste with all
	// it holds unless allow fails, whose error it returns. A tombstone stays, which Importer respects. It fails with
	// fault.NotFound, without a call of allow, when no paste with that id is active.
	DeleteIf(ctx context.Context, id ID, allow func(stored Paste) error) error
}
