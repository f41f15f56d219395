package user

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
)

// Import is an account as another installation has it. What is nil was not said: it leaves what is stored alone, and
// for a new user means the default.
type Import struct {
	ID              ID
	Name            Name
	AvatarURL       *string
	DefaultLanguage *string
	PublicProfile   *bool
	SupporterMonths *int32
	Contributor     *bool
	Stars           []string          // as in Account; empty, but not nil: none
	Services        map[string]string // as in Account; empty, but not nil: none
	CreatedAt       time.Time         // of a user who is new here
}

// Over returns what the import makes of a stored account; the zero Account stands for a user who is new here.
func (i Import) Over(stored Account) Account {
	made := stored
	if stored.ID == "" {
		made.CreatedAt, made.DefaultLanguage = i.CreatedAt, DefaultLanguage
	}
	made.ID, made.Name = i.ID, i.Name
	set(&made.AvatarURL, i.AvatarURL)
	set(&made.DefaultLanguage, i.DefaultLanguage)
	set(&made.PublicProfile, i.PublicProfile)
	set(&made.SupporterMonths, i.SupporterMonths)
	set(&made.Contributor, i.Contributor)
	if i.Stars != nil {
		made.Stars = i.Stars
	}
	if i.Services != nil {
		made.Services = i.Services
	}
	return made
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// Importer stores users that another installation has made.
type Importer interface {
	// Import stores the accounts, by id, in one transaction: it creates those that are new and makes of the others
	// what Import.Over says. Names may move between the accounts in any way, also in a circle. The results are in the
	// accounts' order. One whose name belongs to another id, which keeps it, is refused with fault.Conflict. One who
	// was deleted here and is not there is batch.RemovedEarlier: nothing of it is stored, nor does it want a name.
	// An error means that nothing was stored.
	Import(ctx context.Context, accounts []Import) ([]batch.Result, error)
}
