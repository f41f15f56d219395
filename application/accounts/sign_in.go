package accounts

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// BeginSignIn sends a visitor to a provider.
type BeginSignIn struct{ *module }

// BeginInput is what a visitor wants.
type BeginInput struct {
	Provider string // name of the provider
	Next     string // the path to go on to
	Code     string // of an invitation, or ""
	Link     bool   // the viewer wants to sign in with this provider, too
}

// Redirect is an attempt that has begun.
type Redirect struct {
	Label   string // of the provider, for people
	Address string // at the provider, to send the browser to
	State   string // by which the provider's answer names the attempt
	Secret  string // for the browser alone
}

// Do begins an attempt.
//
// It fails with fault.NotFound when there is no such provider, with identity.ErrInvitation when the invitation is not
// valid, with token.ErrRejected when a viewer who wants to link has no session that was begun within the last hour, and
// with fault.Forbidden when that session may only read.
func (b *BeginSignIn) Do(ctx context.Context, actor audit.Actor, input BeginInput) (Redirect, error) {
	viewer, err := actor.Viewer()
	if err != nil {
		return Redirect{}, err
	}
	source, err := b.sources.named(input.Provider)
	if err != nil {
		return Redirect{}, err
	}
	attempt := identity.Attempt{Provider: source.Name, Proof: identity.NewProof(), Next: input.Next}
	if input.Link {
		if !viewer.SignedInRecently(b.now()) {
			return Redirect{}, token.ErrRejected
		}
		if err := viewer.MayWrite(); err != nil {
			return Redirect{}, err
		}
		attempt.Link = viewer.User.ID
	}
	if input.Code != "" {
		invitation, err := (&Invitations{b.module}).Show(ctx, input.Code)
		if err != nil {
			return Redirect{}, err
		}
		attempt.Invitation = invitation.ID
	}
	address, err := source.Begin(ctx, attempt.Proof)
	if err != nil {
		return Redirect{}, err
	}
	secret := rand.Text()
	err = b.store.StoreAttempt(ctx, actor.Address(), identity.HashOf(secret), attempt, identity.MaxAttempts)
	if err != nil {
		return Redirect{}, err
	}
	return Redirect{Label: source.Label, Address: address, State: attempt.Proof.State, Secret: secret}, nil
}

// FinishSignIn handles a visitor's return from a provider.
type FinishSignIn struct{ *module }

// SignInResult is the result of a visitor's return: a user who signs in or has linked an identity, or a newcomer who
// has to choose a name.
type SignInResult struct {
	User   user.User // zero: a name is to be chosen
	Linked bool
	Secret string // for the browser of a newcomer
	Next   string
}

var (
	errStale = fault.New(fault.Invalid,
		"This sign-in was started in another browser, took longer than ten minutes, or is already finished. Start again.")
	errOtherUser = fault.New(fault.Forbidden,
		"Another user started to link this account. Sign in as that user, and link it again.")
	errClosed = fault.Wrap(fault.Forbidden,
		"You have no account on this server, and it does not accept new ones. Ask its operator for one.",
		errors.New("no user has this identity, and the registration is closed"))
	errUninvited = fault.Wrap(fault.Forbidden,
		"You have no account on this server. To get one, ask its operator for an invitation.",
		errors.New("no user has this identity, there is no invitation, and the registration is for those invited"))
)

// Do finishes the attempt with that secret, which works once. The actor is the visitor who returns. resume returns the
// viewer who links an identity. It is called after the provider has answered, because the session may have ended by
// then.
//
// It fails with fault.Invalid when the attempt is not this browser's or is over, or when what the browser brought
// proves nothing; with fault.Forbidden when the visitor may not have an account, or is not the user who began to link
// one; and with fault.Conflict when the identity cannot be linked.
func (a *FinishSignIn) Do(
	ctx context.Context, actor audit.Actor, resume func(context.Context) (token.Viewer, error), provider, secret string,
	callback identity.Callback,
) (SignInResult, error) {
	if _, err := actor.Viewer(); err != nil {
		return SignInResult{}, err
	}
	source, err := a.sources.named(provider)
	if err != nil {
		return SignInResult{}, err
	}
	attempt, err := a.store.TakeAttempt(ctx, actor.Address(), identity.HashOf(secret))
	if err != nil {
		return SignInResult{}, fault.Replace(err, fault.NotFound, errStale)
	}
	state := attempt.Proof.State // empty once the visitor chooses a name
	if attempt.Provider != source.Name || state == "" ||
		subtle.ConstantTimeCompare([]byte(state), []byte(callback.State)) != 1 {
		return SignInResult{}, errStale
	}
	if callback.Error != "" || callback.Code == "" {
		return SignInResult{}, fault.Wrap(fault.Invalid, "The provider says that signing in was cancelled or refused. "+
			"Start again.",
			fmt.Errorf("callback: %.64q", callback.Error)) // such as invalid_scope, which operators find in the log
	}
	profile, err := source.Finish(ctx, attempt.Proof, callback)
	if err != nil {
		return SignInResult{}, err
	}
	profile.Key = source.Key
	if err := profile.Validate(); err != nil {
		return SignInResult{}, err
	}
	if attempt.Link != "" {
		viewer, err := resume(ctx)
		if err != nil {
			return SignInResult{}, fault.Replace(err, fault.Unauthenticated, errOtherUser)
		}
		return a.link(ctx, audit.By(viewer, actor.Address()), attempt, profile.Identity)
	}
	owner, err := a.store.ByIdentity(ctx, profile.Identity)
	if fault.Is(err, fault.NotFound) {
		return a.receive(ctx, actor, attempt, profile)
	}
	if err == nil && owner.Suspended {
		return SignInResult{}, token.ErrSuspended
	}
	return SignInResult{User: owner, Next: attempt.Next}, err
}

func (a *FinishSignIn) link(
	ctx context.Context, actor audit.Actor, attempt identity.Attempt, account identity.Identity,
) (SignInResult, error) {
	viewer, err := actor.Viewer()
	if err == nil && (viewer.User.ID != attempt.Link || !viewer.SignedInRecently(a.now())) {
		err = errOtherUser
	}
	if err == nil {
		err = viewer.MayWrite()
	}
	if err != nil {
		return SignInResult{}, err
	}
	link := func(u *user.User, identities map[string]string) error {
		if u.Suspended { // since the request began
			return token.ErrSuspended
		}
		return add(account)(u, identities)
	}
	_, _, err = a.users.Update(ctx, actor.Address(), auditlog.Entry{}, viewer.User.ID, link)
	if err != nil {
		return SignInResult{}, user.ReplaceNotFound(err)
	}
	return SignInResult{User: viewer.User, Linked: true, Next: attempt.Next}, nil
}

// receive lets a visitor without an account choose a name, if new ones are taken.
func (a *FinishSignIn) receive(
	ctx context.Context, actor audit.Actor, attempt identity.Attempt, profile identity.Profile,
) (SignInResult, error) {
	if err := a.checkRegistration(attempt); err != nil {
		return SignInResult{}, err
	}
	if a.registration == Open {
		attempt.Invitation = "" // it is not needed
	}
	attempt.Proof, attempt.Profile = identity.Proof{}, profile.Suggestion()
	secret := rand.Text()
	err := a.store.StoreAttempt(ctx, actor.Address(), identity.HashOf(secret), attempt, identity.MaxAttempts)
	if err != nil {
		return SignInResult{}, err
	}
	return SignInResult{Secret: secret, Next: attempt.Next}, nil
}

// checkRegistration fails with fault.Forbidden unless the visitor of an attempt may have an account.
func (m *module) checkRegistration(attempt identity.Attempt) error {
	switch {
	case m.registration == Closed:
		return errClosed
	case m.registration != Open && attempt.Invitation == "":
		return errUninvited
	}
	return nil
}
