// Package users has the use cases about people and their profiles.
package users

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about users.
type UseCases struct {
	CheckExists *CheckExists
	ShowProfile *ShowProfile
	ShowOwner   *ShowOwner
	ShowSelf    *ShowSelf
	Create      *Create
	Show        *Show
	List        *List
	Update      *Update
	Delete      *Delete
	UpdateOwn   *UpdateOwn
	DeleteOwn   *DeleteOwn
	ShowFormer  *ShowFormer
	FormerNames *FormerNames
}

// Store is what the use cases need of a store of users.
type Store interface {
	user.Finder
	user.StaleFinder
	user.StaleIDFinder
	user.ServiceFinder
	user.AccountFinder
	user.FormerFinder
	user.Lister
	user.Creator
	user.Updater
	user.Deleter
}

// New returns the use cases over their ports. The lifetimes are those of anonymous pastes.
func New(store Store, anonymous paste.Lifetimes, now func() time.Time) *UseCases {
	return &UseCases{
		CheckExists: &CheckExists{users: store},
		ShowProfile: &ShowProfile{users: store},
		ShowOwner:   &ShowOwner{users: store},
		ShowSelf:    &ShowSelf{users: store},
		Create:      &Create{users: store, now: now},
		Show:        &Show{users: store},
		List:        &List{users: store},
		Update:      &Update{users: store},
		Delete:      &Delete{users: store},
		UpdateOwn:   &UpdateOwn{users: store},
		DeleteOwn:   &DeleteOwn{users: store, longest: anonymous.Longest, now: now},
		ShowFormer:  &ShowFormer{users: store},
		FormerNames: &FormerNames{users: store},
	}
}

// find is user.Find for reads that decide no write: a name outside the rules names no user.
func find(ctx context.Context, users user.StaleFinder, name string) (user.User, error) {
	parsed, err := user.ParseName(name)
	if err != nil {
		return user.User{}, user.ErrNotFound
	}
	found, err := users.StaleByName(ctx, parsed)
	return found, user.Gone(err)
}
