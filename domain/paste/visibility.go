package paste

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Visibility says who may read a paste, and where it is listed.
type Visibility uint8

// The visibilities.
const (
	Unlisted Visibility = iota // readable by its id
	Public                     // as Unlisted, and listed on the owner's profile
	Private                    // readable by the owner only
)

var visibilityNames = [...]string{"unlisted", "public", "private"}

// String returns the visibility's name in lower case.
func (v Visibility) String() string {
	if int(v) < len(visibilityNames) {
		return visibilityNames[v]
	}
	return "unknown"
}

func visibilityOf(private, public, burns bool) (Visibility, error) {
	switch {
	case private && public:
		return Unlisted, invalid("isPrivate, isPublic", "a paste cannot be both private and public.")
	case public && burns:
		return Unlisted, invalid("isPrivate, isPublic", "a paste that burns after reading cannot be public.")
	case private:
		return Private, nil
	case public:
		return Public, nil
	}
	return Unlisted, nil
}

// ErrNotFound is the fault.NotFound for a paste that does not exist, has expired, or is hidden from the viewer.
var ErrNotFound = fault.New(fault.NotFound, "There is no paste with that id.")

// ErrBurns has the kind and message of ErrNotFound. It is for a paste that can be opened once (Document.BurnableBy),
// but not read.
var ErrBurns = fault.New(fault.NotFound, ErrNotFound.Message)

// ReplaceNotFound returns ErrNotFound for a store's fault.NotFound about a paste, and any other err, such as ErrBurns,
// as it is.
func ReplaceNotFound(err error) error {
	if fault.Is(err, fault.NotFound) && !errors.Is(err, ErrBurns) {
		return ErrNotFound
	}
	return err
}

// OwnedBy reports whether the paste belongs to that user. An anonymous paste belongs to nobody.
func (p Paste) OwnedBy(id user.ID) bool { return p.Owner != "" && p.Owner == id }

// ForReader returns the paste as a user sees it, or as a visitor does if the id is empty. Only the owner sees its tags.
// It fails with ErrNotFound if the paste is encrypted, or private and not the user's, and with ErrBurns if it burns
// after reading and is not the user's.
//
// It ignores expiry, which the store decides by its own clock.
func (d Document) ForReader(reader user.ID) (Document, error) {
	if d.Encrypted() || d.Visibility == Private && !d.OwnedBy(reader) {
		return Document{}, ErrNotFound
	}
	if d.Burns && !d.OwnedBy(reader) {
		return Document{}, ErrBurns
	}
	if !d.OwnedBy(reader) {
		d.Tags = nil
	}
	return d, nil
}

// CipherReadableBy returns ErrNotFound when the paste is not encrypted, PasteMyst encrypted it, or it is another user's
// private one. It returns ErrBurns when the paste burns after reading: not even its owner reads it without opening it.
func (d Document) CipherReadableBy(reader user.ID) error {
	switch {
	case !d.Encrypted() || d.Cipher.Version == 0 || d.Visibility == Private && !d.OwnedBy(reader):
		return ErrNotFound
	case d.Burns:
		return ErrBurns
	}
	return nil
}

// ReadableBy returns the error of ForReader, or of CipherReadableBy if the paste is encrypted.
func (d Document) ReadableBy(reader user.ID) error {
	if d.Encrypted() {
		return d.CipherReadableBy(reader)
	}
	_, err := d.ForReader(reader)
	return err
}

// ReportableBy is ReadableBy, but also allows a paste that burns after reading.
func (d Document) ReportableBy(reader user.ID) error {
	if err := d.ReadableBy(reader); !errors.Is(err, ErrBurns) {
		return err
	}
	return nil
}

// BurnableBy returns ErrNotFound unless that user may open the paste once. Such a paste burns after reading, and is not
// another user's private one.
func (d Document) BurnableBy(reader user.ID) error {
	if !d.Burns || d.Visibility == Private && !d.OwnedBy(reader) {
		return ErrNotFound
	}
	return nil
}

// readers orders the visibilities by how many readers they allow.
func (v Visibility) readers() int {
	return map[Visibility]int{Private: 0, Unlisted: 1, Public: 2}[v]
}

// Unshared reports whether a paste is unshared after an edit: it is not public, and this edit or an earlier one took it
// from some readers. unshared is its state before the edit.
func Unshared(unshared bool, before, after Visibility) bool {
	return after != Public && (unshared || after.readers() < before.readers())
}

var errPrivate = fault.New(fault.Conflict,
	"This paste is private: without an owner, no one could read it. Make it unlisted first.")

// Anonymous returns the owner's paste as an anonymous one that the key deletes: unlisted, without tags, and living no
// longer than a new paste with the longest lifetime. It fails with ErrNotFound when the paste is not that user's, and
// with fault.Conflict when it is private.
func (d Document) Anonymous(owner user.ID, key KeyHash, longest Lifetime, now time.Time) (Document, error) {
	switch {
	case !d.OwnedBy(owner):
		return Document{}, ErrNotFound
	case d.Visibility == Private:
		return Document{}, errPrivate
	}
	d.Owner, d.DeleteKey, d.Visibility, d.Tags = "", key, Unlisted, nil
	if end := longest.End(now); !end.IsZero() && (d.ExpiresAt.IsZero() || d.ExpiresAt.After(end)) {
		d.ExpiresAt, d.Lifetime = end, longest
	}
	return d, nil
}

// EditableBy returns ErrNotFound unless that user owns the paste and it is not encrypted.
func (d Document) EditableBy(editor user.ID) error {
	if d.Encrypted() || !d.OwnedBy(editor) {
		return ErrNotFound
	}
	return nil
}

// DeleteKey lets its holder delete an anonymous paste. It is shown once, and only its hash is stored.
type DeleteKey string

// KeyHash is the SHA-256 of a DeleteKey. The zero KeyHash matches no key.
type KeyHash [sha256.Size]byte

// NewDeleteKey returns a new key of 130 random bits.
func NewDeleteKey() DeleteKey { return DeleteKey(rand.Text()) }

// Hash returns the hash to store. The key is random, so its hash needs no salt.
func (k DeleteKey) Hash() KeyHash { return sha256.Sum256([]byte(k)) }

// Fits reports whether the key has that hash, in constant time.
func (k DeleteKey) Fits(hash KeyHash) bool {
	own := k.Hash()
	return hash != KeyHash{} && subtle.ConstantTimeCompare(own[:], hash[:]) == 1
}

// ErrWrongKey is the fault.Unauthenticated for a DeleteKey of another paste.
var ErrWrongKey = fault.New(fault.Unauthenticated, "This is not the paste's delete key.")

// String implements fmt.Stringer and does not reveal the key.
func (k DeleteKey) String() string { return "[redacted]" }

// GoString implements fmt.GoStringer and does not reveal the key.
func (k DeleteKey) GoString() string { return "[redacted]" }
