package tokens

import (
	"context"
	"sync/atomic"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// SignIn identifies the user of an access token. Entrypoints call it once for each request, and hand the viewer to the
// use cases.
type SignIn struct {
	*module

	uses     *UseLog
	rejected atomic.Int64
}

// Do returns the user whose access token has that secret, and records that the token was used.
//
// It fails with token.ErrRejected when the secret is empty, malformed or unknown, or when its token is expired or
// revoked, and with token.ErrSuspended when its owner is suspended.
func (s *SignIn) Do(ctx context.Context, presented string) (token.Viewer, error) {
	return s.as(ctx, token.Access, presented)
}

// Resume is Do for the secret of a session, which a browser presents.
func (s *SignIn) Resume(ctx context.Context, presented string) (token.Viewer, error) {
	return s.as(ctx, token.Session, presented)
}

// as signs in with a secret of one kind: a session is no access token.
func (s *SignIn) as(ctx context.Context, kind token.Kind, presented string) (token.Viewer, error) {
	secret, err := token.ParseSecret(presented)
	if err != nil {
		return token.Viewer{}, s.reject()
	}
	hash := secret.Hash()
	found, owner, err := s.store.ByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) {
		return token.Viewer{}, s.reject()
	}
	if err != nil {
		return token.Viewer{}, err
	}
	at := s.now()
	if found.Kind != kind || found.Verify(hash, at) != nil {
		return token.Viewer{}, s.reject()
	}
	if owner.Suspended {
		return token.Viewer{}, token.ErrSuspended
	}
	s.uses.RecordUse(found.ID, at)
	return token.Viewer{User: owner, Token: found}, nil
}

// Rejections returns how often Do and Resume have rejected a secret.
func (s *SignIn) Rejections() int64 { return s.rejected.Load() }

func (s *SignIn) reject() error {
	s.rejected.Add(1)
	return token.ErrRejected
}
