package token

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// The form of the tokens that Gluepot makes: a prefix that secret scanners can search for, 256 random
// bits and a CRC-32 of what stands before it, both in base 62. The checksum lets a scanner tell a
// token from a look-alike without asking anyone.
const (
	Prefix       = "gluepot_"
	randomBytes  = 32
	randomDigits = 43 // ceil(256 / log2(62))
	crcDigits    = 6  // ceil(32 / log2(62))

	// MaxSecretLength is the longest token that is accepted, in bytes.
	MaxSecretLength = 512
)

const (
	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	// redacted stands for a secret wherever something prints one.
	redacted = "[redacted]"
)

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

// Generate returns a new secret of 256 random bits.
func Generate() Secret {
	var random [randomBytes]byte
	_, _ = rand.Read(random[:]) // crypto/rand never returns an error
	body := Prefix + encode(new(big.Int).SetBytes(random[:]), randomDigits)
	return Secret{text: body + checksum(body)}
}

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

func checksum(body string) string {
	return encode(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), crcDigits)
}

// encode writes n in base 62 with leading zeros.
func encode(n *big.Int, digits int) string {
	out := make([]byte, digits)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	for i := len(out) - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}
