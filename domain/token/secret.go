package token

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// Prefix begins the tokens that Gluepot generates, so that secret scanners recognise them.
const Prefix = "gluepot_"

// MaxSecretLength is the maximum length of a token, in bytes.
const MaxSecretLength = 512

// redacted is what secrets print as.
const redacted = "[redacted]"

// Secret is a token as its holder presents it. It prints as "[redacted]"; only Reveal returns the text.
type Secret struct{ text string }

// ParseSecret returns text as a secret, which has 1 to 512 printable bytes and may come from another service. It fails
// with fault.Invalid.
func ParseSecret(text string) (Secret, error) {
	if text == "" || !ident.Printable(text, MaxSecretLength) {
		return Secret{}, fault.New(fault.Invalid, "A token must be 1 to 512 bytes of printable text.")
	}
	return Secret{text: text}, nil
}

// Generate returns a new secret of 260 random bits.
func Generate() Secret { return Secret{text: Prefix + rand.Text() + rand.Text()} }

// Hash returns the hash to store. SHA-256 without salt suits random secrets: nobody can guess them, and a lookup by
// hash is one index probe.
func (s Secret) Hash() Hash { return sha256.Sum256([]byte(s.text)) }

// Reveal returns the text itself, to be shown once to its owner.
func (s Secret) Reveal() string { return s.text }

// String implements fmt.Stringer and does not reveal the secret.
func (s Secret) String() string { return redacted }

// GoString implements fmt.GoStringer and does not reveal the secret.
func (s Secret) GoString() string { return redacted }

// MarshalText implements encoding.TextMarshaler and does not reveal the secret.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
