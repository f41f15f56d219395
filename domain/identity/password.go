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

// PasswordHash is what is stored of a password: the function with its parameters, the salt and the result, as a text.
// The empty one is that of a user without a password.
type PasswordHash string

// Limits of a password, in characters of its normal form.
const (
	MinPassword = 12
	MaxPassword = 256
)

// MinScore is the least score of a password (see Passwords.Score).
const MinScore = 3

// MaxPasswordBytes bounds what is normalised. No password of 256 characters is longer in practice.
const MaxPasswordBytes = 8 << 10

// minHeldName is the shortest name that a password must not hold: shorter ones are in ordinary words.
const minHeldName = 3

// Guesses are how many wrong passwords for one name are checked in GuessWindow, wherever they come from. They are
// counted over all nodes.
const (
	Guesses     = 30
	GuessWindow = time.Hour
)

// Errors about passwords.
var (
	// ErrWrongPassword is the fault.Unauthenticated for an unknown name, a user without a password and a wrong password
	// alike.
	ErrWrongPassword = fault.New(fault.Unauthenticated, "The name or the password is not right.")
	// ErrPresentPassword is the fault.Invalid for a wrong password of a user who has signed in.
	ErrPresentPassword = fault.New(fault.Invalid, "The current password is not right.")
	// ErrGuesses is the fault.Exhausted for a name with too many wrong passwords, whether or not there is such a user.
	ErrGuesses = fault.New(fault.Exhausted,
		"There were too many wrong passwords for this name. Try again in a few minutes, or sign in in another way.")
	// ErrNoPasswords is the fault.Invalid for what needs passwords, where they are off.
	ErrNoPasswords = fault.New(fault.Invalid, "Passwords are off on this server: GLUEPOT_PASSWORDS turns them on.")

	errNameHeld = fault.New(fault.Invalid, "The password holds the name. Choose another.")
	errWeak     = fault.New(fault.Invalid,
		"The password is too easy to guess. Use more words or characters that do not belong together.")
	errUnreadable = fault.New(fault.Invalid, "The password is not text in UTF-8.")
)

// CheckPassword returns a fault.Invalid for a password that a user of that name may not have. The password is in its
// normal form. score is called last.
func CheckPassword(password string, name user.Name, score func() (int, error)) error {
	switch length := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return errUnreadable
	case length < MinPassword || length > MaxPassword:
		return fault.New(fault.Invalid, fmt.Sprintf("The password has %d characters. It needs %d to %d.", length,
			MinPassword, MaxPassword))
	case len(name.Folded()) >= minHeldName && strings.Contains(strings.ToLower(password), name.Folded()):
		return errNameHeld
	}
	strength, err := score()
	if err == nil && strength < MinScore {
		err = errWeak
	}
	return err
}

// Passwords hashes and judges passwords. It bounds the memory and processors that it uses: calls wait for their turn,
// and fail with fault.Unavailable when the context ends.
type Passwords interface {
	// Enter takes one of a bounded number of places, before anything is done for a password, and fails with
	// fault.Unavailable when there is none. leave gives it back.
	Enter() (leave func(), err error)
	// Normal returns the form in which a password is hashed (NFKC).
	Normal(password string) string
	// Score returns how hard it is to guess a normal password of the user of that name, from 0 to 4, as zxcvbn does.
	Score(ctx context.Context, password string, name user.Name) (int, error)
	// Hash returns the hash of a normal password with a new salt.
	Hash(ctx context.Context, password string) (PasswordHash, error)
	// Matches reports whether a hash is that of a normal password, and whether it was made with other parameters than
	// Hash uses now. The empty hash matches no password, which takes as long as to compare another hash.
	Matches(ctx context.Context, password string, hash PasswordHash) (matches, outdated bool, err error)
}
