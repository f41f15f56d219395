package identity

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// PasswordHash is a password's hash with its function, parameters and salt, as text. It is empty for a user without a
// password.
type PasswordHash string

// Limits of a password, in characters of its normal form.
const (
	MinPassword = 12
	MaxPassword = 256
)

// MinScore is the lowest score of a password (see Passwords.Score).
const MinScore = 3

// MaxPasswordBytes bounds what is normalised. No password of 256 characters is longer in practice.
const MaxPasswordBytes = 8 << 10

// minHeldName is the shortest name that a password must not contain: shorter ones occur in ordinary words.
const minHeldName = 3

// Guesses is how many wrong passwords for one name are checked in GuessWindow, from all clients and on all nodes.
const (
	Guesses     = 30
	GuessWindow = time.Hour
	// GuessInterval is how long one who has no guesses left waits for another one, at most.
	GuessInterval = GuessWindow / Guesses
)

// Errors about passwords.
var (
	// ErrWrongPassword is the fault.Unauthenticated for an unknown name, a user without a password, and a wrong password.
	ErrWrongPassword = fault.New(fault.Unauthenticated, "The username or the password is wrong. Try again.")
	// ErrCurrentPassword is the fault.Invalid for a signed-in user's wrong password.
	ErrCurrentPassword = fault.New(fault.Invalid, "The current password is wrong. Try again.")
	// ErrTooManyGuesses is the fault.Exhausted for a name with too many wrong passwords, whether or not there is such a
	// user.
	ErrTooManyGuesses = fault.New(fault.Exhausted,
		"Too many wrong passwords were entered for this name. Try again in a few minutes, or sign in another way.")
	// ErrNoPasswords is the fault.Invalid for passwords on a server that has them off.
	ErrNoPasswords = fault.New(fault.Invalid, "Passwords are off on this server. The operator can turn them on with "+
		"GLUEPOT_PASSWORDS=true.")

	errNameHeld = fault.New(fault.Invalid, "The password contains the username. Choose another password.")
	errWeak     = fault.New(fault.Invalid,
		"The password is too easy to guess. Use several unrelated words, or more random characters.")
	errUnreadable = fault.New(fault.Invalid, "The password must be valid UTF-8.")
)

// CheckPassword returns a fault.Invalid unless a user with that name may have the password, which is in its normal
// form. It calls score last.
func CheckPassword(password string, name user.Name, score func() (int, error)) error {
	switch length := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return errUnreadable
	case length < MinPassword || length > MaxPassword:
		return fault.New(fault.Invalid,
			fmt.Sprintf("The password has %d characters. Choose one with %d to %d.", length, MinPassword, MaxPassword))
	case len(name.Folded()) >= minHeldName && strings.Contains(strings.ToLower(password), name.Folded()):
		return errNameHeld
	}
	strength, err := score()
	if err == nil && strength < MinScore {
		err = errWeak
	}
	return err
}

// Passwords hashes and scores passwords. It bounds the memory and processors that it uses: calls wait for their turn,
// and fail with fault.Unavailable when the context ends.
type Passwords interface {
	// Enter takes one of a bounded number of slots; leave returns it. Call Enter before all other work on a password. It
	// fails with fault.Unavailable when no slot is free.
	Enter() (leave func(), err error)
	// Normal returns the form in which a password is hashed (NFKC).
	Normal(password string) string
	// Score returns how hard it is to guess a user's normal password, from 0 to 4, as zxcvbn does.
	Score(ctx context.Context, password string, name user.Name) (int, error)
	// Hash returns the hash of a normal password with a new salt.
	Hash(ctx context.Context, password string) (PasswordHash, error)
	// Matches reports whether a hash is that of a normal password, and whether its parameters differ from those that Hash
	// uses now. The empty hash matches no password, but comparing it takes as long.
	Matches(ctx context.Context, password string, hash PasswordHash) (matches, outdated bool, err error)
}
