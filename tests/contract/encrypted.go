package contract

import (
	"errors"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// encryptedByClient is given to those who may have it, and once where it burns; only its owner's own list has it.
func encryptedByClient(t *testing.T, s DocumentStore) {
	owner, stranger := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "stranger").ID
	store := func(id paste.ID, visibility paste.Visibility, burns bool, version int) paste.Document {
		created := paste.Document{Paste: paste.Paste{ID: id, Owner: owner, CreatedAt: now, Burns: burns}}
		created.Visibility, created.Lifetime = visibility, paste.Never
		created.Cipher = &paste.Cipher{Version: version, Data: []byte("needle\x00\xff"), Salt: []byte("salt")}
		must(t, s.Documents.CreateDocument(t.Context(), created))
		return created
	}
	open, private := store("open", paste.Unlisted, false, 1), store("private", paste.Private, false, 1)
	burning, legacy := store("burning", paste.Unlisted, true, 1), store("legacy", paste.Public, false, 0)
	for _, c := range []struct {
		paste.Document

		reader  user.ID
		refused error
	}{
		{open, "", nil}, {open, stranger, nil}, {open, owner, nil}, {private, owner, nil}, {legacy, "", paste.ErrNotFound},
		{private, "", paste.ErrNotFound}, {private, stranger, paste.ErrNotFound},
		{burning, "", paste.ErrBurns}, {burning, owner, paste.ErrBurns},
	} {
		got, err := s.Documents.ReadCipher(t.Context(), c.ID, c.reader)
		if c.refused != nil {
			wantKind(t, err, fault.NotFound)
			want(t, "said to burn", errors.Is(err, paste.ErrBurns), errors.Is(c.refused, paste.ErrBurns))
			continue
		}
		must(t, err)
		wantDocument(t, string(c.ID), got, c.Document)
		_, err = s.Documents.ReadDocument(t.Context(), c.ID, c.reader)
		wantKind(t, err, fault.NotFound)
	}
	stored := storedDocument(t, s, "in-the-clear", owner)
	for _, id := range append([]string{"unknown", string(stored.ID)}, unstorable...) {
		_, err := s.Documents.ReadCipher(t.Context(), paste.ID(id), owner)
		wantKind(t, err, fault.NotFound)
	}
	_, err := s.Documents.ReadCipher(cancelled(t), open.ID, owner)
	wantKind(t, err, fault.Unavailable)

	listed, err := s.Pastes.Select(t.Context(), owner, paste.Selection{Order: paste.ByTitle}, 10)
	must(t, err)
	sealed := 0
	for _, one := range listed {
		if one.Encrypted {
			sealed++
			want(t, "label", one.Label(), paste.Encrypted)
		}
	}
	want(t, "encrypted ones in the owner's list", sealed, 3)
	public, err := s.Pastes.Select(t.Context(), owner, paste.Selection{Public: true}, 10)
	must(t, err)
	for _, one := range public {
		want(t, "an encrypted one on the profile", one.Encrypted, false)
	}
	opened, err := s.Documents.Burn(t.Context(), burning.ID, stranger)
	must(t, err)
	wantDocument(t, "opened", opened, burning)
	wantNoDocument(t, s, burning.ID)
}
