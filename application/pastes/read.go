package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// Read reads a paste as the viewer may see it.
type Read struct{ *module }

// Do returns the paste with that id as the viewer sees it: see paste.Document.ForReader.
//
// It fails with paste.ErrBurns for another user's paste that can be opened once, and with the same paste.ErrNotFound
// for one that does not exist, has expired, is encrypted or is another user's private one.
func (r *Read) Do(ctx context.Context, viewer token.Viewer, id string) (paste.Document, error) {
	document, err := r.store.ReadDocument(ctx, paste.ID(id), viewer.User.ID)
	if err != nil {
		return paste.Document{}, paste.ReplaceNotFound(err)
	}
	return document.ForReader(viewer.User.ID)
}

// Cipher returns the encrypted paste with that id, which its reader can open, without tags. It fails as Do does, with
// paste.ErrBurns even for the owner, and with paste.ErrNotFound for a paste that is not encrypted, or that PasteMyst
// has encrypted.
func (r *Read) Cipher(ctx context.Context, viewer token.Viewer, id string) (paste.Document, error) {
	document, err := r.store.ReadCipher(ctx, paste.ID(id), viewer.User.ID)
	return document, paste.ReplaceNotFound(err)
}

// Revision returns the paste with that id, which the viewer may see, as paste.Content.AsOf returns it, or as it is if
// edit is empty. It fails as Do and AsOf do, and with paste.ErrNotFound for an edit of a paste that burns.
func (r *Read) Revision(ctx context.Context, viewer token.Viewer, id, edit string) (paste.Document, error) {
	if edit == "" {
		return r.Do(ctx, viewer, id)
	}
	document, err := r.History(ctx, viewer, id)
	if err != nil {
		return document, err
	}
	document.Content, err = document.AsOf(edit)
	return document, err
}

// History returns the paste with that id, which the viewer may see, for a reader of its edits. It fails as Do does, and
// with paste.ErrNotFound for a paste that burns.
func (r *Read) History(ctx context.Context, viewer token.Viewer, id string) (paste.Document, error) {
	document, err := r.Do(ctx, viewer, id)
	if err == nil && document.Burns {
		return paste.Document{}, paste.ErrNotFound
	}
	return document, err
}

// CheckHistory fails as History does. It does not read the paste's content.
func (r *Read) CheckHistory(ctx context.Context, viewer token.Viewer, id string) error {
	_, err := r.withoutContent(ctx, viewer, id)
	return err
}

// withoutContent is History without the content.
func (r *Read) withoutContent(ctx context.Context, viewer token.Viewer, id string) (paste.Document, error) {
	document, err := r.store.ReadWithoutContent(ctx, paste.ID(id), viewer.User.ID)
	if err == nil && document.Burns {
		return paste.Document{}, paste.ErrNotFound
	}
	return document, paste.ReplaceNotFound(err)
}

// Raw returns one pasty of what Revision returns, or the first if pasty is empty. It fails as that does, and with
// paste.ErrNotFound when the paste has no such pasty.
func (r *Read) Raw(ctx context.Context, viewer token.Viewer, id, pasty, edit string) (paste.Pasty, error) {
	if edit == "" {
		document, err := r.store.ReadPasty(ctx, paste.ID(id), pasty, viewer.User.ID)
		return document, paste.ReplaceNotFound(err)
	}
	document, err := r.Revision(ctx, viewer, id, edit)
	if err != nil {
		return paste.Pasty{}, err
	}
	return document.PastyOrFirst(pasty)
}

// errRemoved is what pages say about a paste that operators have removed.
var errRemoved = fault.New(fault.Gone, "This paste was removed by the operator.")

// Explain tells people why a paste was not found. It returns a fault.Gone when the paste with that id was removed and
// had been readable by its link; otherwise it returns cause.
func (r *Read) Explain(ctx context.Context, id string, cause error) error {
	if !fault.Is(cause, fault.NotFound) {
		return cause
	}
	public, err := r.store.RemovalNotice(ctx, paste.ID(id))
	switch {
	case err != nil:
		return err
	case public:
		return errRemoved
	}
	return cause
}

// Show reads any paste, for the operator.
type Show struct{ *module }

// Do returns the paste with that id as its owner sees it; for an encrypted paste, that is the cipher. It fails with
// fault.Forbidden unless the actor is the operator, and with paste.ErrNotFound when no paste with that id is active.
func (s *Show) Do(ctx context.Context, actor audit.Actor, id string) (paste.Document, error) {
	if err := actor.CheckOperator(); err != nil {
		return paste.Document{}, err
	}
	document, err := s.store.DocumentByID(ctx, paste.ID(id))
	return document, paste.ReplaceNotFound(err)
}

// Open reads a paste that burns after reading.
type Open struct{ *module }

// Do removes the paste with that id and returns it, once and to one caller, as the viewer would have seen it.
//
// It fails with paste.ErrNotFound, whatever the reason, for a paste that does not exist, has expired or was opened,
// that does not burn, or is another user's private one. After another error the paste may be gone.
func (o *Open) Do(ctx context.Context, actor audit.Actor, id string) (paste.Document, error) {
	viewer, err := actor.Writer()
	if err != nil {
		return paste.Document{}, err
	}
	document, err := o.store.Burn(ctx, paste.ID(id), viewer.User.ID)
	if !document.OwnedBy(viewer.User.ID) {
		document.Tags = nil
	}
	return document, paste.ReplaceNotFound(err)
}

// Star lets signed-in users star pastes that they may read.
type Star struct{ read *Read }

// Do adds the paste to the viewer's stars, or removes it from them. Repeating a call changes nothing. A star can be
// removed even when its paste is gone.
//
// It fails as Read.History does when the paste is to be starred, and with token.ErrRejected when the viewer was deleted
// meanwhile.
func (s *Star) Do(ctx context.Context, actor audit.Actor, id string, starred bool) error {
	viewer, err := actor.User()
	if err != nil {
		return err
	}
	if !starred {
		return fault.Replace(s.read.store.Unstar(ctx, actor.Address(), viewer.User.ID, paste.ID(id)), fault.NotFound, nil)
	}
	if _, err := s.read.withoutContent(ctx, viewer, id); err != nil {
		return err
	}
	return fault.Replace(s.read.store.Star(ctx, actor.Address(), viewer.User.ID, paste.ID(id)), fault.NotFound,
		token.ErrRejected)
}

// Count is Do, and returns how many users star the paste then. After it has removed a star, it fails with
// paste.ErrNotFound when the viewer may not read the paste.
func (s *Star) Count(ctx context.Context, actor audit.Actor, id string, starred bool) (int64, error) {
	if err := s.Do(ctx, actor, id, starred); err != nil {
		return 0, err
	}
	viewer, err := actor.User()
	if err != nil {
		return 0, err
	}
	document, err := s.read.withoutContent(ctx, viewer, id)
	return document.Stars, err
}
