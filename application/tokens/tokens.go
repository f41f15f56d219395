// Package tokens has the use cases about access tokens and sessions. Each fails with fault.Unavailable when the store does not
// answer, and one that needs a user as its viewer with token.Rejected when the viewer has not signed in.
package tokens

import (
	"time"

	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// UseCases is what can be asked about access tokens.
type UseCases struct {
	SignIn *SignIn
	Issue  *Issue
	List   *List
	Revoke *Revoke
	Uses   *UseLog

	IssueOwn  *IssueOwn
	RevokeOwn *RevokeOwn

	StartSession   *StartSession
	ResumeSession  *ResumeSession
	SignOut        *SignOut
	ListSessions   *ListSessions
	EndSessions    *EndSessions
	EndOwnSessions *EndOwnSessions
}

// Store is what the use cases need of a store of tokens.
type Store interface {
	token.Finder
	token.Creator
	token.OwnerLister
	token.Revoker
	token.UseWriter
	token.SessionStarter
	token.SessionEnder
}

// module is what the use cases share.
type module struct {
	store Store
	users user.Finder
	now   func() time.Time
}

// New returns the use cases over their ports.
func New(store Store, users user.Finder, now func() time.Time) *UseCases {
	m := &module{store: store, users: users, now: now}
	uses := newUseLog(store)
	signIn, issue, revoke := &SignIn{module: m, uses: uses}, &Issue{m}, &Revoke{m}
	return &UseCases{
		SignIn: signIn,
		Issue:  issue,
		List:   &List{m},
		Revoke: revoke,
		Uses:   uses,

		IssueOwn:  &IssueOwn{issue},
		RevokeOwn: &RevokeOwn{revoke},

		StartSession:   &StartSession{m},
		ResumeSession:  &ResumeSession{signIn},
		SignOut:        &SignOut{m},
		ListSessions:   &ListSessions{m},
		EndSessions:    &EndSessions{m},
		EndOwnSessions: &EndOwnSessions{m},
	}
}
