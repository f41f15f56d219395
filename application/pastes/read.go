package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// Read reads a paste as whoever asks may see it.
type Read struct {
	pastes paste.DocumentReader
	signIn *token.Authenticator
}

// Do returns the paste with that id as the secret's owner sees it, and as everybody does when the secret is empty or
// not valid: see paste.Document.SeenBy. It reports whether the secret was rejected, whatever becomes of the paste.
//
// It fails with paste.ErrNotFound, whatever the reason, for a paste that does not exist, has expired, is encrypted or is
// somebody else's private one, and with fault.Unavailable when the store does not answer.
func (r *Read) Do(ctx context.Context, presented, id string) (found paste.Document, rejected bool, err error) {
	ctx, end := trace.Start(ctx, "pastes.Read")
	defer func() { end(err) }()
	if !ident.Valid(id) {
		return paste.Document{}, false, paste.ErrNotFound
	}
	var reader user.ID
	if presented == "" {
		found, _, err = r.pastes.ReadDocument(ctx, paste.ID(id), token.Hash{}, time.Time{})
	} else {
		found, reader, rejected, err = r.signedIn(ctx, presented, paste.ID(id))
	}
	if err != nil {
		return paste.Document{}, rejected, paste.Gone(err)
	}
	found, err = found.SeenBy(reader)
	return found, rejected, err
}

// signedIn returns the paste and who asks for it, nobody when the secret is rejected.
func (r *Read) signedIn(
	ctx context.Context, presented string, id paste.ID,
) (found paste.Document, reader user.ID, rejected bool, err error) {
	asked := false
	signedIn, refusal := r.signIn.AuthenticateAt(presented, func(hash token.Hash, at time.Time) (holder token.Token, _ error) {
		asked = true
		found, holder, err = r.pastes.ReadDocument(ctx, id, hash, at)
		if fault.Is(err, fault.NotFound) { // the paste is, and says nothing of the token
			return holder, nil
		}
		return holder, err
	})
	if !asked {
		found, _, err = r.pastes.ReadDocument(ctx, id, token.Hash{}, time.Time{})
	}
	return found, signedIn.Owner, fault.Is(refusal, fault.Unauthenticated), err
}

// ReadRaw reads one pasty as whoever asks may see it.
type ReadRaw struct{ read *Read }

// Do returns the pasty with that id of the paste with that id, and reports whether the secret was rejected. It fails as Read.Do
// does, and with paste.ErrNotFound when the paste has no such pasty.
func (r *ReadRaw) Do(ctx context.Context, presented, id, pasty string) (one paste.Pasty, rejected bool, err error) {
	ctx, end := trace.Start(ctx, "pastes.ReadRaw")
	defer func() { end(err) }()
	found, rejected, err := r.read.Do(ctx, presented, id)
	if err != nil {
		return paste.Pasty{}, rejected, err
	}
	one, err = found.Pasty(pasty)
	return one, rejected, err
}

// Show reads any paste.
type Show struct{ pastes paste.DocumentFinder }

// Do returns the paste with that id as its owner sees it; of an encrypted one that is the cipher. It fails with
// paste.ErrNotFound when there is none or it has expired, and with fault.Unavailable when the store does not answer.
func (s *Show) Do(ctx context.Context, id string) (_ paste.Document, err error) {
	ctx, end := trace.Start(ctx, "pastes.Show")
	defer func() { end(err) }()
	found, err := s.pastes.DocumentByID(ctx, paste.ID(id))
	return found, paste.Gone(err)
}
