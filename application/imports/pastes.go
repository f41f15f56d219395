package imports

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Paste is a paste as the source has it. Times are Unix seconds.
type Paste struct {
	ID, Owner            string // no owner: anonymous
	CreatedAt, DeletesAt int64  // DeletesAt 0: never
}

// Pastes brings pastes in.
type Pastes struct{ pastes paste.Importer }

// maxSeconds is the end of the year 9999.
const maxSeconds = 253402300799

// Do stores the pastes of the source. The rest is as for Users.
func (p *Pastes) Do(ctx context.Context, source Source[Paste], reject Reject) (Summary, error) {
	return run(ctx, source, reject, oneRow(newPaste), p.pastes.Import)
}

func newPaste(r Paste) (paste.Paste, error) {
	if r.CreatedAt < 0 || r.DeletesAt < 0 || r.CreatedAt > maxSeconds || r.DeletesAt > maxSeconds {
		return paste.Paste{}, fault.New(fault.Invalid, "A time is negative or beyond the year 9999.")
	}
	made := paste.Paste{ID: paste.ID(r.ID), Owner: user.ID(r.Owner), CreatedAt: time.Unix(r.CreatedAt, 0).UTC()}
	if r.DeletesAt != 0 {
		made.ExpiresAt = time.Unix(r.DeletesAt, 0).UTC()
	}
	return made, made.Validate()
}
