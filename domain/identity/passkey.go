package identity

import (
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/user"
)

// PasskeyID is a passkey's globally unique id, which its authenticator chose, in base64url.
type PasskeyID string

// Passkey is a WebAuthn credential of a user. Its private key stays in the authenticator.
type Passkey struct {
	ID             PasskeyID
	Name           string // what the owner calls it
	PublicKey      []byte
	Counter        uint32 // of signatures; 0 if the authenticator does not count
	BackupEligible bool   // whether it may be synced to several devices
	CreatedAt      time.Time
	LastUsedAt     time.Time // zero: never
}

// Limits of passkeys.
const (
	MaxPasskeys    = 20 // of a user
	maxPasskeyName = 64 // bytes
)

// CheckPasskeyName returns a fault.Invalid unless a passkey may have that name.
func CheckPasskeyName(name string) error {
	if name == "" || !ident.Printable(name, maxPasskeyName) {
		return fault.New(fault.Invalid, "Give the passkey a name of 1 to 64 bytes, such as the name of its device.")
	}
	return nil
}

// Errors about passkeys.
var (
	// ErrPasskey is the fault.Forbidden for a browser's response that does not verify.
	ErrPasskey = fault.New(fault.Forbidden, "This passkey was not accepted. It may have been removed from your "+
		"account. Sign in another way.")
	// ErrNewPasskey is the same for a passkey that is being added.
	ErrNewPasskey = fault.New(fault.Forbidden, "This passkey was not accepted. Try again, or use another device.")
	// ErrCloned is the fault.Forbidden for a passkey whose counter did not increase: another device may have a copy.
	ErrCloned = fault.New(fault.Forbidden,
		"This passkey may have been copied: its counter did not increase. Sign in another way, and remove it.")
	// ErrPasskeyTaken is the fault.Conflict for a passkey that is already stored.
	ErrPasskeyTaken = fault.New(fault.Conflict, "This passkey is already registered.")
	// ErrNoPasskeys is the fault.Invalid for passkeys on a server that has them off.
	ErrNoPasskeys = fault.New(fault.Invalid, "Passkeys are off on this server. The operator can turn them on with "+
		"GLUEPOT_PASSKEYS=true.")
)

// CeremonyAge is how long registering or using a passkey may take.
const CeremonyAge = 5 * time.Minute

// Ceremony is an unfinished registration or authentication with a passkey.
type Ceremony struct {
	Purpose   string  // the only use case that accepts it
	Challenge string  // what the authenticator signs
	Owner     user.ID // of the passkey to register; "": this is an authentication
	Name      string  // of the user to create with the passkey, or ""
}

// CeremonyOptions is what a browser gets at the beginning of a ceremony.
type CeremonyOptions struct {
	Challenge string
	JSON      []byte // JSON, for the script
}

// Passkeys speaks the protocol of passkeys (WebAuthn). An answer is a browser's response, in JSON. If it does not
// verify, methods fail with ErrPasskey or ErrNewPasskey, with the cause for the log.
type Passkeys interface {
	// BeginRegistration begins the registration of a passkey. The owner, whose username is name, may not register one of
	// others again.
	BeginRegistration(owner user.ID, name string, others []Passkey) (CeremonyOptions, error)
	// FinishRegistration verifies the answer to BeginRegistration and returns the passkey, without a name and times.
	FinishRegistration(challenge string, owner user.ID, answer []byte) (Passkey, error)
	// BeginAuthentication begins an authentication with any passkey.
	BeginAuthentication() (CeremonyOptions, error)
	// FinishAuthentication verifies the answer to BeginAuthentication. It returns the id of the passkey and its counter.
	// lookup returns the passkey with an id and its owner, who must be the user that the answer names.
	FinishAuthentication(
		challenge string, answer []byte, lookup func(PasskeyID) (Passkey, user.ID, error),
	) (id PasskeyID, counter uint32, err error)
}
