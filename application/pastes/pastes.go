// Package pastes has the use cases about pastes.
package pastes

import (
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about pastes. Those with Own in their names are for whoever presents a token, the
// others for operators.
type UseCases struct {
	CreateOwn   *CreateOwn
	Read        *Read
	ReadRaw     *ReadRaw
	EditOwn     *EditOwn
	DeleteOwn   *DeleteOwn
	ListOwn     *ListOwn
	BrowseOwn   *BrowseOwn
	ListPublic  *ListPublic
	CountActive *CountActive
	ExpiryTime  *ExpiryTime

	Create *Create
	Show   *Show
	Edit   *Edit
	Delete *Delete
	List   *List
	Star   *Star
	Unstar *Unstar
	Sweep  *Sweep
}

// Store is what the use cases need of a store of pastes.
type Store interface {
	paste.DocumentFinder
	paste.DocumentReader
	paste.DocumentCreator
	paste.CountedCreator
	paste.ClientForgetter
	paste.DocumentUpdater
	paste.DocumentDeleter
	paste.ActiveIDLister
	paste.HeldIDFinder
	paste.Counter
	paste.OwnerLister
	paste.PublicLister
	paste.TitleLister
	paste.Deleter
	paste.Starrer
	paste.Unstarrer
	paste.ExpiredRemover
}

// Options are what an installation chooses.
type Options struct {
	// Rules are what pastes are made and changed by.
	Rules paste.Rules
	// TokenRequired makes creating need a token: there are no new anonymous pastes, but those of operators.
	TokenRequired bool
	// AnonymousQuota is that of each client that creates pastes without a token. Default: none.
	AnonymousQuota paste.Quota
	// SweepGrace is how long what Sweep removes has been expired: longer than any request may last and than clocks are put
	// back, so that nothing goes which an answer that is under way counts.
	SweepGrace time.Duration
}

// New returns the use cases over their ports.
func New(
	store Store, users user.Finder, tokens token.Finder, signIn *token.Authenticator, options Options, now func() time.Time,
) *UseCases {
	own, read := own{tokens, signIn}, &Read{pastes: store, signIn: signIn}
	return &UseCases{
		CreateOwn: &CreateOwn{
			pastes: store, tokens: tokens, signIn: signIn, rules: options.Rules, tokenRequired: options.TokenRequired,
			quota: options.AnonymousQuota, now: now,
		},
		Read:        read,
		ReadRaw:     &ReadRaw{read: read},
		EditOwn:     &EditOwn{pastes: store, own: own, rules: options.Rules},
		DeleteOwn:   &DeleteOwn{pastes: store, own: own},
		ListOwn:     &ListOwn{pastes: store, signIn: signIn},
		BrowseOwn:   &BrowseOwn{tokens: tokens, pastes: store, signIn: signIn},
		ListPublic:  &ListPublic{users: users, pastes: store},
		CountActive: &CountActive{pastes: store},
		ExpiryTime:  &ExpiryTime{},
		Create:      &Create{pastes: store, users: users, rules: options.Rules, now: now},
		Show:        &Show{pastes: store},
		Edit:        &Edit{pastes: store, rules: options.Rules, now: now},
		Delete:      &Delete{pastes: store},
		List:        &List{users: users, pastes: store},
		Star:        &Star{users: users, pastes: store},
		Unstar:      &Unstar{users: users, pastes: store},
		Sweep:       &Sweep{pastes: store, grace: options.SweepGrace},
	}
}
