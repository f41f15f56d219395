package tokens

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// finder is a store that finds one token.
type finder struct {
	token.Store

	token token.Token
	err   error
}

func (f finder) ByHash(context.Context, token.Hash) (token.Token, user.User, error) {
	return f.token, user.User{ID: f.token.Owner}, f.err
}

var errDisk = errors.New("disk")

func TestSignIn(t *testing.T) {
	t.Parallel()
	secret, now := token.Generate(), time.Now()
	valid := token.Token{ID: "valid", Owner: "epoxy", Hash: secret.Hash()}
	expired, revoked := valid, valid
	expired.ExpiresAt, revoked.RevokedAt = now, now
	outage := fault.New(fault.Unavailable, "away")
	for what, c := range map[string]struct {
		secret string
		token  token.Token
		err    error // of the lookup
		want   error
	}{
		"a valid token":     {secret.Reveal(), valid, nil, nil},
		"no token":          {"", valid, nil, token.ErrRejected},
		"a malformed token": {"\n", valid, nil, token.ErrRejected},
		"an unknown token": {secret.Reveal(), token.Token{}, fmt.Errorf("no row: %w", fault.New(fault.NotFound, "x")),
			token.ErrRejected},
		"another token":       {token.Generate().Reveal(), valid, nil, token.ErrRejected},
		"an expired token":    {secret.Reveal(), expired, nil, token.ErrRejected},
		"a revoked token":     {secret.Reveal(), revoked, nil, token.ErrRejected},
		"an outage":           {secret.Reveal(), token.Token{}, outage, outage},
		"an unforeseen error": {secret.Reveal(), token.Token{}, errDisk, errDisk},
	} {
		store := finder{token: c.token, err: c.err}
		signIn := &SignIn{module: &module{store: store, now: func() time.Time { return now }}, uses: newUseLog(store)}
		got, err := signIn.Do(t.Context(), c.secret)
		rejections, uses := signIn.Rejections(), signIn.uses.uses
		switch {
		case !errors.Is(err, c.want):
			t.Errorf("%s: got the error %v, want %v", what, err, c.want)
		case c.want == nil && (got.Token.ID != "valid" || got.User.ID != "epoxy" || uses["valid"] != now ||
			rejections != 0):
			t.Errorf("%s: got %v, the uses %v and %d rejections, want the user and one use", what, got, uses, rejections)
		case c.want != nil && (got.SignedIn() || len(uses) != 0):
			t.Errorf("%s: got %v and the uses %v, want neither", what, got, uses)
		case errors.Is(c.want, token.ErrRejected) && rejections != 1:
			t.Errorf("%s: got %d rejections, want 1", what, rejections)
		}
	}
}
