package user

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
)

// Import is an account of another installation. A nil field keeps what is stored; for a new user it means the default.
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

// Over returns the stored account with the import applied. The zero Account stands for a new user.
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
	// Import stores the accounts one by one, in one transaction: it creates new ones and changes the others as Import.Over says. The
	// results are in the accounts' order. An account whose name another user has at that moment is refused with fault.Conflict. One that
	// was deleted here is batch.RemovedEarlier: nothing of it is stored. An error means that nothing was stored.
	Import(ctx context.Context, accounts []Import) ([]batch.Result, error)
}
