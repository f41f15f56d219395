package imports

import (
	"context"
	"encoding/base64"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Key is a PasteMyst API key as the source has it.
type Key struct{ Owner, Text string }

// Keys imports API keys. A user has one; it becomes a token that never expires.
type Keys struct {
	tokens token.Store
	now    func() time.Time
}

// keyLength is the length of a v2 API key: 32 random bytes in base 64.
const keyLength = 44

// Do stores the keys of the source, hashed. A user's key that differs from the one stored before
// replaces it. The rest is as for Users.
func (k *Keys) Do(ctx context.Context, actor audit.Actor, source Source[Key], reject Reject) (Summary, error) {
	return run(ctx, actor, source, reject, k.token, k.tokens.Import)
}

func (k *Keys) token(r Key) (token.Token, error) {
	if !ident.Valid(r.Owner) {
		return token.Token{}, fault.New(fault.Invalid, "The key has no valid user id.")
	}
	if _, err := base64.StdEncoding.DecodeString(r.Text); err != nil || len(r.Text) != keyLength {
		return token.Token{}, fault.New(fault.Invalid, "The key must be 44 characters of base64.")
	}
	secret, err := token.ParseSecret(r.Text)
	if err != nil {
		return token.Token{}, err
	}
	// The id says whose key it is, so that a newer export finds the token it replaces.
	return token.Token{
		ID: token.ID("v2-" + r.Owner), Owner: user.ID(r.Owner), Hash: secret.Hash(), Name: "PasteMyst API key",
		CreatedAt: k.now(),
	}, nil
}
