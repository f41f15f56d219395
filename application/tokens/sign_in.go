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

	uses       *UseLog
	rejections atomic.Int64
}

// Do returns the user whose access token has that secret, and records that the token was used.
//
// It fails with token.ErrRejected when the secret is empty, malformed or unknown, or when its token is expired or
// revoked, and with token.ErrSuspended when its owner is suspended.
func (s *SignIn) Do(ctx context.Context, text string) (token.Viewer, error) {
	return s.signIn(ctx, token.Access, text)
}

// Resume is Do for the secret of a session, which a browser presents.
func (s *SignIn) Resume(ctx context.Context, text string) (token.Viewer, error) {
	return s.signIn(ctx, token.Session, text)
}

// signIn signs in with a secret of one kind: a session is no access token.
func (s *SignIn) signIn(ctx context.Context, kind token.Kind, text string) (token.Viewer, error) {
	secret, err := token.ParseSecret(text)
	if err != nil {
		return token.Viewer{}, s.reject()
	}
	hash := secret.Hash()
	t, owner, err := s.store.ByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) {
		return token.Viewer{}, s.reject()
	}
	if err != nil {
		return token.Viewer{}, err
	}
	at := s.now()
	if t.Kind != kind || t.Verify(hash, at) != nil {
		return token.Viewer{}, s.reject()
	}
	if owner.Suspended {
		return token.Viewer{}, token.ErrSuspended
	}
	s.uses.RecordUse(t.ID, at)
	return token.Viewer{User: owner, Token: t}, nil
}

// Rejections returns how often Do and Resume have rejected a secret.
func (s *SignIn) Rejections() int64 { return s.rejections.Load() }

func (s *SignIn) reject() error {
	s.rejections.Add(1)
	return token.ErrRejected
}
