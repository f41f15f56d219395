// Package passwords hashes passwords with Argon2id, and judges them with zxcvbn.
package passwords

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/ccojocar/zxcvbn-go"
	"golang.org/x/crypto/argon2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/text/unicode/norm"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// The parameters of Argon2id (OWASP's password storage cheat sheet).
const (
	memory = 19 << 10 // KiB
	rounds = 2
	lanes  = 1
	length = 32 // of the result, in bytes
)

// atOnce bounds the memory: each hash takes 19 MiB.
const atOnce = 2

// maxWaiting bounds the queue. The last caller in it waits for about two seconds on two processors.
const maxWaiting = 64

// maxJudged is how many characters zxcvbn scores: its work grows with their square.
const maxJudged = 64

var errBusy = fault.New(fault.Unavailable, "Many passwords are being checked at the moment. Try again shortly.")

// Hasher implements identity.Passwords.
type Hasher struct{ places, slots *semaphore.Weighted }

// New returns a hasher. A process needs only one.
func New() *Hasher {
	return &Hasher{places: semaphore.NewWeighted(atOnce + maxWaiting), slots: semaphore.NewWeighted(atOnce)}
}

// Enter implements identity.Passwords.
func (h *Hasher) Enter() (leave func(), err error) {
	if !h.places.TryAcquire(1) {
		return nil, errBusy
	}
	return func() { h.places.Release(1) }, nil
}

// Normal implements identity.Passwords.
func (h *Hasher) Normal(password string) string { return norm.NFKC.String(password) }

// Score implements identity.Passwords.
func (h *Hasher) Score(ctx context.Context, password string, name user.Name) (score int, err error) {
	judged := []rune(password)
	judged = judged[:min(len(judged), maxJudged)]
	err = h.inTurn(ctx, func() {
		score = zxcvbn.PasswordStrength(string(judged), []string{name.Folded()}).Score
	})
	return score, err
}

// Hash implements identity.Passwords.
func (h *Hasher) Hash(ctx context.Context, password string) (hash identity.PasswordHash, err error) {
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // never fails
	err = h.inTurn(ctx, func() {
		hash = parameters{memory, rounds, lanes}.encode(salt,
			argon2.IDKey([]byte(password), salt, rounds, memory, lanes, length))
	})
	return hash, err
}

// Matches implements identity.Passwords.
func (h *Hasher) Matches(
	ctx context.Context, password string, hash identity.PasswordHash,
) (matches, outdated bool, err error) {
	used, salt, key := parameters{memory, rounds, lanes}, make([]byte, 16), make([]byte, length)
	if hash != "" {
		if used, salt, key, err = parse(hash); err != nil {
			return false, false, fault.Unexpected(err)
		}
	}
	err = h.inTurn(ctx, func() {
		computed := argon2.IDKey([]byte(password), salt, used.rounds, used.memory, used.lanes, uint32(len(key)))
		matches = subtle.ConstantTimeCompare(computed, key) == 1 && hash != ""
	})
	return matches, used != parameters{memory, rounds, lanes} || len(key) != length, err
}

// inTurn calls do once there is memory for it.
func (h *Hasher) inTurn(ctx context.Context, do func()) error {
	if err := h.slots.Acquire(ctx, 1); err != nil {
		return fault.Wrap(errBusy.Kind, errBusy.Message, err)
	}
	defer h.slots.Release(1)
	do()
	return nil
}

// parameters are the parameters of Argon2id for a hash.
type parameters struct {
	memory, rounds uint32
	lanes          uint8
}

const format = "$argon2id$v=%d$m=%d,t=%d,p=%d$"

// encode returns a hash in the format of the reference implementation (PHC).
func (p parameters) encode(salt, key []byte) identity.PasswordHash {
	encode := base64.RawStdEncoding.EncodeToString
	head := fmt.Sprintf(format, argon2.Version, p.memory, p.rounds, p.lanes)
	return identity.PasswordHash(head + encode(salt) + "$" + encode(key))
}

// Bounds of the parameters in a stored hash, so that a wrong one neither exhausts the memory nor matches by chance.
const (
	maxMemory = 64 << 10
	maxRounds = 16
	minLength = 16 // of the result, in bytes
)

// parse is the inverse of encode.
func parse(hash identity.PasswordHash) (p parameters, salt, key []byte, err error) {
	var version int
	parts := strings.Split(string(hash), "$")
	if len(parts) != 6 {
		return p, nil, nil, errNoHash
	}
	_, err = fmt.Sscanf(strings.Join(parts[:4], "$")+"$", format, &version, &p.memory, &p.rounds, &p.lanes)
	if err != nil || version != argon2.Version || p.memory > maxMemory || p.rounds < 1 ||
		p.rounds > maxRounds || p.lanes < 1 {
		return p, nil, nil, errNoHash
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err == nil {
		key, err = base64.RawStdEncoding.DecodeString(parts[5])
	}
	if err != nil || len(key) < minLength {
		return p, nil, nil, errNoHash
	}
	return p, salt, key, nil
}

var errNoHash = fmt.Errorf("the stored hash of a password is not of Argon2id, version %d", argon2.Version)
