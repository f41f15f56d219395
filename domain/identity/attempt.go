package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// AttemptAge is how long signing in with a provider may take, and then again choosing a name.
const AttemptAge = 10 * time.Minute

// MaxAttempts is how many there may be at once, so that beginning them again and again does not fill the store: about 100 MB.
const MaxAttempts = 100_000

// Proof is what shows that an answer of a provider belongs to a question of ours.
type Proof struct {
	State    string // comes back by the browser
	Nonce    string // comes back in the ID token
	Verifier string // of which the provider was told the hash (RFC 7636)
}

// NewProof returns one that cannot be guessed.
func NewProof() Proof {
	return Proof{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()} // a verifier has 43 characters at least
}

// Attempt is a visitor on the way to an account: at a provider or, once that has vouched for the visitor, choosing a name.
type Attempt struct {
	Source     string  // name of the provider
	Proof      Proof   // zero once the provider has vouched
	Profile    Profile // zero until then
	Next       string  // the path to go on to
	Invitation InvitationID
	Link       user.ID // the user who links another identity, or ""
}

// Hash is the SHA-256 of a secret.
type Hash [32]byte

// HashOf returns the hash of a secret that was made at random.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// AttemptKeeper keeps attempts for AttemptAge. Their secrets are in the cookies of browsers.
type AttemptKeeper interface {
	// Keep stores an attempt, and removes those that are too old, and the oldest ones beyond so many others. It fails with
	// fault.Unavailable when the store does not answer.
	Keep(ctx context.Context, hash Hash, attempt Attempt, others int) error
	// Take removes the attempt with that hash and returns it: of several callers, to one. It fails with fault.NotFound when there
	// is none, or none any more.
	Take(ctx context.Context, hash Hash) (Attempt, error)
	// Attempt returns the attempt with that hash. It fails as Take does.
	Attempt(ctx context.Context, hash Hash) (Attempt, error)
}

// Registrar makes accounts of attempts.
type Registrar interface {
	// SignUp stores the user with the identity that the attempt with that hash has, removes the attempt and uses up
	// one use of its invitation, if it has one: all of it or nothing. It fails as user.Creator.Create does, with fault.NotFound
	// when there is no such attempt, or none any more, and with ErrUsedUp when the invitation is not valid.
	SignUp(ctx context.Context, hash Hash, created user.User) error
}
