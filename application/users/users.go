// Package users has the use cases about people and their profiles. Each fails with fault.Unavailable when the store
// does not answer, and one that needs a user as its viewer with token.ErrRejected when the viewer has not signed in.
package users

import (
	"time"

	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about users.
type UseCases struct {
	CheckExists *CheckExists
	ShowProfile *ShowProfile
	ShowSelf    *ShowSelf
	Create      *Create
	Show        *Show
	List        *List
	Update      *Update
	Delete      *Delete
}

// module is what the use cases share.
type module struct {
	store      user.Store
	identities identity.Store
	anonymous  paste.Lifetimes // of pastes without an owner
	notify     notice.Func     // of new administrators
	now        func() time.Time
}

// New returns the use cases over their ports. The lifetimes are those of anonymous pastes.
func New(
	store user.Store, identities identity.Store, anonymous paste.Lifetimes, notify notice.Func, now func() time.Time,
) *UseCases {
	m := &module{store: store, identities: identities, anonymous: anonymous, notify: notify, now: now}
	return &UseCases{
		CheckExists: &CheckExists{m},
		ShowProfile: &ShowProfile{m},
		ShowSelf:    &ShowSelf{m},
		Create:      &Create{m},
		Show:        &Show{m},
		List:        &List{m},
		Update:      &Update{m},
		Delete:      &Delete{m},
	}
}
