package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// Read reads a paste as whoever asks may see it.
type Read struct {
	pastes paste.DocumentFinder
	signIn *token.Authenticator
}

// Do returns the paste with that id as the secret's owner sees it, and as everybody does when the secret is empty or
// not valid: see paste.Document.SeenBy.
//
// It fails with paste.ErrNotFound, whatever the reason, for a paste that does not exist, has expired, is encrypted or is
// somebody else's private one, and with fault.Unavailable when the store does not answer.
func (r *Read) Do(ctx context.Context, presented, id string) (found paste.Document, err error) {
	ctx, end := trace.Start(ctx, "pastes.Read")
	defer func() { end(err) }()
	if !ident.Valid(id) {
		return paste.Document{}, paste.ErrNotFound
	}
	var (
		reader user.ID
		asked  bool
	)
	holder, rejected := r.signIn.Authenticate(presented, func(hash token.Hash) (holder token.Token, _ error) {
		asked = true
		found, holder, err = r.pastes.DocumentByID(ctx, paste.ID(id), hash)
		return holder, err
	})
	if !asked {
		found, _, err = r.pastes.DocumentByID(ctx, paste.ID(id), token.Hash{})
	}
	if err != nil {
		return paste.Document{}, paste.Gone(err)
	}
	if rejected == nil {
		reader = holder.Owner
	}
	return found.SeenBy(reader)
}

// ReadRaw reads one pasty as whoever asks may see it.
type ReadRaw struct{ read *Read }

// Do returns the pasty with that id of the paste with that id, and who may read it. It fails as Read.Do does, and
// with paste.ErrNotFound when the paste has no such pasty.
func (r *ReadRaw) Do(ctx context.Context, presented, id, pasty string) (_ paste.Pasty, _ paste.Visibility, err error) {
	ctx, end := trace.Start(ctx, "pastes.ReadRaw")
	defer func() { end(err) }()
	found, err := r.read.Do(ctx, presented, id)
	if err != nil {
		return paste.Pasty{}, paste.Unlisted, err
	}
	one, err := found.Pasty(pasty)
	return one, found.Visibility, err
}

// Show reads any paste.
type Show struct{ pastes paste.DocumentFinder }

// Do returns the paste with that id as its owner sees it; of an encrypted one that is the cipher. It fails with
// paste.ErrNotFound when there is none or it has expired, and with fault.Unavailable when the store does not answer.
func (s *Show) Do(ctx context.Context, id string) (_ paste.Document, err error) {
	ctx, end := trace.Start(ctx, "pastes.Show")
	defer func() { end(err) }()
	found, _, err := s.pastes.DocumentByID(ctx, paste.ID(id), token.Hash{})
	return found, paste.Gone(err)
}
