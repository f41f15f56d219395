// Package tokens has the use cases about access tokens.
package tokens

import (
	"time"

	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about access tokens.
type UseCases struct {
	Issue  *Issue
	List   *List
	Revoke *Revoke
	Uses   *UseLog
}

// Store is what the use cases need of a store of tokens.
type Store interface {
	token.Creator
	token.OwnerLister
	token.Revoker
	token.UseWriter
}

// New returns the use cases over their ports.
func New(store Store, users user.Finder, now func() time.Time) *UseCases {
	return &UseCases{
		Issue:  &Issue{users: users, tokens: store, now: now},
		List:   &List{users: users, tokens: store},
		Revoke: &Revoke{tokens: store, now: now},
		Uses:   newUseLog(store),
	}
}
