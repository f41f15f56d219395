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
	Linked   map[string]bool            // keys of providers whose accounts were linked here
	Unlinked map[string]map[string]bool // key of a provider -> ids there that were unlinked here
	Closed   bool                       // the profile was made private here
}

// Closed reports whether a profile counts as made private here after a change. closed is its state before.
func Closed(closed bool, before, after User) bool {
	if before.PublicProfile != after.PublicProfile {
		return before.PublicProfile
	}
	return closed
}

// Over returns the stored account with the import applied, except for what would revert local changes. The zero Account
// stands for a new user.
func (i Import) Over(stored Account, local LocalChanges) Account {
	account := stored
	if stored.ID == "" {
		account.CreatedAt, account.DefaultLanguage = i.CreatedAt, DefaultLanguage
	}
	account.ID, account.Name = i.ID, i.Name
	set(&account.AvatarURL, i.AvatarURL)
	set(&account.DefaultLanguage, i.DefaultLanguage)
	if !local.Closed {
		set(&account.PublicProfile, i.PublicProfile)
	}
	set(&account.SupporterMonths, i.SupporterMonths)
	set(&account.Contributor, i.Contributor)
	if i.Stars != nil {
		account.Stars = i.Stars
	}
	if i.Identities != nil {
		account.Identities = i.identities(stored.Identities, local)
	}
	return account
}

// identities returns the imported identities, except those that were unlinked here, and the identities that were linked
// here.
func (i Import) identities(stored map[string]string, local LocalChanges) map[string]string {
	identities := make(map[string]string, len(i.Identities))
	for name, id := range i.Identities {
		if !local.Unlinked[name][id] {
			identities[name] = id
		}
	}
	for name := range local.Linked {
		identities[name] = stored[name]
	}
	return identities
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}
