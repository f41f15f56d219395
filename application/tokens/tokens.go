// Package tokens has the use cases about access tokens.
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
	token.SessionLister
	token.SessionEnder
}

// New returns the use cases over their ports.
func New(store Store, users user.Finder, now func() time.Time) *UseCases {
	uses := newUseLog(store)
	signIn := &SignIn{tokens: store, uses: uses, now: now}
	issue, revoke := &Issue{users: users, tokens: store, now: now}, &Revoke{tokens: store, now: now}
	return &UseCases{
		SignIn: signIn,
		Issue:  issue,
		List:   &List{users: users, tokens: store},
		Revoke: revoke,
		Uses:   uses,

		IssueOwn:  &IssueOwn{issue},
		RevokeOwn: &RevokeOwn{tokens: store, revoke: revoke},

		StartSession:   &StartSession{tokens: store, now: now},
		ResumeSession:  &ResumeSession{signIn: signIn},
		SignOut:        &SignOut{tokens: store},
		ListSessions:   &ListSessions{users: users, tokens: store, now: now},
		EndSessions:    &EndSessions{users: users, tokens: store},
		EndOwnSessions: &EndOwnSessions{tokens: store},
	}
}
