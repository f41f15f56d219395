package contract

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Documents are the ports about pastes with what they hold.
type Documents interface {
	paste.DocumentFinder
	paste.DocumentReader
	paste.DocumentCreator
	paste.DocumentUpdater
	paste.DocumentDeleter
	paste.CountedCreator
	paste.ClientForgetter
}

// DocumentStore is a Store whose pastes have content.
type DocumentStore struct {
	Store
	Documents Documents
}

// RunDocuments runs every suite about pastes with content, each behaviour on a store of its own.
func RunDocuments(t *testing.T, open func(t *testing.T) DocumentStore) {
	t.Helper()
	for name, behaviour := range map[string]func(*testing.T, DocumentStore){
		"create and read":                  createDocument,
		"read, with a token":               readWithToken,
		"read what is not for everybody":   readAsSeen,
		"read what is not there":           readNothing,
		"id is unique":                     documentConflicts,
		"create for a token":               createOwnDocument,
		"create for a token not valid":     createOwnDocumentRefused,
		"update":                           updateDocument,
		"an update that changes nothing":   updateDocumentUnchanged,
		"an update that is refused":        updateDocumentRefused,
		"an update drops the oldest edits": updateDropsEdits,
		"delete":                           deleteDocument,
		"content goes with its paste":      contentGoes,
		"import":                           importDocuments,
		"import over edits":                importOverEdits,
		"import of orphans":                importOrphans,
		"a cancelled context":              cancelledDocument,
		"several callers update":           updatesMeet,
		"several callers create, delete":   documentsMeet,
		"several callers create":           creationsMeet,
		"quotas":                           quotas,
		"quotas pass":                      quotasPass,
		"several callers with quotas":      quotasMeet,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behaviour(t, open(t))
		})
	}
}

// odd are texts that a paste can hold.
var odd = "\x00 \r\n\r\u2028\u202eä漢😀'\"\\<>&\n\ufeff\ufffd\x7f"

// newDocument has everything that a paste can hold; what was imported breaks the rules.
func newDocument(id paste.ID) paste.Document {
	at := time.Date(2020, 2, 29, 23, 59, 58, 0, time.UTC)
	return paste.Document{
		Paste: paste.Paste{ID: id, CreatedAt: now, ExpiresAt: later.Truncate(time.Second)},
		Content: paste.Content{
			Title: strings.Repeat(odd, 200), Visibility: paste.Private, Tags: []string{"", " a,b", odd, "z"}, Lifetime: "1d",
			Pasties: []paste.Pasty{
				{ID: "second", Title: odd, Language: "unknown", Code: odd},
				{ID: "first", Language: "C++", Code: strings.Repeat("0123456789abcdef\n", 1<<12)}, // more than any buffer
				{ID: "empty"},
			},
			Edits: []paste.Edit{
				{ID: "e1", Number: 0, Type: paste.EditTitle, Text: odd, At: at},
				{ID: "e2", Number: 7, Type: paste.EditPastyRemoved, Metadata: []string{"gone", odd, ""}, Text: odd, At: at.Add(time.Second)},
				{ID: "e0", Number: 7, Type: paste.EditPastyCode, Metadata: []string{"first"}, At: at.Add(time.Second)},
			},
		},
	}
}

// storedDocument belongs to the holder of the token.
func storedDocument(t *testing.T, s DocumentStore, id paste.ID, holder token.Token) paste.Document {
	t.Helper()
	created := newDocument(id)
	created.Owner = holder.Owner
	must(t, s.Documents.CreateDocument(t.Context(), created))
	return created
}

// same reports whether two documents are the same, but for empty lists, which can be nil, and the zone of times.
func same(a, b paste.Document) bool {
	for _, d := range []*paste.Document{&a, &b} {
		d.CreatedAt, d.ExpiresAt = d.CreatedAt.UTC(), d.ExpiresAt.UTC()
		d.Tags, d.Pasties, d.Edits = append([]string{}, d.Tags...), append([]paste.Pasty{}, d.Pasties...), append([]paste.Edit{}, d.Edits...)
		for i := range d.Edits {
			d.Edits[i].Metadata = append([]string{}, d.Edits[i].Metadata...)
		}
	}
	return reflect.DeepEqual(a, b)
}

func wantDocument(t *testing.T, what string, got, wanted paste.Document) {
	t.Helper()
	if !same(got, wanted) {
		t.Errorf("%s: got %.2000q, want %.2000q", what, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", wanted))
	}
	if got.CreatedAt.Location() != time.UTC || got.ExpiresAt.Location() != time.UTC {
		t.Errorf("%s: got times in %v and %v, want UTC", what, got.CreatedAt.Location(), got.ExpiresAt.Location())
	}
}

// wantStored reads the paste of that id, with its owner's stars.
func wantStored(t *testing.T, s DocumentStore, what string, wanted paste.Document) {
	t.Helper()
	got, err := s.Documents.DocumentByID(t.Context(), wanted.ID)
	must(t, err)
	wantDocument(t, what, got, wanted)
}

func wantNoDocument(t *testing.T, s DocumentStore, id paste.ID) {
	t.Helper()
	_, err := s.Documents.DocumentByID(t.Context(), id)
	wantKind(t, err, fault.NotFound)
	for _, presented := range []token.Hash{{}, token.Generate().Hash()} {
		_, _, err := s.Documents.ReadDocument(t.Context(), id, presented, now)
		wantKind(t, err, fault.NotFound)
	}
}

func createDocument(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	owned := storedDocument(t, s, "owned", holder)
	anonymous := newDocument("anonymous")
	anonymous.Owner, anonymous.ExpiresAt, anonymous.Lifetime = "", time.Time{}, paste.Never
	anonymous.Visibility, anonymous.Tags, anonymous.Stars = paste.Public, nil, 9
	anonymous.Pasties[1].Code = strings.Repeat("0123456789abcdef\n", 1<<16)
	must(t, s.Documents.CreateDocument(t.Context(), anonymous))
	bare := paste.Document{Content: paste.Content{Lifetime: paste.Never, Pasties: []paste.Pasty{{ID: "only"}}}}
	bare.Paste = paste.Paste{ID: "bare", CreatedAt: now}
	must(t, s.Documents.CreateDocument(t.Context(), bare))
	sealed := paste.Document{Paste: paste.Paste{ID: "sealed", CreatedAt: now}, Content: paste.Content{
		Lifetime: "1y", Cipher: &paste.Cipher{Data: []byte("\x00\xff"), Key: []byte("key"), Salt: []byte{0}},
	}}
	must(t, s.Documents.CreateDocument(t.Context(), sealed))
	fan := storedUser(t, s.Store, "fan")
	must(t, s.Pastes.Star(t.Context(), fan.ID, "owned"))
	must(t, s.Pastes.Star(t.Context(), holder.Owner, "owned"))
	owned.Stars, anonymous.Stars = 2, 0
	for _, wanted := range []paste.Document{owned, anonymous, bare, sealed} {
		wantStored(t, s, string(wanted.ID), wanted)
	}
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 4)
	must(t, s.Pastes.EachByOwner(t.Context(), holder.Owner, func(p paste.Paste) error {
		want(t, "the owner's paste", p.ID, "owned")
		return nil
	}))
}

func readWithToken(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	valid := storedToken(t, s.Store, owner)
	revoked := storedToken(t, s.Store, owner)
	must(t, s.Tokens.Revoke(t.Context(), revoked.ID, now))
	revoked.RevokedAt = now
	expired := token.Token{ID: "expired", Owner: owner, Hash: token.Generate().Hash(), CreatedAt: now, ExpiresAt: now}
	must(t, s.Tokens.Create(t.Context(), expired))
	wanted := newDocument("paste")
	wanted.Owner, wanted.Visibility = owner, paste.Unlisted
	must(t, s.Documents.CreateDocument(t.Context(), wanted))
	for _, presented := range []token.Token{valid, revoked, expired, {}, {Hash: token.Generate().Hash()}} {
		got, holder, err := s.Documents.ReadDocument(t.Context(), "paste", presented.Hash, now)
		must(t, err)
		wantDocument(t, string(presented.ID), got, wanted)
		_, same, err := s.Documents.ReadDocument(t.Context(), "nothing", presented.Hash, now)
		wantKind(t, err, fault.NotFound)
		want(t, "the token, without a paste", same, holder)
		want(t, "the token", holder.ID, presented.ID)
		want(t, "its owner", holder.Owner, presented.Owner)
		if presented.ID != "" {
			want(t, "its hash", holder.Hash, presented.Hash)
			want(t, "its expiry", holder.ExpiresAt, presented.ExpiresAt.UTC())
			want(t, "its revocation", holder.RevokedAt, presented.RevokedAt.UTC())
		}
	}
}

// readAsSeen wants whatever Document.SeenBy shows, and nothing else, for every kind of paste and token, in one statement each and
// in those that callers at once share.
func readAsSeen(t *testing.T, s DocumentStore) {
	owner, stranger := storedUser(t, s.Store, "owner").ID, storedUser(t, s.Store, "stranger").ID
	tokens := []token.Token{{}, {ID: "unknown", Hash: token.Generate().Hash()}}
	for _, made := range []token.Token{
		{ID: "valid", Owner: owner}, {ID: "valid still", Owner: owner, ExpiresAt: now.Add(time.Microsecond)},
		{ID: "expired", Owner: owner, ExpiresAt: now}, {ID: "revoked", Owner: owner, RevokedAt: later},
		{ID: "stranger's", Owner: stranger},
	} {
		made.Hash, made.CreatedAt = token.Generate().Hash(), now
		must(t, s.Tokens.Create(t.Context(), made))
		tokens = append(tokens, made)
	}
	var pastes []paste.Document
	for _, belongsTo := range []user.ID{"", owner} {
		for _, visibility := range []paste.Visibility{paste.Unlisted, paste.Public, paste.Private} {
			for _, size := range []int{1, 1 << 10, 100 << 10} { // in bytes
				for _, sealed := range []bool{false, true} {
					content := paste.Content{Lifetime: paste.Never, Tags: []string{"tag"}}
					if content.Visibility = visibility; sealed {
						content.Cipher = &paste.Cipher{Data: []byte(strings.Repeat("x", size)), Key: []byte("k"), Salt: []byte("s")}
					} else {
						content.Pasties = []paste.Pasty{{ID: "only", Code: strings.Repeat("x", size)}}
					}
					made := paste.Paste{ID: paste.ID(fmt.Sprint("paste", len(pastes))), Owner: belongsTo, CreatedAt: now}
					pastes = append(pastes, paste.Document{Paste: made, Content: content})
					must(t, s.Documents.CreateDocument(t.Context(), pastes[len(pastes)-1]))
				}
			}
		}
	}
	shown := 0
	read := func(stored paste.Document, presented token.Token) {
		what := fmt.Sprintf("%s of %q, %v, encrypted %t, token %s", stored.ID, stored.Owner, stored.Visibility, stored.Encrypted(), presented.ID)
		var reader user.ID
		if presented.Owner != "" && presented.Verify(presented.Hash, now) == nil {
			reader = presented.Owner
		}
		got, holder, err := s.Documents.ReadDocument(t.Context(), stored.ID, presented.Hash, now)
		if _, refused := stored.SeenBy(reader); refused != nil {
			if !fault.Is(err, fault.NotFound) || got.ID != "" || len(got.Pasties) > 0 || got.Cipher != nil {
				t.Errorf("%s: got %.100q, %v, want nothing and a fault.NotFound", what, fmt.Sprintf("%+v", got), err)
			}
		} else if err != nil || !same(got, stored) {
			t.Errorf("%s: got %.100q, %v, want all of it", what, fmt.Sprintf("%+v", got), err)
		}
		if holder.Owner != presented.Owner {
			t.Errorf("%s: got a token of %q, want of %q", what, holder.Owner, presented.Owner)
		}
	}
	var reading sync.WaitGroup
	for _, stored := range pastes {
		for _, presented := range tokens {
			read(stored, presented)
			if _, err := stored.SeenBy(presented.Owner); err == nil {
				shown++
			}
		}
	}
	for _, stored := range pastes {
		for _, presented := range tokens {
			reading.Go(func() { read(stored, presented) })
		}
	}
	reading.Wait()
	if all := len(pastes) * len(tokens); shown == 0 || shown == all {
		t.Errorf("%d of %d are shown, want some", shown, all)
	}
}

func readNothing(t *testing.T, s DocumentStore) {
	storedPaste(t, s.Store, "expired", "", now, now)
	storedPaste(t, s.Store, "Case", "", now, time.Time{})
	for _, id := range append(unstorable, "expired", "case") {
		wantNoDocument(t, s, paste.ID(id))
		_, err := s.Documents.Update(t.Context(), paste.ID(id), token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
			want(t, "what is not there", stored.ID, "")
			return paste.Change{Changed: true}, nil
		})
		wantKind(t, err, fault.NotFound)
		err = s.Documents.DeleteIf(t.Context(), paste.ID(id), token.Hash{}, func(_ token.Token, stored paste.Paste) error {
			want(t, "what is not there", stored, paste.Paste{})
			return nil
		})
		wantKind(t, err, fault.NotFound)
	}
}

func documentConflicts(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	first := storedDocument(t, s, "taken", holder)
	second := paste.Document{Paste: paste.Paste{ID: "taken", CreatedAt: now}, Content: paste.Content{Title: "second"}}
	wantIDTaken(t, s.Documents.CreateDocument(t.Context(), second))
	second.CreatedAt = time.Now()
	_, err := s.Documents.CreateOwnDocument(t.Context(), holder.Hash, second)
	wantIDTaken(t, err)
	wantStored(t, s, "the first", first)
	second.ID, second.Owner = "orphan", "nobody"
	wantKind(t, s.Documents.CreateDocument(t.Context(), second), fault.NotFound)
	wantNoDocument(t, s, "orphan")
}

func createOwnDocument(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	created := newDocument("own")
	created.Owner = "somebody-else"
	got, err := s.Documents.CreateOwnDocument(t.Context(), holder.Hash, created)
	must(t, err)
	want(t, "the token", got.ID, holder.ID)
	want(t, "its hash", got.Hash, holder.Hash)
	created.Owner = holder.Owner
	wantStored(t, s, "own", created)
	wantIDs(t, s, holder, "own")
}

// wantIDs checks the list of the owner's pastes.
func wantIDs(t *testing.T, s DocumentStore, holder token.Token, wanted ...string) {
	t.Helper()
	var ids []string
	must(t, s.Pastes.EachActiveID(t.Context(), holder.Owner, func(id paste.ID) error {
		ids = append(ids, string(id))
		return nil
	}))
	if !slices.Equal(ids, wanted) {
		t.Errorf("got %q as the owner's pastes, want %q", ids, wanted)
	}
}

func createOwnDocumentRefused(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	at := now.UTC()
	for what, made := range map[string]token.Token{
		"expired-now": {ExpiresAt: at}, "expired": {ExpiresAt: at.Add(-time.Microsecond)}, "revoked": {RevokedAt: at.Add(-time.Hour)},
		"revoked-later": {RevokedAt: at.Add(time.Hour)}, "valid": {ExpiresAt: at.Add(time.Microsecond)},
	} {
		made.ID, made.Owner, made.Hash, made.CreatedAt = token.ID(what), owner, token.Generate().Hash(), now
		must(t, s.Tokens.Create(t.Context(), made))
		created := newDocument(paste.ID(what))
		created.CreatedAt = at
		got, err := s.Documents.CreateOwnDocument(t.Context(), made.Hash, created)
		must(t, err)
		want(t, "the token", got.ID, made.ID)
		want(t, what+" is accepted", got.Verify(made.Hash, at) == nil, what == "valid")
	}
	wantIDs(t, s, token.Token{Owner: owner}, "valid")
	for _, hash := range []token.Hash{{}, token.Generate().Hash()} {
		_, err := s.Documents.CreateOwnDocument(t.Context(), hash, newDocument("unknown"))
		wantKind(t, err, fault.NotFound)
	}
	wantNoDocument(t, s, "unknown")
}

func updateDocument(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	before, bystander := storedDocument(t, s, "paste", holder), storedDocument(t, s, "bystander", holder)
	must(t, s.Pastes.Star(t.Context(), holder.Owner, "paste"))
	before.Stars = 1
	added := paste.Edit{
		ID: "e3", Number: 8, Type: paste.EditPastyAdded, Metadata: []string{"new", "", "Go"}, Text: odd, At: time.Unix(1, 0).UTC(),
	}
	wanted := before
	wanted.Title, wanted.Visibility, wanted.Tags = "", paste.Unlisted, []string{"new"}
	wanted.Pasties = []paste.Pasty{
		before.Pasties[2], {ID: "new", Language: "Go", Code: odd}, {ID: "second", Title: "new", Language: "Go", Code: "new"},
	}
	wanted.Edits = append(slices.Clone(before.Edits), added)
	change := func(presented token.Token, stored paste.Document) (paste.Change, error) {
		want(t, "the token", presented.ID, holder.ID)
		wantDocument(t, "the paste as it is", stored, before)
		made := wanted
		made.ID, made.Owner, made.CreatedAt, made.ExpiresAt = "other", "other", now.Add(time.Hour), time.Time{}
		made.Lifetime, made.Cipher, made.Stars = "1y", new(paste.Cipher), 7
		return paste.Change{Document: made, Changed: true, Recorded: []paste.Edit{added}}, nil
	}
	got, err := s.Documents.Update(t.Context(), "paste", holder.Hash, change)
	must(t, err)
	wantDocument(t, "returned", got, wanted)
	wantStored(t, s, "stored", wanted)
	wantStored(t, s, "bystander", bystander)
	wantNoDocument(t, s, "other")
}

func updateDocumentUnchanged(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	before := storedDocument(t, s, "paste", holder)
	got, err := s.Documents.Update(t.Context(), "paste", holder.Hash, func(_ token.Token, stored paste.Document) (paste.Change, error) {
		return paste.Change{Document: stored}, nil
	})
	must(t, err)
	wantDocument(t, "returned", got, before)
	wantStored(t, s, "stored", before)
}

func updateDocumentRefused(t *testing.T, s DocumentStore) {
	before := storedDocument(t, s, "paste", storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID))
	refusal := errors.New("no")
	for _, hash := range []token.Hash{{}, token.Generate().Hash()} {
		got, err := s.Documents.Update(t.Context(), "paste", hash, func(presented token.Token, stored paste.Document) (paste.Change, error) {
			want(t, "the token", presented, token.Token{})
			stored.Title = "changed"
			return paste.Change{Document: stored, Changed: true}, refusal
		})
		if !errors.Is(err, refusal) || !reflect.DeepEqual(got, paste.Document{}) {
			t.Errorf("got %.300v, %v, want that of change", got, err)
		}
		err = s.Documents.DeleteIf(t.Context(), "paste", hash, func(token.Token, paste.Paste) error { return refusal })
		if !errors.Is(err, refusal) {
			t.Errorf("got %v, want the error of allow", err)
		}
	}
	wantStored(t, s, "stored", before)
}

func updateDropsEdits(t *testing.T, s DocumentStore) {
	wanted := newDocument("paste")
	must(t, s.Documents.CreateDocument(t.Context(), wanted))
	added := paste.Edit{ID: "e9", Number: 8, At: time.Unix(2, 0).UTC()}
	for _, dropped := range []int{2, 2, 1} { // in the end also one of those that were added
		_, err := s.Documents.Update(t.Context(), "paste", token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
			made := paste.Change{Document: stored, Changed: true, Dropped: dropped, Recorded: []paste.Edit{added}}
			made.Edits = append(slices.Clone(stored.Edits[dropped:]), added)
			return made, nil
		})
		must(t, err)
		wanted.Edits = append(wanted.Edits[dropped:], added)
		wantStored(t, s, "after an edit", wanted)
		added.ID, added.Number = added.ID+"x", added.Number+1
	}
}

func deleteDocument(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	gone, bystander := storedDocument(t, s, "gone", holder), storedDocument(t, s, "bystander", holder)
	must(t, s.Documents.DeleteIf(t.Context(), "gone", holder.Hash, func(presented token.Token, stored paste.Paste) error {
		want(t, "the token", presented.ID, holder.ID)
		want(t, "the paste", stored, paste.Paste{ID: "gone", Owner: holder.Owner, CreatedAt: now.UTC(), ExpiresAt: gone.ExpiresAt.UTC()})
		return nil
	}))
	wantNoDocument(t, s, "gone")
	wantStored(t, s, "bystander", bystander)
	wantIDs(t, s, holder, "bystander")
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 1)
}

// contentGoes with the row, whoever removes it: a paste that gets the same id later has none of it.
func contentGoes(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	for what, remove := range map[string]func(id paste.ID) error{
		"DeleteIf": func(id paste.ID) error {
			return s.Documents.DeleteIf(t.Context(), id, token.Hash{}, func(token.Token, paste.Paste) error { return nil })
		},
		"Delete": func(id paste.ID) error { return s.Pastes.Delete(t.Context(), id) },
	} {
		id := storedDocument(t, s, paste.ID(what), holder).ID
		must(t, remove(id))
		storedPaste(t, s.Store, what, "", now, time.Time{})
		wantStored(t, s, what, paste.Document{Paste: paste.Paste{ID: id, CreatedAt: now}})
	}
	expired := newDocument("expired")
	expired.ExpiresAt = time.Unix(1, 0).UTC()
	must(t, s.Documents.CreateDocument(t.Context(), expired))
	removed, err := s.Pastes.RemoveExpired(t.Context(), 0, 10)
	must(t, err)
	want(t, "removed", removed, 1)
	storedPaste(t, s.Store, "expired", "", now, time.Time{})
	wantStored(t, s, "swept", paste.Document{Paste: paste.Paste{ID: "expired", CreatedAt: now}})
	storedDocument(t, s, "theirs", holder)
	_, err = s.Users.Delete(t.Context(), parseName(t, "owner"))
	must(t, err)
	storedPaste(t, s.Store, "theirs", "", now, time.Time{})
	wantStored(t, s, "of a user who is gone", paste.Document{Paste: paste.Paste{ID: "theirs", CreatedAt: now}})
}

func cancelledDocument(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	before, ctx := storedDocument(t, s, "paste", holder), cancelled(t)
	for what, call := range map[string]func() error{
		"DocumentByID":   func() error { _, err := s.Documents.DocumentByID(ctx, "paste"); return err },
		"ReadDocument":   func() error { _, _, err := s.Documents.ReadDocument(ctx, "paste", holder.Hash, now); return err },
		"CreateDocument": func() error { return s.Documents.CreateDocument(ctx, newDocument("new")) },
		"CreateOwnDocument": func() error {
			_, err := s.Documents.CreateOwnDocument(ctx, holder.Hash, newDocument("new"))
			return err
		},
		"Update": func() error {
			_, err := s.Documents.Update(ctx, "paste", holder.Hash, func(_ token.Token, stored paste.Document) (paste.Change, error) {
				stored.Title = "changed"
				return paste.Change{Document: stored, Changed: true}, nil
			})
			return err
		},
		"DeleteIf": func() error {
			return s.Documents.DeleteIf(ctx, "paste", holder.Hash, func(token.Token, paste.Paste) error { return nil })
		},
	} {
		if err := call(); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: got %v, want an error of kind unavailable", what, err)
		}
	}
	wantStored(t, s, "stored", before)
	wantNoDocument(t, s, "new")
}

// updatesMeet has updates that build on each other: none is lost.
func updatesMeet(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	created := paste.Document{Content: paste.Content{Lifetime: paste.Never}}
	created.Paste = paste.Paste{ID: "paste", Owner: holder.Owner, CreatedAt: now}
	must(t, s.Documents.CreateDocument(t.Context(), created))
	const rounds = 13 // more than a hundred in all
	wantNoErrors(t, meet(func(caller int) error {
		for round := range rounds {
			_, err := s.Documents.Update(t.Context(), "paste", holder.Hash, func(_ token.Token, stored paste.Document) (paste.Change, error) {
				e := paste.Edit{ID: fmt.Sprint(caller, "-", round), Number: int64(len(stored.Edits)), At: time.Unix(3, 0).UTC()}
				e.Text = fmt.Sprint(len(stored.Title))
				stored.Title += "x"
				stored.Edits = append(slices.Clone(stored.Edits), e)
				return paste.Change{Document: stored, Changed: true, Recorded: []paste.Edit{e}}, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	got, err := s.Documents.DocumentByID(t.Context(), "paste")
	must(t, err)
	want(t, "characters of the title", len(got.Title), callers*rounds)
	want(t, "edits", len(got.Edits), callers*rounds)
	seen := map[string]bool{}
	for i, e := range got.Edits {
		if e.Number != int64(i) || e.Text != fmt.Sprint(i) || seen[e.ID] {
			t.Errorf("got %+v as edit %d", e, i)
		}
		seen[e.ID] = true
	}
}

// documentsMeet has one winner where only one can be.
func documentsMeet(t *testing.T, s DocumentStore) {
	holder := storedToken(t, s.Store, storedUser(t, s.Store, "owner").ID)
	wantOneWinner(t, meet(func(caller int) error {
		if caller%2 == 0 {
			return s.Documents.CreateDocument(t.Context(), newDocument("wanted"))
		}
		_, err := s.Documents.CreateOwnDocument(t.Context(), holder.Hash, newDocument("wanted"))
		return err
	}), fault.Conflict)
	// While some delete, others update and read: whoever comes too late finds nothing, and nobody a half of it.
	for range 5 {
		id := storedDocument(t, s, paste.ID(ident.New()), holder).ID
		errs := meet(func(caller int) error {
			switch caller % 3 {
			case 0:
				return s.Documents.DeleteIf(t.Context(), id, holder.Hash, func(token.Token, paste.Paste) error { return nil })
			case 1:
				_, err := s.Documents.Update(t.Context(), id, holder.Hash, func(_ token.Token, stored paste.Document) (paste.Change, error) {
					stored.Title += "x"
					return paste.Change{Document: stored, Changed: true}, nil
				})
				return err
			}
			got, _, err := s.Documents.ReadDocument(t.Context(), id, holder.Hash, now)
			if err == nil && len(got.Pasties) != 3 {
				t.Errorf("got %d pasties of three", len(got.Pasties))
			}
			return err
		})
		deleted := 0
		for caller, err := range errs {
			if err != nil {
				wantKind(t, err, fault.NotFound)
			} else if caller%3 == 0 {
				deleted++
			}
		}
		want(t, "callers that deleted", deleted, 1)
		wantNoDocument(t, s, id)
	}
}

// creationsMeet has callers create at once whose outcomes differ: each gets its own, and what the others do stays theirs.
func creationsMeet(t *testing.T, s DocumentStore) {
	mine, yours := storedToken(t, s.Store, storedUser(t, s.Store, "me").ID), storedToken(t, s.Store, storedUser(t, s.Store, "you").ID)
	expired := token.Token{ID: "expired", Owner: mine.Owner, Hash: token.Generate().Hash(), CreatedAt: now, ExpiresAt: now}
	must(t, s.Tokens.Create(t.Context(), expired))
	small := func(id paste.ID, owner user.ID) paste.Document {
		made := newDocument(id)
		made.Owner, made.Title, made.Edits = owner, "of "+string(id), nil
		made.Pasties = []paste.Pasty{{ID: "only", Code: odd + string(id)}}
		return made
	}
	must(t, s.Documents.CreateDocument(t.Context(), small("taken", "")))
	for round := range 10 {
		wantNoErrors(t, meet(func(caller int) error {
			created := small(paste.ID(fmt.Sprintf("p%d-%d", round, caller)), "")
			stored, wanted := false, fault.Kind(0)
			var err error
			kind := (round + caller) % 8
			if round%2 == 0 { // nothing that a statement for all of them would fail for
				kind = [...]int{0, 1, 1, 3, 4, 5, 6, 4}[kind]
			}
			switch kind {
			case 0: // nobody's
				stored, err = true, s.Documents.CreateDocument(t.Context(), created)
			case 1: // somebody's
				created.Owner, stored = mine.Owner, true
				err = s.Documents.CreateDocument(t.Context(), created)
			case 2: // of an owner who does not exist
				created.Owner, wanted = "nobody", fault.NotFound
				err = s.Documents.CreateDocument(t.Context(), created)
			case 3: // of a token that does not exist
				wanted = fault.NotFound
				_, err = s.Documents.CreateOwnDocument(t.Context(), token.Generate().Hash(), created)
			default: // of a token, the last under an id that is taken
				presented := []token.Token{mine, yours, expired, yours}[kind-4]
				stored = kind != 6
				if kind == 7 {
					created, stored, wanted = small("taken", ""), false, fault.Conflict
				}
				created.CreatedAt = now.UTC()
				var holder token.Token
				holder, err = s.Documents.CreateOwnDocument(t.Context(), presented.Hash, created)
				if created.Owner = presented.Owner; wanted == 0 && holder.ID != presented.ID {
					return fmt.Errorf("%s: got the token %q, want %q", created.ID, holder.ID, presented.ID)
				}
			}
			if wanted != 0 {
				wantKind(t, err, wanted)
				err = nil
			}
			if err == nil && stored {
				wantStored(t, s, string(created.ID), created)
			} else if err == nil && created.ID != "taken" {
				wantNoDocument(t, s, created.ID)
			}
			return err
		}))
	}
	wantStored(t, s, "the first", small("taken", ""))
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "pastes", count, 1+5*4+5*6) // of the eight in a round
}
