package token

import (
	"crypto/rand"
	"crypto/sha256"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// Prefix begins the tokens that Gluepot makes, so that scanners for secrets can find them.
const Prefix = "gluepot_"

// MaxSecretLength is the longest token that is accepted, in bytes.
const MaxSecretLength = 512

// redacted stands for a secret wherever something prints one.
const redacted = "[redacted]"

// Secret is a token as its holder presents it. It prints as "[redacted]"; only Reveal returns the text.
type Secret struct{ text string }

// ParseSecret returns text as a secret: 1 to 512 printable bytes, also those of another service. Anything else is a
// fault.Invalid.
func ParseSecret(text string) (Secret, error) {
	if text == "" || !ident.Printable(text, MaxSecretLength) {
		return Secret{}, fault.New(fault.Invalid, "The token is not 1 to 512 bytes of printable text.")
	}
	return Secret{text: text}, nil
}

// Generate returns a new secret of 260 random bits.
func Generate() Secret { return Secret{text: Prefix + rand.Text() + rand.Text()} }

// Hash returns what is stored of the secret. SHA-256 without salt suits secrets that are random:
// there is nothing to guess, and a lookup by hash stays one index probe.
func (s Secret) Hash() Hash { return sha256.Sum256([]byte(s.text)) }

// Reveal returns the text itself, to be shown once to the person it was made for.
func (s Secret) Reveal() string { return s.text }

// String implements fmt.Stringer without giving the secret away.
func (s Secret) String() string { return redacted }

// GoString implements fmt.GoStringer without giving the secret away.
func (s Secret) GoString() string { return redacted }

// MarshalText implements encoding.TextMarshaler without giving the secret away.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
