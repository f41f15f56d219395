package imports

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// MaxParts bounds the tags, pasties, edits and metadata of edits of one paste together. Real pastes have far fewer; a
// broken export could otherwise take many times its length in memory.
const MaxParts = 100_000

// Pastes imports pastes.
type Pastes struct{ pastes paste.Store }

const (
	// maxSeconds is the end of the year 9999.
	maxSeconds = 253402300799
	// maxEditNumber leaves room for later numbers, also in clients whose numbers are doubles.
	maxEditNumber = 1 << 52
	// maxLifetime is the longest spelling of a lifetime, in bytes.
	maxLifetime = 64
)

// Do stores the pastes of the source with their content and history. Text is stored as it is, even if it breaks the
// rules for new pastes. The source leaves out what a record does not say, which stays as it is stored; one without a
// time of creation, or with neither a list of pasties nor a cipher, is rejected. The source may stop reading a paste
// one part beyond MaxParts. The rest is as for Users.
func (p *Pastes) Do(
	ctx context.Context, actor audit.Actor, source Source[paste.Import], orphans paste.Orphans, reject Reject,
) (Summary, error) {
	return run(ctx, actor, source, reject, checked,
		func(ctx context.Context, pastes []paste.Import) ([]batch.Result, error) {
			return p.pastes.Import(ctx, pastes, orphans)
		})
}

var errTime = fault.New(fault.Invalid, "A time is negative or beyond the year 9999.")

func isTime(t time.Time) bool { return t.Unix() >= 0 && t.Unix() <= maxSeconds }

// checked returns the paste with its tags in order. It fails with a fault.Invalid about what cannot be stored as it is.
func checked(i paste.Import) (paste.Import, error) {
	d, cipher := i.Over(paste.Document{}, false), i.Cipher
	parts := len(i.Tags) + len(i.Pasties) + len(i.Edits)
	for _, e := range i.Edits {
		parts += len(e.Metadata)
	}
	var err error
	switch {
	// An incomplete record must not replace a paste; the file may not even be an export of pastes.
	case i.CreatedAt.IsZero():
		err = fault.New(fault.Invalid, "The record is not a complete paste: it has no createdAt.")
	case i.Pasties == nil && cipher == nil:
		err = fault.New(fault.Invalid, "The record is not a complete paste: it has no pasties and is not encrypted.")
	case !isTime(d.CreatedAt) || !d.ExpiresAt.IsZero() && !isTime(d.ExpiresAt):
		err = errTime
	case parts > MaxParts:
		err = fault.New(fault.Invalid, fmt.Sprintf("The paste has more than %d tags, pasties, edits and metadata of edits.",
			MaxParts))
	case len(d.Lifetime) > maxLifetime || strings.ContainsRune(string(d.Lifetime), 0):
		err = fault.New(fault.Invalid, fmt.Sprintf("The paste's expiresIn is longer than %d bytes, or has a zero byte in it.",
			maxLifetime))
	case cipher != nil && len(cipher.Data)+len(cipher.Key)+len(cipher.Salt) == 0:
		err = fault.New(fault.Invalid, "The paste is marked as encrypted, but has no encrypted data.")
	case cipher != nil && (i.Title != nil && *i.Title != "" || len(i.Pasties)+len(i.Edits) > 0):
		err = fault.New(fault.Invalid, "The paste is encrypted, but has a title, pasties or edits that are not.")
	default:
		err = checkEdits(i.Edits)
	}
	if err != nil {
		return paste.Import{}, err
	}
	if i.Tags != nil {
		i.Tags = append([]string{}, slices.Compact(slices.Sorted(slices.Values(i.Tags)))...)
	}
	return i, d.Validate()
}

func checkEdits(edits []paste.Edit) error {
	for _, e := range edits {
		switch {
		case !isTime(e.At):
			return errTime
		case e.Type < paste.EditTitle || e.Type > paste.EditPastyRemoved:
			return fault.New(fault.Invalid, "The type of an edit must be 0 to 5.")
		case e.Number < 0 || e.Number > maxEditNumber:
			return fault.New(fault.Invalid, "The number of an edit is negative or too large.")
		}
	}
	return nil
}
