package accounts

import (
	"context"
	"crypto/rand"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
)

// Begin sends a visitor to a provider.
type Begin struct{ *module }

// BeginInput is what a visitor wants.
type BeginInput struct {
	Source string // name of the provider
	Next   string // the path to go on to
	Code   string // of an invitation, or ""
	Link   bool   // the viewer wants to sign in with this provider, too
}

// Begun is an attempt that has begun.
type Begun struct {
	Address string // at the provider, to send the browser to
	State   string // by which the provider's answer names the attempt
	Secret  string // for the browser alone
}

// Do begins an attempt.
//
// It fails with fault.NotFound when there is no such provider, with identity.ErrUsedUp when the invitation is not valid, with
// token.Rejected when a viewer who wants to link has no session that was begun within the last hour, and with fault.Forbidden when
// that may only read.
func (b *Begin) Do(ctx context.Context, viewer token.Viewer, wanted BeginInput) (Begun, error) {
	source, err := b.sources.named(wanted.Source)
	if err != nil {
		return Begun{}, err
	}
	attempt := identity.Attempt{Source: source.Name, Proof: identity.NewProof(), Next: wanted.Next}
	if wanted.Link {
		if !viewer.SignedInRecently(b.now()) {
			return Begun{}, token.Rejected()
		}
		if err := viewer.MayWrite(); err != nil {
			return Begun{}, err
		}
		attempt.Link = viewer.User.ID
	}
	if wanted.Code != "" {
		invitation, err := b.invitation(ctx, wanted.Code)
		if err != nil {
			return Begun{}, err
		}
		attempt.Invitation = invitation.ID
	}
	address, err := source.Begin(ctx, attempt.Proof)
	if err != nil {
		return Begun{}, err
	}
	secret := rand.Text()
	if err := b.store.Keep(ctx, identity.HashOf(secret), attempt, identity.MaxAttempts); err != nil {
		return Begun{}, err
	}
	return Begun{Address: address, State: attempt.Proof.State, Secret: secret}, nil
}

// invitation returns the invitation with a code. It fails with identity.ErrUsedUp when it is not valid.
func (m *module) invitation(ctx context.Context, code string) (identity.Invitation, error) {
	found, err := m.store.InvitationByHash(ctx, identity.HashOf(code))
	if fault.Is(err, fault.NotFound) || err == nil && !found.ValidAt(m.now()) {
		return identity.Invitation{}, identity.ErrUsedUp
	}
	return found, err
}
