package contract

import (
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// burningDocument burns after reading.
func burningDocument(t *testing.T, s DocumentStore, id paste.ID, owner user.ID,
	visibility paste.Visibility) paste.Document {
	t.Helper()
	created := newDocument(id)
	created.Owner, created.Burns, created.Visibility = owner, true, visibility
	must(t, s.Documents.CreateDocument(t.Context(), created))
	return created
}

// burn gives a paste away once, to everybody who may open it, with a tombstone in its place.
func burn(t *testing.T, s DocumentStore) {
	owner, stranger := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "stranger").ID
	for _, opener := range []user.ID{"", stranger, owner} {
		want := burningDocument(t, s, paste.ID("opened-by-"+opener), owner, paste.Unlisted)
		got, err := s.Documents.Burn(t.Context(), want.ID, opener)
		must(t, err)
		wantDocument(t, "opened", got, want)
		wantNoDocument(t, s, want.ID)
		got, err = s.Documents.Burn(t.Context(), want.ID, opener)
		wantKind(t, err, fault.NotFound)
		wantDocument(t, "opened twice", got, paste.Document{})
		results, err := s.Pastes.Import(t.Context(), Whole(want), paste.RefuseOrphans)
		wantResults(t, "an import after it", results, err, removed)
	}
	stored := storedDocument(t, s, "stays", owner)
	_, err := s.Documents.Burn(t.Context(), stored.ID, owner)
	wantKind(t, err, fault.NotFound)
	wantStored(t, s, "one that does not burn", stored)
	for _, id := range append([]string{"unknown"}, unstorable...) {
		_, err := s.Documents.Burn(t.Context(), paste.ID(id), owner)
		wantKind(t, err, fault.NotFound)
	}
	private := burningDocument(t, s, "private", owner, paste.Private)
	_, err = s.Documents.Burn(t.Context(), private.ID, stranger)
	wantKind(t, err, fault.NotFound)
	wantStored(t, s, "another's private one", private)
	_, err = s.Documents.Burn(cancelled(t), private.ID, owner)
	wantKind(t, err, fault.Unavailable)
	wantStored(t, s, "opened in vain", private)
	expired := newDocument("expired")
	expired.Burns, expired.ExpiresAt = true, now
	must(t, s.Documents.CreateDocument(t.Context(), expired))
	_, err = s.Documents.Burn(t.Context(), expired.ID, "")
	wantKind(t, err, fault.NotFound)
}

// burningListed is among its owner's pastes and in no list for others; an edit or an import leaves it one that burns.
func burningListed(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	expected := burningDocument(t, s, "burning", owner, paste.Unlisted)
	wantIDs(t, s, owner, "burning")
	titles, err := s.Pastes.Select(t.Context(), owner, paste.Selection{}, 10)
	must(t, err)
	want(t, "its owner's titles", len(titles), 1)
	want(t, "burns", titles[0].Burns, true)
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 1)
	edited, err := s.Documents.Update(t.Context(), unrecorded, expected.ID,
		func(stored paste.Document) (paste.Change, error) {
			stored.Title, stored.Burns = "edited", false
			return paste.Change{Document: stored, Changed: true}, nil
		})
	must(t, err)
	want(t, "burns after an edit", edited.Burns, true)
	expected.Burns, expected.Visibility = false, paste.Public // which no rule lets be, but an import can bring
	results, err := s.Pastes.Import(t.Context(), Whole(expected), paste.RefuseOrphans)
	wantResults(t, "an import over it", results, err, "updated")
	expected.Burns = true
	wantStored(t, s, "after an import", expected)
	public, err := s.Pastes.Select(t.Context(), owner, paste.Selection{Public: true}, 10)
	must(t, err)
	want(t, "on the profile", len(public), 0)
}

// burningMeet has callers open, delete, edit and read the same pastes: each is given to one of those who open it.
func burningMeet(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	for range 10 {
		expected := burningDocument(t, s, paste.ID(ident.New()), owner, paste.Unlisted)
		wantOneWinner(t, meet(func(int) error {
			got, err := s.Documents.Burn(t.Context(), expected.ID, "")
			if err == nil && !same(got, expected) {
				t.Error("got a part of it, want all")
			}
			return err
		}), fault.NotFound)
		wantNoDocument(t, s, expected.ID)
		mixed := burningDocument(t, s, paste.ID(ident.New()), owner, paste.Unlisted).ID
		ended := make([]bool, callers)
		wantNoErrors(t, meet(func(caller int) (err error) {
			switch caller % 4 {
			case 0:
				_, err = s.Documents.Burn(t.Context(), mixed, "")
				ended[caller] = err == nil
			case 1:
				err = s.Documents.DeleteIf(t.Context(), unrecorded, mixed, func(paste.Paste) error { return nil })
				ended[caller] = err == nil
			case 2:
				_, err = s.Documents.Update(t.Context(), unrecorded, mixed, func(stored paste.Document) (paste.Change, error) {
					stored.Title += "x"
					return paste.Change{Document: stored, Changed: true}, nil
				})
			default:
				_, err = s.Documents.ReadDocument(t.Context(), mixed, owner)
			}
			if fault.Is(err, fault.NotFound) {
				return nil
			}
			return err
		}))
		times := 0
		for _, one := range ended {
			if one {
				times++
			}
		}
		want(t, "callers that opened or deleted it", times, 1)
	}
}
