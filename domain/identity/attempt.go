package identity

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// AttemptAge is how long signing in with a provider may take. Choosing a name may then take as long again.
const AttemptAge = 10 * time.Minute

// MaxAttempts bounds the attempts that are stored at once, so that a client cannot fill the store: about 100 MB.
const MaxAttempts = 100_000

// Proof ties a provider's answer to the attempt that it answers.
type Proof struct {
	State    string // comes back through the browser
	Nonce    string // comes back in the ID token
	Verifier string // the provider got its hash (RFC 7636)
}

// NewProof returns a Proof that cannot be guessed.
func NewProof() Proof {
	// a verifier must have at least 43 characters
	return Proof{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text()}
}

// Attempt is an unfinished sign-in with a provider. The visitor is at the provider, or has returned and chooses a name.
type Attempt struct {
	Provider   string  // name of the provider
	Proof      Proof   // zero after the provider has confirmed the identity
	Profile    Profile // zero before
	Next       string  // the path to redirect to afterwards
	Invitation InvitationID
	Link       user.ID // the user who links another identity, or ""
}

// Hash is the SHA-256 of a secret.
type Hash [32]byte

// HashOf returns the hash of a random secret.
func HashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

// Store creates users, and keeps their credentials, sign-in attempts, invitations and one-time links. It counts wrong
// passwords. Attempts last for AttemptAge; browsers keep their secrets in cookies. Wrong passwords are counted for each
// name, whether or not a user has it.
type Store interface {
	// Enroll stores a user with credentials and the entry, and uses the admission, in one transaction. A first
	// administrator ends all setup links.
	//
	// It fails with fault.Conflict when the name (ignoring case), the id, or a credential is taken. The error wraps
	// ident.ErrTaken if it is the id, user.ErrIdentityTaken if it is an account at a provider, and ErrPasskeyTaken if it
	// is a passkey. It fails with ErrInvitation when the invitation is not valid, with fault.NotFound when the setup link
	// does not exist or has expired, and with ErrAdministratorExists when there already is an administrator.
	Enroll(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, created user.User, credentials Credentials, why Admission,
	) error
	// SignUp stores the user with the identity of the attempt with that hash. It removes the attempt and uses its
	// invitation, if it has one, in the same transaction. It fails as Enroll does, and with fault.NotFound when the
	// attempt does not exist or has expired.
	SignUp(ctx context.Context, from netip.Addr, hash Hash, newUser user.User) error
	// ByIdentity returns the user who has the identity. It fails as user.Store.ByID does.
	ByIdentity(ctx context.Context, identity Identity) (user.User, error)

	// StoreAttempt stores an attempt. It removes expired attempts, and the oldest ones if there are more than limit.
	StoreAttempt(ctx context.Context, from netip.Addr, hash Hash, attempt Attempt, limit int) error
	// TakeAttempt removes the attempt with that hash and returns it. Only one of several callers gets it. It fails with
	// fault.NotFound when there is none, or it has expired.
	TakeAttempt(ctx context.Context, from netip.Addr, hash Hash) (Attempt, error)
	// Attempt returns the attempt with that hash. It fails as Take does.
	Attempt(ctx context.Context, hash Hash) (Attempt, error)

	// StoreInvitation stores an invitation. It fails with fault.Conflict when the id or the hash is taken, ident.ErrTaken
	// being in the error's chain when it is the id.
	StoreInvitation(ctx context.Context, entry auditlog.Entry, invitation Invitation) error
	// RemoveInvitation removes the invitation with that id. It fails with fault.NotFound when there is none.
	RemoveInvitation(ctx context.Context, entry auditlog.Entry, id InvitationID) error

	// InvitationByHash returns the invitation with that hash, valid or not. It fails with fault.NotFound when there is
	// none.
	InvitationByHash(ctx context.Context, hash Hash) (Invitation, error)
	// Invitations returns all invitations, the oldest first.
	Invitations(ctx context.Context) ([]Invitation, error)

	// CredentialsOf returns the credentials of a user. It fails with fault.NotFound when there is no such user.
	CredentialsOf(ctx context.Context, owner user.ID) (Credentials, error)
	// ByPassword returns the user of that name and the hash of the user's password, or "". It fails as user.Store.ByName
	// does.
	ByPassword(ctx context.Context, name user.Name) (user.User, PasswordHash, error)
	// ChangeCredentials locks the user, calls change with the user and its credentials, and stores the changed
	// credentials, in one transaction. If the password changes, the user's sessions end, apart from the session except.
	//
	// If change fails, ChangeCredentials returns its error and stores nothing. change must not call the store, and may be
	// called again. ChangeCredentials fails with fault.NotFound when there is no such user, and with
	// user.ErrIdentityTaken.
	ChangeCredentials(
		ctx context.Context, from netip.Addr, owner user.ID, except token.ID, change func(u user.User,
			credentials *Credentials) error,
	) error
	// Rehash replaces the hash of a user's password by another hash of the same password. It does nothing if the password
	// has changed in the meantime.
	Rehash(ctx context.Context, owner user.ID, old, renewed PasswordHash) error

	// StoreLink stores a link and the entry, and removes expired links. It fails with ErrAdministratorExists when the link
	// is for the first administrator and there already is one, and with fault.NotFound when its owner no longer exists.
	StoreLink(ctx context.Context, entry auditlog.Entry, link OneTimeLink) error
	// LinkByHash returns a link. It fails with fault.NotFound when there is none, it has expired, or the administrator who
	// made it (the entry's) no longer is one.
	LinkByHash(ctx context.Context, hash Hash) (OneTimeLink, error)
	// UseLink is ChangeCredentials for the owner of the link with that hash, and stores the entry. It ends all sessions
	// and links of the owner, whom it returns. It also fails with fault.NotFound as LinkByHash does. Only one of several
	// callers can use a link.
	UseLink(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, hash Hash, change func(u user.User,
			credentials *Credentials) error,
	) (user.User, error)

	// TakeGuess counts a guess before the password is checked. It fails with ErrTooManyGuesses when there were too many.
	TakeGuess(ctx context.Context, from netip.Addr, name string) error
	// ReturnGuess uncounts a guess, because the password was right.
	ReturnGuess(ctx context.Context, name string) error

	// StoreCeremony stores a ceremony. It removes expired ones, and the oldest if there are more than limit.
	StoreCeremony(ctx context.Context, hash Hash, ceremony Ceremony, limit int) error
	// TakeCeremony removes the ceremony with that hash and returns it. Only one of several callers gets it. It fails with
	// fault.NotFound when there is none, or it has expired.
	TakeCeremony(ctx context.Context, hash Hash) (Ceremony, error)
	// PasskeyByID returns the passkey with that id, and its owner. It fails with fault.NotFound when there is none.
	PasskeyByID(ctx context.Context, id PasskeyID) (Passkey, user.User, error)
	// UsePasskey stores the time and the counter of a passkey's last use. It fails with fault.NotFound, and with ErrCloned
	// when the stored counter is not below the new one, unless both are 0.
	UsePasskey(ctx context.Context, from netip.Addr, id PasskeyID, counter uint32, at time.Time) error
}
