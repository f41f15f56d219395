package contract

import (
	"context"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// giveUp takes a paste from its owner, as pastes.AnonymizeOwn does.
func giveUp(ctx context.Context, s DocumentStore, id paste.ID, owner user.ID, key paste.KeyHash) error {
	_, err := s.Documents.Update(ctx, unrecorded, id, func(stored paste.Document) (paste.Change, error) {
		created, err := stored.Anonymous(owner, key, paste.Never, now)
		return paste.Change{Document: created, Changed: true}, err
	})
	return err
}

// givenUp has no owner, no tags and no place in lists any more, and is deleted with its key; all else stays.
func givenUp(t *testing.T, s DocumentStore) {
	owner, fan := storedUser(t, s.Store, "owner"), storedUser(t, s.Store, "fan")
	expected := newDocument("mine")
	expected.Owner, expected.Visibility, expected.Tags = owner.ID, paste.Public, []string{"a", "b"}
	must(t, s.Documents.CreateDocument(t.Context(), expected))
	must(t, s.Pastes.Star(t.Context(), nowhere, fan.ID, expected.ID))
	key := paste.NewDeleteKey()
	for _, id := range append([]string{"unknown"}, unstorable...) {
		wantKind(t, giveUp(t.Context(), s, paste.ID(id), owner.ID, key.Hash()), fault.NotFound)
	}
	wantKind(t, giveUp(t.Context(), s, expected.ID, fan.ID, key.Hash()), fault.NotFound)
	wantKind(t, giveUp(t.Context(), s, expected.ID, "", key.Hash()), fault.NotFound)
	wantKind(t, giveUp(cancelled(t), s, expected.ID, owner.ID, key.Hash()), fault.Unavailable)
	private := newDocument("private")
	private.Owner, private.Visibility = owner.ID, paste.Private
	must(t, s.Documents.CreateDocument(t.Context(), private))
	wantKind(t, giveUp(t.Context(), s, private.ID, owner.ID, key.Hash()), fault.Conflict)
	wantStored(t, s, "a private one", private)

	must(t, giveUp(t.Context(), s, expected.ID, owner.ID, key.Hash()))
	expected.Owner, expected.Visibility, expected.Tags, expected.DeleteKey, expected.Stars = "", paste.Unlisted, nil,
		key.Hash(), 1
	wantStored(t, s, "given up", expected)
	wantIDs(t, s, owner.ID, "private")
	wantKind(t, giveUp(t.Context(), s, expected.ID, owner.ID, key.Hash()), fault.NotFound)
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 2)
	public, err := s.Pastes.Select(t.Context(), owner.ID, paste.Selection{Public: true}, 10)
	must(t, err)
	want(t, "on the profile", len(public), 0)
	second := newDocument("second")
	second.Owner = owner.ID
	err = allowed(t.Context(), s, paste.Allowance{Pastes: 2}, second)
	must(t, err) // what was given up counts for no quota
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil))
	wantStored(t, s, "without its former owner", expected)
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, expected.ID, func(stored paste.Paste) error {
		want(t, "the key fits", key.Fits(stored.DeleteKey), true)
		return nil
	}))
	wantNoDocument(t, s, expected.ID)
}

// givenUpMeet has several callers give up a paste that others edit: one does, and an edit is whole or refused.
func givenUpMeet(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	stored := newDocument("mine")
	stored.Owner, stored.Visibility = owner, paste.Unlisted
	must(t, s.Documents.CreateDocument(t.Context(), stored))
	wantOneWinner(t, meet(func(int) error {
		_, err := s.Documents.Update(t.Context(), unrecorded, stored.ID, func(stored paste.Document) (paste.Change, error) {
			stored.Title += "x"
			return paste.Change{Document: stored, Changed: true}, stored.EditableBy(owner)
		})
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		return giveUp(t.Context(), s, stored.ID, owner, paste.NewDeleteKey().Hash())
	}), fault.NotFound)
}
