// Package pastes has the use cases about pastes.
package pastes

import (
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about pastes.
type UseCases struct {
	ListOwn     *ListOwn
	CountActive *CountActive
	Create      *Create
	List        *List
	Delete      *Delete
	Star        *Star
	Unstar      *Unstar
	Sweep       *Sweep
}

// Store is what the use cases need of a store of pastes.
type Store interface {
	paste.ActiveIDLister
	paste.Counter
	paste.Creator
	paste.OwnerLister
	paste.Deleter
	paste.Starrer
	paste.Unstarrer
	paste.ExpiredRemover
}

// New returns the use cases over their ports. What Sweep removes has been expired for sweepGrace: longer than any
// request may last and than clocks are put back, so that nothing goes which an answer that is under way counts.
func New(
	store Store, users user.Finder, tokens token.Finder, signIn *token.Authenticator, sweepGrace time.Duration, now func() time.Time,
) *UseCases {
	return &UseCases{
		ListOwn:     &ListOwn{tokens: tokens, pastes: store, signIn: signIn},
		CountActive: &CountActive{pastes: store},
		Create:      &Create{users: users, pastes: store, now: now},
		List:        &List{users: users, pastes: store},
		Delete:      &Delete{pastes: store},
		Star:        &Star{users: users, pastes: store},
		Unstar:      &Unstar{users: users, pastes: store},
		Sweep:       &Sweep{pastes: store, grace: sweepGrace},
	}
}
