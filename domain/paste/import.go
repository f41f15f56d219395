package paste

import (
	"time"

	"github.com/gluepot/gluepot/domain/user"
)

// Import is a paste from another installation. A nil field keeps what is stored; for a new paste it means the zero
// value.
type Import struct {
	ID        ID
	CreatedAt time.Time
	Owner     *user.ID   // empty: anonymous
	ExpiresAt *time.Time // the zero time: never
	Lifetime  *Lifetime
	Private   *bool // wins over Public
	Public    *bool
	Title     *string
	Tags      []string // empty, but not nil: none; Pasties and Edits likewise
	Pasties   []Pasty  // nil only with a Cipher
	Edits     []Edit
	Cipher    *Cipher // instead of Title, Pasties and Edits
}

// Over returns the stored paste with the import applied, except for what would revert decisions of users here. A paste
// that is unshared (see Unshared) is not shared again. One that its owner made anonymous stays so, and does not live
// longer. The zero Document stands for a new paste.
func (i Import) Over(stored Document, unshared bool) Document {
	document := i.over(stored)
	if unshared && document.Visibility.readers() > stored.Visibility.readers() {
		document.Visibility = stored.Visibility
	}
	if stored.DeleteKey == (KeyHash{}) {
		return document
	}
	document.Owner, document.Visibility, document.Tags = "", stored.Visibility, stored.Tags
	if end := stored.ExpiresAt; !end.IsZero() && (document.ExpiresAt.IsZero() || document.ExpiresAt.After(end)) {
		document.ExpiresAt, document.Lifetime = end, stored.Lifetime
	}
	return document
}

func (i Import) over(stored Document) Document {
	document := stored
	document.ID, document.CreatedAt = i.ID, i.CreatedAt
	set(&document.Owner, i.Owner)
	set(&document.ExpiresAt, i.ExpiresAt)
	set(&document.Lifetime, i.Lifetime)
	private, public := stored.Visibility == Private, stored.Visibility == Public
	set(&private, i.Private)
	set(&public, i.Public)
	switch document.Visibility = Unlisted; {
	case private:
		document.Visibility = Private
	case public:
		document.Visibility = Public
	}
	set(&document.Title, i.Title)
	if i.Tags != nil {
		document.Tags = i.Tags
	}
	if i.Edits != nil {
		document.Edits = i.Edits
	}
	document.Pasties, document.Cipher = i.Pasties, i.Cipher
	if document.Encrypted() {
		document.Title, document.Edits = "", nil
	}
	return document
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// Orphans says what happens to imported pastes whose owner is not a user here.
type Orphans uint8

// The choices.
const (
	RefuseOrphans    Orphans = iota // do not store them
	AnonymizeOrphans                // store them without an owner
)
