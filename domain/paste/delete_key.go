package paste

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"

	"github.com/gluepot/gluepot/domain/fault"
)

// DeleteKey lets its holder delete an anonymous paste. The text is shown once, and only its hash is kept.
type DeleteKey string

// KeyHash is the SHA-256 of a DeleteKey. The zero KeyHash is that of none.
type KeyHash [sha256.Size]byte

// NewDeleteKey returns a new key of 130 random bits.
func NewDeleteKey() DeleteKey { return DeleteKey(rand.Text()) }

// Hash returns what is stored of the key. The key is random, so its hash needs no salt.
func (k DeleteKey) Hash() KeyHash { return sha256.Sum256([]byte(k)) }

// Fits reports whether the key is that of the hash, in constant time.
func (k DeleteKey) Fits(hash KeyHash) bool {
	presented := k.Hash()
	return hash != KeyHash{} && subtle.ConstantTimeCompare(presented[:], hash[:]) == 1
}

// ErrWrongKey is the fault.Unauthenticated for a DeleteKey that is not that of the paste.
var ErrWrongKey = fault.New(fault.Unauthenticated, "This is not the delete key of the paste.")

// String implements fmt.Stringer without giving the key away.
func (k DeleteKey) String() string { return "[redacted]" }

// GoString implements fmt.GoStringer without giving the key away.
func (k DeleteKey) GoString() string { return "[redacted]" }
