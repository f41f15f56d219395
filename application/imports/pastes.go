package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// MaxParts bounds the tags, pasties, edits and metadata of edits of one paste together. Real pastes have far fewer; a broken
// export could otherwise take many times its length in memory.
const MaxParts = 100_000

// Paste is a paste as the source has it. Texts are valid UTF-8, and times Unix seconds.
type Paste struct {
	ID, Owner       string // no owner: anonymous
	CreatedAt       *int64 // nil: the source does not say
	DeletesAt       int64  // 0: never
	ExpiresIn       string
	Private, Public bool
	Tags            []string
	Title           string
	Pasties         []paste.Pasty // nil: the source does not say
	Edits           []Edit

	// Of an encrypted paste, instead of Title, Pasties and Edits.
	Encrypted                         bool
	EncryptedData, EncryptedKey, Salt []byte
}

// Edit is an entry of a paste's history as the source has it.
type Edit struct {
	ID           string
	Number, Type int64
	Metadata     []string
	Text         string
	At           int64 // in Unix seconds
}

// Pastes imports pastes.
type Pastes struct{ pastes paste.Importer }

const (
	// maxSeconds is the end of the year 9999.
	maxSeconds = 253402300799
	// maxEditNumber leaves room for later numbers, also in clients whose numbers are doubles.
	maxEditNumber = 1 << 52
	// maxLifetime is the longest spelling of a lifetime, in bytes.
	maxLifetime = 64
)

// Do stores the pastes of the source with their content and history. Text is stored as it is, even if it breaks the rules for
// new pastes. The source may stop reading a paste one part beyond MaxParts. The rest is as for Users.
func (p *Pastes) Do(ctx context.Context, source Source[Paste], orphans paste.Orphans, reject Reject) (Summary, error) {
	return run(ctx, source, reject, newPaste, func(ctx context.Context, pastes []paste.Document) ([]batch.Result, error) {
		return p.pastes.Import(ctx, pastes, orphans)
	})
}

func newPaste(r Paste) (made paste.Document, err error) {
	if err := validate(r); err != nil {
		return paste.Document{}, err
	}
	made.Paste = paste.Paste{ID: paste.ID(r.ID), Owner: user.ID(r.Owner), CreatedAt: time.Unix(*r.CreatedAt, 0).UTC()}
	if r.DeletesAt != 0 {
		made.ExpiresAt = time.Unix(r.DeletesAt, 0).UTC()
	}
	tags := slices.Compact(slices.Sorted(slices.Values(r.Tags)))
	made.Content = paste.Content{Title: r.Title, Tags: tags, Lifetime: paste.Lifetime(r.ExpiresIn), Pasties: r.Pasties}
	switch {
	case r.Private: // the stricter of the two
		made.Visibility = paste.Private
	case r.Public:
		made.Visibility = paste.Public
	}
	if r.Encrypted || r.holdsCipher() {
		made.Cipher = &paste.Cipher{Data: r.EncryptedData, Key: r.EncryptedKey, Salt: r.Salt}
	}
	if made.Edits, err = newEdits(r.Edits); err != nil {
		return paste.Document{}, err
	}
	return made, made.Validate()
}

var errTime = fault.New(fault.Invalid, "A time is negative or beyond the year 9999.")

func isTime(seconds int64) bool { return seconds >= 0 && seconds <= maxSeconds }

func (r *Paste) holdsCipher() bool { return len(r.EncryptedData)+len(r.EncryptedKey)+len(r.Salt) > 0 }

// validate returns a fault.Invalid about what cannot be stored as it is.
func validate(r Paste) error {
	parts := len(r.Tags) + len(r.Pasties) + len(r.Edits)
	for i := range r.Edits {
		parts += len(r.Edits[i].Metadata)
	}
	switch {
	// An incomplete record must not replace a paste; the file may not even be an export of pastes.
	case r.CreatedAt == nil:
		return fault.New(fault.Invalid, "The record is not a whole paste: it has no createdAt.")
	case r.Pasties == nil && !r.Encrypted && !r.holdsCipher():
		return fault.New(fault.Invalid, "The record is not a whole paste: it has no pasties and is not encrypted.")
	case !isTime(*r.CreatedAt) || !isTime(r.DeletesAt):
		return errTime
	case parts > MaxParts:
		return fault.New(fault.Invalid, fmt.Sprintf("The paste has more than %d tags, pasties, edits and metadata of edits.", MaxParts))
	case len(r.ExpiresIn) > maxLifetime || strings.ContainsRune(r.ExpiresIn, 0):
		return fault.New(fault.Invalid, fmt.Sprintf("The paste's expiresIn is longer than %d bytes, or has a zero byte in it.", maxLifetime))
	case r.Encrypted && !r.holdsCipher():
		return fault.New(fault.Invalid, "The paste is marked as encrypted, but has no encrypted data.")
	case r.holdsCipher() && (r.Title != "" || len(r.Pasties)+len(r.Edits) > 0):
		return fault.New(fault.Invalid, "The paste is encrypted, and has a title, pasties or edits that are not.")
	}
	return nil
}

// newEdits returns the history in the order that it has in the source.
func newEdits(edits []Edit) ([]paste.Edit, error) {
	if len(edits) == 0 {
		return nil, nil
	}
	made := make([]paste.Edit, len(edits))
	for i, e := range edits {
		switch {
		case !isTime(e.At):
			return nil, errTime
		case e.Type < int64(paste.EditTitle) || e.Type > int64(paste.EditPastyRemoved):
			return nil, fault.New(fault.Invalid, "The type of an edit is not 0 to 5.")
		case e.Number < 0 || e.Number > maxEditNumber:
			return nil, fault.New(fault.Invalid, "The number of an edit is negative or too large.")
		}
		made[i] = paste.Edit{
			ID: e.ID, Number: e.Number, Type: paste.EditType(e.Type), Metadata: e.Metadata, Text: e.Text, At: time.Unix(e.At, 0).UTC(),
		}
	}
	return made, nil
}
