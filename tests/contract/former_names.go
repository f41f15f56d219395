package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// renamed gives a user another name.
func renamed(t *testing.T, s Store, from, to string) error {
	t.Helper()
	found, err := s.Users.ByName(t.Context(), parseName(t, from))
	must(t, err)
	_, _, err = s.Users.Update(t.Context(), nowhere, unrecorded, found.ID, func(u *user.User, _ map[string]string) error {
		u.Name = parseName(t, to)
		return nil
	})
	return err
}

// formerNames lead to who gave them up, and are reserved for that user, but for operators, and not without bound.
func formerNames(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "First"), storedUser(t, s, "other")
	leads := func(name string, to user.ID) {
		t.Helper()
		u, err := s.Users.ByFormerName(t.Context(), parseName(t, name))
		if to == "" {
			wantKind(t, err, fault.NotFound)
			return
		}
		must(t, err)
		want(t, name+" leads to", u.ID, to)
	}
	has := func(id user.ID, names ...string) {
		t.Helper()
		export, err := s.Tokens.Export(t.Context(), id)
		must(t, err)
		want(t, "former names", strings.Join(export.FormerNames, " "), strings.Join(names, " "))
	}
	leads("first", "")
	has(owner.ID)
	must(t, renamed(t, s, "first", "FIRST")) // the same name
	leads("first", "")
	must(t, renamed(t, s, "first", "second"))
	leads("First", owner.ID)
	has(owner.ID, "first")
	has(other.ID)
	wantOtherConflict(t, renamed(t, s, "other", "fIRST"))
	leads("other", "")
	must(t, renamed(t, s, "second", "first")) // one's own comes back
	leads("second", owner.ID)
	has(owner.ID, "second")
	must(t, renamed(t, s, "first", "third"))
	created := newUser(t, "first")
	must(t, s.createUser(t.Context(), created, nil))
	has(owner.ID, "second")
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, other.ID, other.Name, nil))
	leads("other", "")
	wantOtherConflict(t, renamed(t, s, "third", "other"))
	hash := identity.HashOf("newcomer")
	must(t, s.Identities.StoreAttempt(t.Context(), nowhere, hash, vouched("newcomer", ""), identity.MaxAttempts))
	wantOtherConflict(t, s.Identities.SignUp(t.Context(), nowhere, hash, newUser(t, "other")))
	must(t, s.createUser(t.Context(), newUser(t, "other"), nil))

	hoarder, last := storedUser(t, s, "hoard0"), "hoard0"
	for i := range user.MaxFormerNames + 1 {
		next := fmt.Sprint("hoard", i+1)
		must(t, renamed(t, s, last, next))
		last = next
	}
	leads("hoard0", "")
	leads("hoard1", hoarder.ID)
	has(hoarder.ID, "hoard5", "hoard4", "hoard3", "hoard2", "hoard1")
	must(t, renamed(t, s, "third", "hoard0"))
	wantOtherConflict(t, renamed(t, s, "hoard0", "hoard1"))
}
