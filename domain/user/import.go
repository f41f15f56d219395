package user

import "time"

// Import is an account from another installation. A nil field keeps what is stored; for a new user it means the
// default.
type Import struct {
	ID              ID
	Name            Name
	AvatarURL       *string
	DefaultLanguage *string
	PublicProfile   *bool
	SupporterMonths *int32
	Contributor     *bool
	Stars           []string          // as in Account; empty, but not nil: none
	Identities      map[string]string // as in Account; empty, but not nil: none
	CreatedAt       time.Time         // for a new user
}

// LocalChanges has the changes that the user or an operator made to an account here. No import reverts them.
type LocalChanges struct {
	Linked   map[string]bool            // names of services that were linked here
	Unlinked map[string]map[string]bool // name of a service -> ids there that were unlinked here
	Closed   bool                       // the profile was made private here
}

// Closed reports whether a profile counts as made private here after a change. closed is its state before.
func Closed(closed bool, before, after User) bool {
	if before.PublicProfile != after.PublicProfile {
		return before.PublicProfile
	}
	return closed
}

// Over returns the stored account with the import applied, except for what would revert own. The zero Account stands
// for a new user.
func (i Import) Over(stored Account, own LocalChanges) Account {
	made := stored
	if stored.ID == "" {
		made.CreatedAt, made.DefaultLanguage = i.CreatedAt, DefaultLanguage
	}
	made.ID, made.Name = i.ID, i.Name
	set(&made.AvatarURL, i.AvatarURL)
	set(&made.DefaultLanguage, i.DefaultLanguage)
	if !own.Closed {
		set(&made.PublicProfile, i.PublicProfile)
	}
	set(&made.SupporterMonths, i.SupporterMonths)
	set(&made.Contributor, i.Contributor)
	if i.Stars != nil {
		made.Stars = i.Stars
	}
	if i.Identities != nil {
		made.Identities = i.services(stored.Identities, own)
	}
	return made
}

// services returns the imported services, except those that were unlinked here, and the services that were linked here.
func (i Import) services(stored map[string]string, own LocalChanges) map[string]string {
	services := make(map[string]string, len(i.Identities))
	for name, id := range i.Identities {
		if !own.Unlinked[name][id] {
			services[name] = id
		}
	}
	for name := range own.Linked {
		services[name] = stored[name]
	}
	return services
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}
