package identity

import (
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/user"
)

// PasskeyID identifies a passkey everywhere: its authenticator has drawn it. It is text in base64url.
type PasskeyID string

// Passkey is a key of WebAuthn with which a user signs in. The authenticator keeps its private half.
type Passkey struct {
	ID             PasskeyID
	Name           string // what the owner calls it
	PublicKey      []byte
	Counter        uint32 // of the authenticator's signatures; 0: it does not count
	BackupEligible bool   // it may be on several devices
	CreatedAt      time.Time
	LastUsedAt     time.Time // zero: never
}

// Limits of passkeys.
const (
	MaxPasskeys    = 20 // of a user
	maxPasskeyName = 64 // bytes
)

// CheckPasskeyName returns a fault.Invalid for a name that a passkey may not have.
func CheckPasskeyName(name string) error {
	if name == "" || !ident.Printable(name, maxPasskeyName) {
		return fault.New(fault.Invalid, "Name the passkey, with at most 64 bytes of text, such as the device that has it.")
	}
	return nil
}

// Errors about passkeys.
var (
	// ErrPasskey is the fault.Forbidden for an answer of a browser that proves nothing.
	ErrPasskey = fault.New(fault.Forbidden, "This passkey was not accepted. It may have been removed here.")
	// ErrCloned is the fault.Forbidden for a passkey whose counter has not gone on: another device may have a copy.
	ErrCloned = fault.New(fault.Forbidden,
		"This passkey was refused, because it may have been copied: its counter has not gone on. "+
			"Sign in in another way, and remove it.")
	// ErrPasskeyTaken is the fault.Conflict for a passkey that is stored already.
	ErrPasskeyTaken = fault.New(fault.Conflict, "This passkey is registered already.")
	// ErrNoPasskeys is the fault.Invalid for what needs passkeys, where they are off.
	ErrNoPasskeys = fault.New(fault.Invalid, "Passkeys are off on this server: GLUEPOT_PASSKEYS turns them on.")
)

// CeremonyAge is how long making or using a passkey may take.
const CeremonyAge = 5 * time.Minute

// Ceremony is the making or use of a passkey that has begun.
type Ceremony struct {
	Purpose   string  // what it was begun for: it is good for nothing else
	Challenge string  // what the authenticator signs
	Owner     user.ID // of a passkey that is made; "": one is used
	Name      string  // of a user who is made with it, or ""
}

// Asked is what a browser is asked for in a ceremony.
type Asked struct {
	Challenge string
	Options   []byte // JSON, for the script
}

// Passkeys speaks the protocol of passkeys (WebAuthn). Its answers are JSON of browsers. An answer that proves nothing
// is ErrPasskey, with the cause for the log.
type Passkeys interface {
	// AskForNew asks for a new passkey of an owner who is called name, and has others.
	AskForNew(owner user.ID, name string, others []Passkey) (Asked, error)
	// Made returns the new passkey of an owner that an answer brings, without a name and times.
	Made(challenge string, owner user.ID, answer []byte) (Passkey, error)
	// Ask asks for any passkey.
	Ask() (Asked, error)
	// Used returns the id and the counter of the passkey that an answer was signed with. find returns a passkey and its
	// owner, whom the answer must name, too.
	Used(challenge string, answer []byte, find func(PasskeyID) (Passkey, user.ID, error)) (PasskeyID, uint32, error)
}
