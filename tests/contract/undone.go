package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// importServices imports a user again whose ways in were changed here.
func importServices(t *testing.T, s Store) {
	ann := importedAccount(t, "a", "Ann")
	ann.Identities = map[string]string{"github": "1", "gitlab": "2"}
	imports := func(what string, expected string, services string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), []user.Import{ann})
		wantResults(t, what, results, err, expected)
		account, err := s.Users.AccountByID(t.Context(), "a")
		must(t, err)
		want(t, what, fmt.Sprint(account.Identities), services)
	}
	change := func(id user.ID, change func(services map[string]string)) {
		t.Helper()
		_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, id,
			func(_ *user.User, services map[string]string) error {
				change(services)
				return nil
			})
		must(t, err)
	}
	imports("the first time", fresh, "map[github:1 gitlab:2]")
	change("a", func(services map[string]string) { delete(services, "github") })
	imports("unlinked here", unchanged, "map[gitlab:2]")
	change("a", func(services map[string]string) { services["oidc@https://a.example"] = "x" })
	imports("linked here", unchanged, "map[gitlab:2 oidc@https://a.example:x]")
	change("a", func(services map[string]string) { services["gitlab"] = "3" })
	imports("another one of the same service", unchanged, "map[gitlab:3 oidc@https://a.example:x]")

	// Another user may have what was unlinked.
	bob := storedUser(t, s, "Bob")
	change(bob.ID, func(services map[string]string) { services["github"] = "1" })
	imports("in use by another user", unchanged, "map[gitlab:3 oidc@https://a.example:x]")
	u, err := s.Identities.ByIdentity(t.Context(), identity.Identity{Key: "github", Subject: "1"})
	must(t, err)
	want(t, "who signs in", u.ID, bob.ID)
	change(bob.ID, func(services map[string]string) { delete(services, "github") })

	change("a", func(services map[string]string) { services["github"] = "1" })
	imports("linked again", unchanged, "map[github:1 gitlab:3 oidc@https://a.example:x]")
	ann.Identities = map[string]string{}
	imports("a record without any", unchanged, "map[github:1 gitlab:3 oidc@https://a.example:x]")
	ann.Identities, ann.SupporterMonths = map[string]string{"github": "9", "bitbucket": "5"}, new(int32(4))
	imports("a new one in the export", updated, "map[bitbucket:5 github:1 gitlab:3 oidc@https://a.example:x]")
	ann.Identities = map[string]string{"bitbucket": "6"}
	imports("a change of what was imported", updated, "map[bitbucket:6 github:1 gitlab:3 oidc@https://a.example:x]")
	ann.Identities = map[string]string{}
	imports("the export has lost it", updated, "map[github:1 gitlab:3 oidc@https://a.example:x]")
}

// importProfile imports a user again who has made the profile private here.
func importProfile(t *testing.T, s Store) {
	ann := importedAccount(t, "a", "Ann")
	imports := func(what string, public bool, outcome string, expected bool) {
		t.Helper()
		ann.PublicProfile = &public
		results, err := s.Users.Import(t.Context(), []user.Import{ann})
		wantResults(t, what, results, err, outcome)
		found, err := s.Users.ByID(t.Context(), "a")
		must(t, err)
		want(t, what, found.PublicProfile, expected)
	}
	set := func(public bool) {
		t.Helper()
		_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, "a", func(u *user.User, _ map[string]string) error {
			u.PublicProfile = public
			return nil
		})
		must(t, err)
	}
	imports("private", false, fresh, false)
	set(false) // it is
	imports("opened there", true, updated, true)
	set(false)
	imports("closed here", true, unchanged, false)
	ann.SupporterMonths = new(int32(4))
	imports("with something else", true, updated, false)
	imports("still", true, unchanged, false)
	set(true)
	imports("opened here again", true, unchanged, true)
	imports("closed there", false, updated, false)
}

// importTakesNames has an import rename users: what they had is reserved for them, and leads to them.
func importTakesNames(t *testing.T, s Store) {
	ann, bob := importedAccount(t, "a", "Ann"), importedAccount(t, "b", "Bob")
	imports := func(what string, accounts []user.Import, expected ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, expected...)
	}
	imports("the first time", []user.Import{ann, bob}, fresh, fresh)
	storedUser(t, s, "other")
	ann.Name = parseName(t, "Anna")
	imports("a new name", []user.Import{ann}, updated)
	wantOtherConflict(t, renamed(t, s, "other", "ann"))
	u, err := s.Users.ByFormerName(t.Context(), parseName(t, "ann"))
	must(t, err)
	want(t, "the old name leads to", u.ID, "a")
	ann.Name = parseName(t, "ANNA")
	imports("the same in capitals", []user.Import{ann}, updated)
	export, err := s.Tokens.Export(t.Context(), "a")
	must(t, err)
	want(t, "former names", fmt.Sprint(export.FormerNames), "[ann]")
	must(t, renamed(t, s, "anna", "ann")) // the owner may have it back

	ann.Name, bob.Name = bob.Name, parseName(t, "Ann")
	imports("names that are swapped", []user.Import{ann, bob}, updated, updated)
	wantNames(t, s, map[user.ID]string{"a": "Bob", "b": "Ann", idOfName(t, s, "other"): "other"})
	cid := importedAccount(t, "c", "Anna")
	imports("a reserved name: imports are operators'", []user.Import{cid}, fresh)
}

func idOfName(t *testing.T, s Store, name string) user.ID {
	t.Helper()
	u, err := s.Users.ByName(t.Context(), parseName(t, name))
	must(t, err)
	return u.ID
}

// importGivenUp imports a paste again that its owner has given up.
func importGivenUp(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	imports := func(what string, exported paste.Document, outcome string, want paste.Document) {
		t.Helper()
		for _, outcome := range []string{outcome, unchanged} {
			results, err := s.Pastes.Import(t.Context(), Whole(exported), paste.RefuseOrphans)
			wantResults(t, what, results, err, outcome)
			wantStored(t, s, what, want)
		}
	}
	exported := newDocument("mine")
	exported.Owner, exported.Visibility, exported.Tags, exported.Origin = owner, paste.Public, []string{"a", "b"}, ""
	imports("the first time", exported, fresh, exported)
	key := paste.NewDeleteKey().Hash()
	must(t, giveUp(t.Context(), s, exported.ID, owner, key))
	anonymous := exported
	anonymous.Owner, anonymous.Visibility, anonymous.Tags, anonymous.DeleteKey = "", paste.Unlisted, nil, key
	imports("given up", exported, unchanged, anonymous)
	exported.Title, anonymous.Title = "other", "other"
	imports("a newer export", exported, updated, anonymous)
	exported.Visibility = paste.Private
	imports("private there", exported, unchanged, anonymous)
	wantIDs(t, s, owner)

	limited := newDocument("limited")
	limited.Owner, limited.Origin, limited.Visibility = owner, "", paste.Unlisted
	limited.ExpiresAt, limited.Lifetime = time.Time{}, paste.Never
	imports("another one", limited, fresh, limited)
	givenUp, err := s.Documents.Update(t.Context(), unrecorded, "limited",
		func(stored paste.Document) (paste.Change, error) {
			created, err := stored.Anonymous(owner, key, "1d", time.Now())
			return paste.Change{Document: created, Changed: true}, err
		})
	must(t, err)
	imports("given up for a day", limited, unchanged, givenUp)
	limited.ExpiresAt, limited.Lifetime = givenUp.ExpiresAt.Add(-time.Hour), "2h"
	givenUp.ExpiresAt, givenUp.Lifetime = limited.ExpiresAt, limited.Lifetime
	imports("sooner in the export", limited, updated, givenUp)
}

// importUnshared imports pastes again that fewer may read since an edit here.
func importUnshared(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	exported := newDocument("mine")
	exported.Owner, exported.Origin = owner, ""
	imports := func(what string, visibility paste.Visibility, outcome string, want paste.Visibility) {
		t.Helper()
		exported.Visibility = visibility
		stored := exported
		stored.Visibility = want
		for _, outcome := range []string{outcome, unchanged} {
			results, err := s.Pastes.Import(t.Context(), Whole(exported), paste.RefuseOrphans)
			wantResults(t, what, results, err, outcome)
			wantStored(t, s, what, stored)
		}
	}
	edit := func(visibility paste.Visibility) {
		t.Helper()
		_, err := s.Documents.Update(t.Context(), unrecorded, "mine", func(stored paste.Document) (paste.Change, error) {
			stored.Visibility = visibility
			return paste.Change{Document: stored, Changed: true}, nil
		})
		must(t, err)
	}
	imports("private", paste.Private, fresh, paste.Private)
	imports("shared there", paste.Public, updated, paste.Public)
	edit(paste.Unlisted)
	imports("unlisted here", paste.Public, unchanged, paste.Unlisted)
	imports("private there", paste.Private, updated, paste.Private)
	imports("public there", paste.Public, unchanged, paste.Private)
	edit(paste.Unlisted)
	imports("unlisted here again", paste.Public, unchanged, paste.Unlisted)
	edit(paste.Private)
	imports("private here", paste.Unlisted, unchanged, paste.Private)
	exported.Title = "other"
	imports("with something else", paste.Unlisted, updated, paste.Private)
	edit(paste.Public)
	imports("public here again", paste.Public, unchanged, paste.Public)
	imports("private there again", paste.Private, updated, paste.Private)
	imports("public there again", paste.Public, updated, paste.Public)
}
