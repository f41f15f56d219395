package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// AttemptAge is how long signing in with a provider may take. Choosing a name may then take as long again.
const AttemptAge = 10 * time.Minute

// MaxAttempts bounds the attempts that are stored at once, so that a client cannot fill the store: about 100 MB.
const MaxAttempts = 100_000

// Proof ties a provider's answer to the attempt that asked for it.
type Proof struct {
	State    string // comes back through the browser
	Nonce    string // comes back in the ID token
	Verifier string // the provider got its hash (RFC 7636)
}

// NewProof returns one that cannot be guessed.
func NewProof() Proof {
	return Proof{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()} // a verifier must have at least 43 characters
}

// Attempt is a sign-in that has begun: the visitor is at the provider or, once that has vouched for them, choosing a name.
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
	// Keep stores an attempt. It removes expired attempts, and the oldest beyond the given number.
	Keep(ctx context.Context, from netip.Addr, hash Hash, attempt Attempt, others int) error
	// Take removes the attempt with that hash and returns it. Only one of several callers gets it. It fails with fault.NotFound
	// when there is none, or it has expired.
	Take(ctx context.Context, from netip.Addr, hash Hash) (Attempt, error)
	// Attempt returns the attempt with that hash. It fails as Take does.
	Attempt(ctx context.Context, hash Hash) (Attempt, error)
}

// Registrar knows whose an identity is.
type Registrar interface {
	// ByIdentity returns the user who has the identity. It fails as user.Store.ByID does.
	ByIdentity(ctx context.Context, wanted Identity) (user.User, error)
	// SignUp stores the user with the identity of the attempt with that hash, removes the attempt, and takes one use of its
	// invitation, if it has one, all in one transaction. It fails as user.Store.Create does, with fault.NotFound when there is no
	// such attempt or it has expired, and with ErrUsedUp when the invitation is not valid.
	SignUp(ctx context.Context, from netip.Addr, hash Hash, created user.User) error
}
