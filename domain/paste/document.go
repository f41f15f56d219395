package paste

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/token"
)

// Document is a paste with what it holds.
type Document struct {
	Paste
	Content
	Stars int64 // how many users have starred it
}

// DocumentFinder finds pastes with what they hold, whoever may see them.
type DocumentFinder interface {
	// DocumentByID returns the paste of that id, when it is active at the moment of reading. One that was made without content
	// has no pasties.
	// It fails with fault.NotFound when there is no such paste and with fault.Unavailable when the store does not answer.
	DocumentByID(ctx context.Context, id ID) (Document, error)
}

// DocumentReader finds pastes with what they hold for those who may see them.
type DocumentReader interface {
	// ReadDocument does what DocumentByID does for whoever presents the token of that hash; the zero hash is that of no token.
	// It fails with fault.NotFound also when Document.SeenBy refuses the paste: to the token's owner if Token.Verify accepts the
	// token at that time, and to everybody if not. What such a paste holds is not read, so that the time to the answer does not
	// tell it from one that does not exist.
	// In the same round trip, and even when there is no such paste, it returns the token of that hash, valid or not: the zero
	// token when there is none.
	ReadDocument(ctx context.Context, id ID, presented token.Hash, at time.Time) (Document, token.Token, error)
}

// DocumentCreator stores new pastes with what they hold, in one round trip each: all of it or nothing.
type DocumentCreator interface {
	// CreateDocument stores a paste; Stars are not stored. It fails with fault.Conflict, with ident.ErrTaken in the
	// error's chain, when the id is taken, and with fault.NotFound when the owner does not exist.
	CreateDocument(ctx context.Context, created Document) error
	// CreateOwnDocument stores a paste whose owner is that of the token with that hash, whatever its Owner says, if
	// Token.Verify accepts the token at the paste's time of creation, and returns the token in either case.
	// It fails with fault.NotFound when there is no such token, and with fault.Conflict as CreateDocument does.
	CreateOwnDocument(ctx context.Context, presented token.Hash, created Document) (token.Token, error)
}

// DocumentUpdater changes pastes.
type DocumentUpdater interface {
	// Update calls change with the token of that hash, valid or not, and the paste of that id, when it is active at the
	// moment of reading, in a transaction that lets nobody else change or delete the paste meanwhile, and stores and
	// returns the Document of the Change. Where there is no such token or paste, change gets the zero value. Two updates
	// at once so both hold. ID, Owner, CreatedAt, ExpiresAt, Lifetime, Cipher and Stars stay as they are.
	//
	// An error of change is returned, with the zero Document, and leaves everything as it was; so does a Change without
	// Changed. change must not call the store or modify what it is given, and can be called more than once, each time with
	// fresh values. Update fails with fault.NotFound when change accepts a paste that does not exist.
	Update(
		ctx context.Context, id ID, presented token.Hash, change func(holder token.Token, stored Document) (Change, error),
	) (Document, error)
}

// DocumentDeleter removes pastes for those who may remove them.
type DocumentDeleter interface {
	// DeleteIf calls allow as DocumentUpdater.Update calls change, but with the paste alone, and removes the paste with all
	// it holds unless allow fails, whose error it returns. It fails with fault.NotFound when allow accepts a paste that
	// does not exist.
	DeleteIf(ctx context.Context, id ID, presented token.Hash, allow func(holder token.Token, stored Paste) error) error
}
