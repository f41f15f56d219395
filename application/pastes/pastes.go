// Package pastes has the use cases about pastes.
package pastes

import (
	"time"

	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about pastes. Those with Own in their names are for a viewer, the others of the
// second group for operators.
type UseCases struct {
	CreateOwn    *CreateOwn
	Read         *Read
	ReadRevision *ReadRevision
	ReadCipher   *ReadCipher
	ReadRaw      *ReadRaw
	Explain      *Explain
	Open         *Open
	EditOwn      *EditOwn
	RestoreOwn   *RestoreOwn
	DeleteOwn    *DeleteOwn
	GiveUpOwn    *GiveUpOwn
	ListOwn      *ListOwn
	NextOwn      *NextOwn
	BrowseOwn    *BrowseOwn
	ListPublic   *ListPublic
	StarSeen     *StarSeen
	ListStarred  *ListStarred
	ListRecent   *ListRecent
	CountActive  *CountActive
	ExpiryTime   *ExpiryTime

	Create *Create
	Show   *Show
	Edit   *Edit
	Delete *Delete
	Star   *Star
	Unstar *Unstar
	Sweep  *Sweep

	Room *Room
}

// Store is what the use cases need of a store of pastes.
type Store interface {
	paste.DocumentFinder
	paste.DocumentReader
	paste.CipherReader
	paste.DocumentCreator
	paste.ClientForgetter
	paste.AllowedCreator
	paste.AllowedUpdater
	paste.DocumentUpdater
	paste.DocumentDeleter
	paste.DocumentBurner
	paste.ActiveIDLister
	paste.Counter
	paste.Selector
	paste.StarredLister
	paste.RecentLister
	paste.Starrer
	paste.Unstarrer
	paste.ExpiredRemover
	moderation.Teller
	moderation.Purger
}

// Options are what an installation chooses.
type Options struct {
	// Rules create and change pastes.
	Rules paste.Rules
	// TokenRequired turns off anonymous pastes, except for operators.
	TokenRequired bool
	// AnonymousQuota is the quota of each client that creates pastes without a token. Default: none.
	AnonymousQuota paste.Quota
	// Lifetimes bound the pastes of signed-in users, AnonymousLifetimes those of visitors. Operators' pastes are exempt.
	Lifetimes, AnonymousLifetimes paste.Lifetimes
	// Allowance bounds each signed-in user except administrators, also in edits. Default: none.
	Allowance paste.Allowance
	// MaxBytes bounds the content and history of all pastes; 0, the default, is no limit.
	MaxBytes int64
	// SweepGrace is how long pastes stay after they expire: longer than any request lasts and clocks are put back, so that requests
	// in progress do not miss a paste that they count.
	SweepGrace time.Duration
	// RemovedRetention is how long pastes that operators removed can be restored before Sweep deletes them.
	RemovedRetention time.Duration
	// OriginRetention is how long the address that a paste was created from is kept; 0, the default, keeps none.
	OriginRetention time.Duration
}

// New returns the use cases over their ports.
func New(store Store, users user.Finder, options Options, now func() time.Time) *UseCases {
	read, room := &Read{pastes: store}, &Room{limit: options.MaxBytes}
	revision := &ReadRevision{read: read}
	edit := &EditOwn{pastes: store, rules: options.Rules, allowance: options.Allowance, room: room, now: now}
	return &UseCases{
		CreateOwn: &CreateOwn{
			pastes: store, rules: options.Rules, tokenRequired: options.TokenRequired, quota: options.AnonymousQuota,
			lifetimes: options.Lifetimes, anonymous: options.AnonymousLifetimes, allowance: options.Allowance, room: room, now: now,
			keepOrigin: options.OriginRetention > 0,
		},
		Read:         read,
		ReadRevision: revision,
		ReadCipher:   &ReadCipher{pastes: store},
		ReadRaw:      &ReadRaw{read: read, revision: revision},
		Explain:      &Explain{removals: store},
		Open:         &Open{pastes: store},
		EditOwn:      edit,
		RestoreOwn:   &RestoreOwn{edit: edit},
		DeleteOwn:    &DeleteOwn{pastes: store},
		GiveUpOwn:    &GiveUpOwn{pastes: store, tokenRequired: options.TokenRequired, longest: options.AnonymousLifetimes.Longest, now: now},
		ListOwn:      &ListOwn{pastes: store},
		NextOwn:      &NextOwn{pastes: store},
		BrowseOwn:    &BrowseOwn{pastes: store},
		ListPublic:   &ListPublic{users: users, pastes: store},
		StarSeen:     &StarSeen{read: read, stars: store},
		ListStarred:  &ListStarred{pastes: store},
		ListRecent:   &ListRecent{pastes: store},
		CountActive:  &CountActive{pastes: store},
		ExpiryTime:   &ExpiryTime{},
		Create:       &Create{pastes: store, users: users, rules: options.Rules, now: now},
		Show:         &Show{pastes: store},
		Edit:         &Edit{pastes: store, rules: options.Rules, now: now},
		Delete:       &Delete{pastes: store, removed: store},
		Star:         &Star{users: users, pastes: store},
		Unstar:       &Unstar{users: users, pastes: store},
		Sweep:        &Sweep{pastes: store, grace: options.SweepGrace, kept: options.RemovedRetention, origins: options.OriginRetention},
		Room:         room,
	}
}
