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

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/user"
)

// DocumentStore is a Store whose pastes have content.
type DocumentStore struct {
	Store
	Documents paste.Store
}

// RunDocuments runs every suite about pastes with content, each behaviour on a store of its own.
func RunDocuments(t *testing.T, open func(t *testing.T) DocumentStore) {
	t.Helper()
	for name, behaviour := range map[string]func(*testing.T, DocumentStore){
		"create and read":                  createDocument,
		"read what is not for everybody":   readAsReader,
		"read what is not there":           readNothing,
		"read one pasty":                   readPasty,
		"id is unique":                     documentConflicts,
		"update":                           updateDocument,
		"an update that changes nothing":   updateDocumentUnchanged,
		"an update that is refused":        updateDocumentRefused,
		"an update drops the oldest edits": updateDropsEdits,
		"delete":                           deleteDocument,
		"delete keys":                      deleteKeys,
		"content goes with its paste":      contentGoes,
		"burn":                             burn,
		"given up by its owner":            givenUp,
		"several callers give up":          givenUpMeet,
		"encrypted by its client":          encryptedByClient,
		"lists of what burns":              burningListed,
		"several callers burn":             burningMeet,
		"import":                           importDocuments,
		"import over edits":                importOverEdits,
		"import of what says less":         importPartial,
		"import of orphans":                importOrphans,
		"import of what was deleted":       importRemoved,
		"import of what was given up":      importGivenUp,
		"import of what was unshared":      importUnshared,
		"ids that no paste can have":       unstorableDocuments,
		"a cancelled context":              cancelledDocument,
		"several callers update":           updatesMeet,
		"several callers create, delete":   documentsMeet,
		"several callers create":           creationsMeet,
		"several callers import, delete":   deletionsMeet,
		"quotas":                           quotas,
		"quotas pass":                      quotasPass,
		"several callers with quotas":      quotasMeet,
		"several callers forget clients":   forgettersMeet,
		"search":                           searchFinds,
		"search by what is not text":       searchOdd,
		"search and readers":               searchAsSeen,
		"search, page by page":             searchPages,
		"search follows the pastes":        searchFollows,
		"search is rebuilt":                searchRebuilt,
		"allowances":                       allowances,
		"allowances of edits":              allowancesOfEdits,
		"allowances by rate":               allowancesByRate,
		"several callers with allowances":  allowancesMeet,
		"totals of what pastes hold":       totalBytes,
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
			Origin: "origin",
			Pasties: []paste.Pasty{
				{ID: "second", Title: odd, Language: "unknown", Code: odd},
				{ID: "first", Language: "C++", Code: strings.Repeat("0123456789abcdef\n", 1<<12)}, // more than any buffer
				{ID: "empty"},
			},
			Edits: []paste.Edit{
				{ID: "e1", Number: 0, Type: paste.EditTitle, Text: odd, At: at},
				{ID: "e2", Number: 7, Type: paste.EditPastyRemoved, Metadata: []string{"gone", odd, ""}, Text: odd,
					At: at.Add(time.Second)},
				{ID: "e0", Number: 7, Type: paste.EditPastyCode, Metadata: []string{"first"}, At: at.Add(time.Second)},
			},
		},
	}
}

// newExported returns a paste as exports have it: without an origin.
func newExported(id paste.ID) paste.Document {
	exported := newDocument(id)
	exported.Origin = ""
	return exported
}

// storedDocument belongs to the owner.
func storedDocument(t *testing.T, s DocumentStore, id paste.ID, owner user.ID) paste.Document {
	t.Helper()
	created := newDocument(id)
	created.Owner = owner
	must(t, s.Documents.CreateDocument(t.Context(), created))
	return created
}

// same reports whether two documents are the same, but for empty lists, which can be nil, and the zone of times.
func same(a, b paste.Document) bool {
	if a.Cipher.Equal(b.Cipher) {
		a.Cipher = b.Cipher
	}
	for _, d := range []*paste.Document{&a, &b} {
		d.CreatedAt, d.ExpiresAt = d.CreatedAt.UTC(), d.ExpiresAt.UTC()
		d.Tags, d.Pasties, d.Edits = append([]string{}, d.Tags...), append([]paste.Pasty{}, d.Pasties...),
			append([]paste.Edit{}, d.Edits...)
		for i := range d.Edits {
			d.Edits[i].Metadata = append([]string{}, d.Edits[i].Metadata...)
		}
	}
	return reflect.DeepEqual(a, b)
}

func wantDocument(t *testing.T, what string, got, want paste.Document) {
	t.Helper()
	if !same(got, want) {
		t.Errorf("%s: got %.2000q, want %.2000q", what, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
	}
	if got.CreatedAt.Location() != time.UTC || got.ExpiresAt.Location() != time.UTC {
		t.Errorf("%s: got times in %v and %v, want UTC", what, got.CreatedAt.Location(), got.ExpiresAt.Location())
	}
}

// wantStored reads the paste of that id, with its owner's stars.
func wantStored(t *testing.T, s DocumentStore, what string, want paste.Document) {
	t.Helper()
	got, err := s.Documents.DocumentByID(t.Context(), want.ID)
	must(t, err)
	wantDocument(t, what, got, want)
}

func wantNoDocument(t *testing.T, s DocumentStore, id paste.ID) {
	t.Helper()
	_, err := s.Documents.DocumentByID(t.Context(), id)
	wantKind(t, err, fault.NotFound)
	for _, reader := range append([]string{"owner"}, unstorable...) {
		_, err := s.Documents.ReadDocument(t.Context(), id, user.ID(reader))
		wantKind(t, err, fault.NotFound)
	}
}

func createDocument(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	owned := storedDocument(t, s, "owned", owner)
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
	must(t, s.Pastes.Star(t.Context(), nowhere, fan.ID, "owned"))
	must(t, s.Pastes.Star(t.Context(), nowhere, owner, "owned"))
	owned.Stars, anonymous.Stars = 2, 0
	for _, expected := range []paste.Document{owned, anonymous, bare, sealed} {
		wantStored(t, s, string(expected.ID), expected)
	}
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 4)
	listed, _, err := s.Pastes.ActiveIDs(t.Context(), owner, paste.Cursor{}, 10)
	must(t, err)
	want(t, "the owner's pastes", len(listed), 1)
	want(t, "the owner's paste", listed[0], "owned")
}

// readAsReader wants exactly what Document.ForReader returns, for every kind of paste and reader, from one caller and
// from several at once.
func readAsReader(t *testing.T, s DocumentStore) {
	owner := newUser(t, "owner")
	owner.ID = "owner"
	must(t, s.createUser(t.Context(), owner, nil))
	readers := []user.ID{owner.ID, storedUser(t, s.Store, "stranger").ID}
	for _, id := range unstorable { // a visitor, and some who are not there
		readers = append(readers, user.ID(id))
	}
	var pastes []paste.Document
	for _, belongsTo := range []user.ID{"", owner.ID} {
		for _, visibility := range []paste.Visibility{paste.Unlisted, paste.Public, paste.Private} {
			for _, size := range []int{0, 1, 1 << 10, 100 << 10} { // in bytes
				for _, kind := range []string{"open", "sealed", "burning"} {
					content := paste.Content{Lifetime: paste.Never, Title: "title", Tags: []string{"tag"}}
					switch content.Visibility = visibility; {
					case kind == "sealed":
						content.Cipher = &paste.Cipher{Data: []byte(strings.Repeat("x", size)), Key: []byte("k"), Salt: []byte("s")}
					case size > 0:
						content.Pasties = []paste.Pasty{{ID: "only", Code: strings.Repeat("x", size)}}
						content.Edits = []paste.Edit{{ID: "e", Text: "before", At: time.Unix(1, 0).UTC()}}
					default:
						content = paste.Content{Lifetime: paste.Never, Visibility: visibility}
					}
					created := paste.Paste{ID: paste.ID(fmt.Sprint("paste", len(pastes))), Owner: belongsTo, CreatedAt: now,
						Burns: kind == "burning"}
					pastes = append(pastes, paste.Document{Paste: created, Content: content, Stars: 1})
					must(t, s.Documents.CreateDocument(t.Context(), pastes[len(pastes)-1]))
					must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, created.ID))
				}
			}
		}
	}
	read := func(stored paste.Document, reader user.ID) {
		what := fmt.Sprintf("%s of %q, %v, encrypted %t, burning %t, read by %q",
			stored.ID, stored.Owner, stored.Visibility, stored.Encrypted(), stored.Burns, reader)
		stored.Starred = reader == owner.ID
		got, err := s.Documents.ReadDocument(t.Context(), stored.ID, reader)
		if _, refused := stored.ForReader(reader); refused != nil {
			if !fault.Is(err, fault.NotFound) || errors.Is(err, paste.ErrBurns) != errors.Is(refused, paste.ErrBurns) ||
				!reflect.DeepEqual(got, paste.Document{}) {
				t.Errorf("%s: got %.100q, %v, want nothing and a fault.NotFound", what, fmt.Sprintf("%+v", got), err)
			}
		} else if err != nil || !same(got, stored) {
			t.Errorf("%s: got %.100q, %v, want all of it", what, fmt.Sprintf("%+v", got), err)
		}
		outline, err := s.Documents.ReadWithoutContent(t.Context(), stored.ID, reader)
		without, refused := stored.ForReader(reader)
		without.Tags, without.Pasties, without.Edits = nil, nil, nil
		if fault.Is(err, fault.NotFound) != (refused != nil) || errors.Is(err, paste.ErrBurns) != errors.Is(refused,
			paste.ErrBurns) || !same(outline, without) {
			t.Errorf("%s, without content: got %+v, %v, want %+v, %v", what, outline, err, without, refused)
		}
		for _, id := range []string{"", "only", "missing"} {
			pasty, err := s.Documents.ReadPasty(t.Context(), stored.ID, id, reader)
			want, refused := stored.ForReader(reader)
			part, missing := want.PastyOrFirst(id)
			switch {
			case refused != nil || missing != nil:
				if !fault.Is(err, fault.NotFound) || errors.Is(err, paste.ErrBurns) != errors.Is(refused, paste.ErrBurns) ||
					pasty != (paste.Pasty{}) {
					t.Errorf("%s, its pasty %q: got %.100q, %v, want nothing and a fault.NotFound", what, id, fmt.Sprint(pasty), err)
				}
			case err != nil || pasty != part:
				t.Errorf("%s, its pasty %q: got %.100q, %v, want it", what, id, fmt.Sprint(pasty), err)
			}
		}
	}
	var (
		reading sync.WaitGroup
		shown   int
	)
	for _, stored := range pastes {
		for _, reader := range readers {
			read(stored, reader)
			if _, err := stored.ForReader(reader); err == nil {
				shown++
			}
		}
	}
	for _, stored := range pastes {
		for _, reader := range readers {
			reading.Go(func() { read(stored, reader) })
		}
	}
	reading.Wait()
	if all := len(pastes) * len(readers); shown == 0 || shown == all {
		t.Errorf("%d of %d are shown, want some", shown, all)
	}
}

func readPasty(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	stored := storedDocument(t, s, "paste", owner)
	for _, pasty := range stored.Pasties {
		got, err := s.Documents.ReadPasty(t.Context(), stored.ID, pasty.ID, owner)
		must(t, err)
		want(t, "the pasty "+pasty.ID, got, pasty)
	}
	got, err := s.Documents.ReadPasty(t.Context(), stored.ID, "", owner)
	must(t, err)
	want(t, "the first pasty", got, stored.Pasties[0])
	for _, id := range append([]string{"missing", "First"}, unstorable...) {
		if id == "" { // the first
			continue
		}
		_, err := s.Documents.ReadPasty(t.Context(), stored.ID, id, owner)
		wantKind(t, err, fault.NotFound)
	}
}

func readNothing(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "somebody").ID
	storedPaste(t, s.Store, "expired", owner, now, now)
	storedPaste(t, s.Store, "Case", owner, now, time.Time{})
	for _, id := range append([]string{"expired", "case"}, unstorable...) {
		wantNoDocument(t, s, paste.ID(id))
		_, err := s.Documents.ReadDocument(t.Context(), paste.ID(id), owner)
		wantKind(t, err, fault.NotFound)
		_, err = s.Documents.ReadPasty(t.Context(), paste.ID(id), "", owner)
		wantKind(t, err, fault.NotFound)
		got, err := s.Documents.Update(t.Context(), unrecorded, paste.ID(id),
			func(stored paste.Document) (paste.Change, error) {
				t.Errorf("%q: got change called with %v, want it not to be called", id, stored.Paste)
				return paste.Change{Document: stored, Changed: true}, nil
			})
		wantKind(t, err, fault.NotFound)
		want(t, "what is not there", got.Paste, paste.Paste{})
		err = s.Documents.DeleteIf(t.Context(), unrecorded, paste.ID(id), func(stored paste.Paste) error {
			t.Errorf("%q: got allow called with %v, want it not to be called", id, stored)
			return nil
		})
		wantKind(t, err, fault.NotFound)
	}
	totals, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "pastes", totals.Counts, stats.Counts{Users: 1, ActivePastes: 1, ExpiredPastes: 1})
}

func documentConflicts(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	first := storedDocument(t, s, "taken", owner)
	second := paste.Document{Paste: paste.Paste{ID: "taken", CreatedAt: now}, Content: paste.Content{Title: "second"}}
	wantIDTaken(t, s.Documents.CreateDocument(t.Context(), second))
	expired := storedPaste(t, s.Store, "expired", "", now, now)
	again := newDocument(expired) // it is there until it is swept
	wantIDTaken(t, s.Documents.CreateDocument(t.Context(), again))
	wantStored(t, s, "the first", first)
	second.ID, second.Owner = "orphan", "nobody"
	wantKind(t, s.Documents.CreateDocument(t.Context(), second), fault.NotFound)
	wantNoDocument(t, s, "orphan")
}

// wantIDs checks the list of the owner's pastes.
func wantIDs(t *testing.T, s DocumentStore, owner user.ID, want ...string) {
	t.Helper()
	if got := activeIDs(t, s.Store, owner); !slices.Equal(got, want) {
		t.Errorf("got %q as the owner's pastes, want %q", got, want)
	}
}

func updateDocument(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	before, bystander := storedDocument(t, s, "paste", owner), storedDocument(t, s, "bystander", owner)
	must(t, s.Pastes.Star(t.Context(), nowhere, owner, "paste"))
	before.Stars = 1
	added := paste.Edit{
		ID: "e3", Number: 8, Type: paste.EditPastyAdded, Metadata: []string{"new", "", "Go"}, Text: odd,
		At: time.Unix(1, 0).UTC(),
	}
	want := before
	want.Title, want.Visibility, want.Tags = "", paste.Unlisted, []string{"new"}
	want.ExpiresAt, want.Lifetime = later.Add(50*time.Hour).UTC().Truncate(time.Second), "2d"
	want.Pasties = []paste.Pasty{
		before.Pasties[2], {ID: "new", Language: "Go", Code: odd}, {ID: "second", Title: "new", Language: "Go", Code: "new"},
	}
	want.Edits = append(slices.Clone(before.Edits), added)
	change := func(stored paste.Document) (paste.Change, error) {
		wantDocument(t, "the paste as it is", stored, before)
		created := want
		created.ID, created.CreatedAt, created.Cipher, created.Stars = "other", now.Add(time.Hour), new(paste.Cipher), 7
		return paste.Change{Document: created, Changed: true, NewEdits: []paste.Edit{added}}, nil
	}
	got, err := s.Documents.Update(t.Context(), unrecorded, "paste", change)
	must(t, err)
	wantDocument(t, "returned", got, want)
	wantStored(t, s, "stored", want)
	wantStored(t, s, "bystander", bystander)
	wantNoDocument(t, s, "other")
}

func updateDocumentUnchanged(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	before := storedDocument(t, s, "paste", owner)
	got, err := s.Documents.Update(t.Context(), unrecorded, "paste", func(stored paste.Document) (paste.Change, error) {
		return paste.Change{Document: stored}, nil
	})
	must(t, err)
	wantDocument(t, "returned", got, before)
	wantStored(t, s, "stored", before)
}

func updateDocumentRefused(t *testing.T, s DocumentStore) {
	before := storedDocument(t, s, "paste", storedUser(t, s.Store, "owner").ID)
	refusal := errors.New("no")
	got, err := s.Documents.Update(t.Context(), unrecorded, "paste", func(stored paste.Document) (paste.Change, error) {
		stored.Title = "changed"
		return paste.Change{Document: stored, Changed: true}, refusal
	})
	if !errors.Is(err, refusal) || !reflect.DeepEqual(got, paste.Document{}) {
		t.Errorf("got %.300v, %v, want that of change", got, err)
	}
	err = s.Documents.DeleteIf(t.Context(), unrecorded, "paste", func(stored paste.Paste) error {
		want(t, "the paste", stored.ID, "paste")
		return refusal
	})
	if !errors.Is(err, refusal) {
		t.Errorf("got %v, want the error of allow", err)
	}
	wantStored(t, s, "stored", before)
	// A fault of the caller's stays what it is, whatever its kind.
	for _, kind := range []fault.Kind{fault.NotFound, fault.Conflict, fault.Invalid, fault.Unavailable} {
		refusal := fault.New(kind, "no")
		_, err := s.Documents.Update(
			t.Context(),
			unrecorded,
			"paste",
			func(paste.Document) (paste.Change, error) { return paste.Change{}, refusal },
		)
		deleted := s.Documents.DeleteIf(t.Context(), unrecorded, "paste", func(paste.Paste) error { return refusal })
		if !errors.Is(err, refusal) || !errors.Is(deleted, refusal) {
			t.Errorf("got %v and %v, want the errors of change and allow, of kind %v", err, deleted, kind)
		}
	}
	wantStored(t, s, "stored", before)
}

func updateDropsEdits(t *testing.T, s DocumentStore) {
	want := newDocument("paste")
	must(t, s.Documents.CreateDocument(t.Context(), want))
	added := paste.Edit{ID: "e9", Number: 8, At: time.Unix(2, 0).UTC()}
	for _, dropped := range []int{2, 2, 1} { // in the end also one of those that were added
		_, err := s.Documents.Update(t.Context(), unrecorded, "paste", func(stored paste.Document) (paste.Change, error) {
			created := paste.Change{Document: stored, Changed: true, Dropped: dropped, NewEdits: []paste.Edit{added}}
			created.Edits = append(slices.Clone(stored.Edits[dropped:]), added)
			return created, nil
		})
		must(t, err)
		want.Edits = append(want.Edits[dropped:], added)
		wantStored(t, s, "after an edit", want)
		added.ID, added.Number = added.ID+"x", added.Number+1
	}
}

func deleteDocument(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	gone, bystander := storedDocument(t, s, "gone", owner), storedDocument(t, s, "GONE", owner)
	allow := func(paste.Paste) error { return nil }
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, "gone", func(stored paste.Paste) error {
		want(t, "the paste", stored, paste.Paste{ID: "gone", Owner: owner, CreatedAt: now.UTC(),
			ExpiresAt: gone.ExpiresAt.UTC()})
		return nil
	}))
	wantKind(t, s.Documents.DeleteIf(t.Context(), unrecorded, "gone", allow), fault.NotFound)
	sealed := sealedDocument("sealed")
	must(t, s.Documents.CreateDocument(t.Context(), sealed))
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, "sealed", func(stored paste.Paste) error {
		want(t, "the paste", stored, sealed.Paste)
		return nil
	}))
	wantNoDocument(t, s, "gone")
	wantNoDocument(t, s, "sealed")
	wantStored(t, s, "bystander", bystander)
	wantIDs(t, s, owner, "GONE")
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 1)
}

// deleteKeys wants the hash of a key to come with its paste, however that is created, and to stay with it.
func deleteKeys(t *testing.T, s DocumentStore) {
	for id, create := range map[paste.ID]func(paste.Document) error{
		"created": func(d paste.Document) error { return s.Documents.CreateDocument(t.Context(), d) },
		"counted": func(d paste.Document) error {
			_, err := s.Documents.CreateAllowed(t.Context(), nowhere,
				paste.Allowance{Rate: paste.Quota{Pastes: 9, Window: time.Hour}},
				"client", d)
			return err
		},
	} {
		keyed := newDocument(id)
		keyed.Visibility, keyed.Edits, keyed.DeleteKey = paste.Unlisted, nil, paste.NewDeleteKey().Hash()
		must(t, create(keyed))
		wantStored(t, s, "created", keyed)
		read, err := s.Documents.ReadDocument(t.Context(), id, "")
		must(t, err)
		wantDocument(t, "read", read, keyed)
		keyed.Title = "changed"
		_, err = s.Documents.Update(t.Context(), unrecorded, id, func(stored paste.Document) (paste.Change, error) {
			stored.Title = keyed.Title
			return paste.Change{Document: stored, Changed: true}, nil
		})
		must(t, err)
		wantStored(t, s, "changed", keyed)
		must(t, s.Documents.DeleteIf(t.Context(), unrecorded, id, func(stored paste.Paste) error {
			want(t, "the hash", stored.DeleteKey, keyed.DeleteKey)
			return nil
		}))
	}
}

// contentGoes with the row, however it is removed: a later paste with the same id has none of it.
func contentGoes(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	deleted := storedDocument(t, s, "deleted", owner).ID
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, deleted, func(paste.Paste) error { return nil }))
	storedPaste(t, s.Store, "deleted", "", now, time.Time{})
	wantStored(t, s, "deleted", paste.Document{Paste: paste.Paste{ID: deleted, CreatedAt: now}})
	expired := newDocument("expired")
	expired.ExpiresAt = time.Unix(1, 0).UTC()
	must(t, s.Documents.CreateDocument(t.Context(), expired))
	removed, err := s.Pastes.RemoveExpired(t.Context(), 0, 10)
	must(t, err)
	want(t, "removed", removed, 1)
	storedPaste(t, s.Store, "expired", "", now, time.Time{})
	wantStored(t, s, "swept", paste.Document{Paste: paste.Paste{ID: "expired", CreatedAt: now}})
	storedDocument(t, s, "theirs", owner)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner, parseName(t, "owner"), nil))
	storedPaste(t, s.Store, "theirs", "", now, time.Time{})
	wantStored(t, s, "of a user who is gone", paste.Document{Paste: paste.Paste{ID: "theirs", CreatedAt: now}})
}

func unstorableDocuments(t *testing.T, s DocumentStore) {
	reader := storedUser(t, s.Store, "reader").ID
	change := func(paste.Document) (paste.Change, error) { return paste.Change{}, errors.New("it was found") }
	for _, text := range append(unstorable, strings.Repeat("x", 10_000)) {
		id := paste.ID(text)
		for what, call := range map[string]func() error{
			"DocumentByID": func() error { _, err := s.Documents.DocumentByID(t.Context(), id); return err },
			"ReadDocument": func() error { _, err := s.Documents.ReadDocument(t.Context(), id, reader); return err },
			"ReadPasty":    func() error { _, err := s.Documents.ReadPasty(t.Context(), id, "", reader); return err },
			"ReadWithoutContent": func() error {
				_, err := s.Documents.ReadWithoutContent(t.Context(), id, reader)
				return err
			},
			"ReadCipher": func() error { _, err := s.Documents.ReadCipher(t.Context(), id, reader); return err },
			"Update":     func() error { _, err := s.Documents.Update(t.Context(), unrecorded, id, change); return err },
			"UpdateAllowed": func() error {
				_, err := s.Documents.UpdateAllowed(t.Context(), nowhere, paste.Allowance{Bytes: 1}, "", reader, id, change)
				return err
			},
			"DeleteIf": func() error {
				return s.Documents.DeleteIf(t.Context(), unrecorded, id, func(paste.Paste) error { return nil })
			},
			"Burn":   func() error { _, err := s.Documents.Burn(t.Context(), id, reader); return err },
			"Unstar": func() error { return s.Pastes.Unstar(t.Context(), nowhere, reader, id) },
		} {
			if err := call(); !fault.Is(err, fault.NotFound) {
				t.Errorf("%s of %.20q: got %v, want an error of kind not found", what, text, err)
			}
		}
	}
}

func cancelledDocument(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner").ID
	before, ctx := storedDocument(t, s, "paste", owner), cancelled(t)
	for what, call := range map[string]func() error{
		"DocumentByID": func() error { _, err := s.Documents.DocumentByID(ctx, "paste"); return err },
		"ReadDocument": func() error { _, err := s.Documents.ReadDocument(ctx, "paste", owner); return err },
		"ReadPasty":    func() error { _, err := s.Documents.ReadPasty(ctx, "paste", "", owner); return err },
		"ReadWithoutContent": func() error {
			_, err := s.Documents.ReadWithoutContent(ctx, "paste", owner)
			return err
		},
		"CreateDocument": func() error { return s.Documents.CreateDocument(ctx, newDocument("new")) },
		"Update": func() error {
			_, err := s.Documents.Update(ctx, unrecorded, "paste", func(stored paste.Document) (paste.Change, error) {
				stored.Title = "changed"
				return paste.Change{Document: stored, Changed: true}, nil
			})
			return err
		},
		"DeleteIf": func() error {
			return s.Documents.DeleteIf(ctx, unrecorded, "paste", func(paste.Paste) error { return nil })
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
	owner := storedUser(t, s.Store, "owner").ID
	created := paste.Document{Content: paste.Content{Lifetime: paste.Never}}
	created.Paste = paste.Paste{ID: "paste", Owner: owner, CreatedAt: now}
	must(t, s.Documents.CreateDocument(t.Context(), created))
	const rounds = 13 // more than a hundred in all
	wantNoErrors(t, meet(func(caller int) error {
		for round := range rounds {
			_, err := s.Documents.Update(t.Context(), unrecorded, "paste", func(stored paste.Document) (paste.Change, error) {
				e := paste.Edit{ID: fmt.Sprint(caller, "-", round), Number: int64(len(stored.Edits)), At: time.Unix(3, 0).UTC()}
				e.Text = fmt.Sprint(len(stored.Title))
				stored.Title += "x"
				stored.Edits = append(slices.Clone(stored.Edits), e)
				return paste.Change{Document: stored, Changed: true, NewEdits: []paste.Edit{e}}, nil
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
	owner := storedUser(t, s.Store, "owner").ID
	wantOneWinner(t, meet(func(int) error {
		return s.Documents.CreateDocument(t.Context(), newDocument("wanted"))
	}), fault.Conflict)
	// While some delete, others update and read: they find the whole paste or nothing.
	for range 5 {
		id := storedDocument(t, s, paste.ID(ident.New()), owner).ID
		errs := meet(func(caller int) error {
			switch caller % 3 {
			case 0:
				return s.Documents.DeleteIf(t.Context(), unrecorded, id, func(paste.Paste) error { return nil })
			case 1:
				_, err := s.Documents.Update(t.Context(), unrecorded, id, func(stored paste.Document) (paste.Change, error) {
					stored.Title += "x"
					return paste.Change{Document: stored, Changed: true}, nil
				})
				return err
			}
			got, err := s.Documents.ReadDocument(t.Context(), id, owner)
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

// creationsMeet has callers create at once whose outcomes differ: each gets its own, and what the others do stays
// theirs.
func creationsMeet(t *testing.T, s DocumentStore) {
	mine, yours := storedUser(t, s.Store, "me").ID, storedUser(t, s.Store, "you").ID
	small := func(id paste.ID, owner user.ID) paste.Document {
		newPaste := newExported(id)
		newPaste.Owner, newPaste.Title, newPaste.Edits = owner, "of "+string(id), nil
		newPaste.Pasties = []paste.Pasty{{ID: "only", Code: odd + string(id)}}
		return newPaste
	}
	must(t, s.Documents.CreateDocument(t.Context(), small("taken", "")))
	const rounds = 10
	quota := paste.Quota{Pastes: rounds / 2, Window: time.Hour}
	wantNoErrors(t, meet(func(caller int) error {
		for round := range rounds {
			created := small(paste.ID(fmt.Sprintf("p%d-%d", round, caller)), "")
			expected := fault.None
			var err error
			switch kind := (round + caller) % 8; kind {
			case 0: // anonymous
				err = s.Documents.CreateDocument(t.Context(), created)
			case 1, 2: // of a user
				created.Owner = []user.ID{mine, yours}[kind-1]
				err = s.Documents.CreateDocument(t.Context(), created)
			case 3: // with everything
				created = newExported(created.ID)
				err = s.Documents.CreateDocument(t.Context(), created)
			case 4: // of an owner who does not exist
				created.Owner, expected = "nobody", fault.NotFound
				err = s.Documents.CreateDocument(t.Context(), created)
			case 5: // under an id that is taken
				created.ID, expected = "taken", fault.Conflict
				err = s.Documents.CreateDocument(t.Context(), created)
			case 6: // imported
				_, err = s.Pastes.Import(t.Context(), Whole(created), paste.RefuseOrphans)
			default: // counted, for a client of the caller's, who has a quota for it
				_, err = s.Documents.CreateAllowed(t.Context(), nowhere, paste.Allowance{Rate: quota},
					paste.Client(fmt.Sprint(caller)),
					created)
			}
			if expected == fault.None {
				if err != nil {
					return err
				}
				wantStored(t, s, string(created.ID), created)
				continue
			}
			if fault.KindOf(err) != expected {
				return fmt.Errorf("%s: got %w, want an error of kind %v", created.ID, err, expected)
			}
			if created.ID != "taken" {
				wantNoDocument(t, s, created.ID)
			}
		}
		return nil
	}))
	wantStored(t, s, "the first", small("taken", ""))
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "pastes", count, 1+rounds*6) // of the eight in a round
}

// deletionsMeet has some callers import and edit a paste that others delete: once it was deleted, it does not come
// back.
func deletionsMeet(t *testing.T, s DocumentStore) {
	for round := range 5 {
		expected := newDocument(paste.ID(fmt.Sprint("paste", round)))
		must(t, s.Documents.CreateDocument(t.Context(), expected))
		deletions := make([]bool, callers)
		wantNoErrors(t, meet(func(caller int) error {
			switch caller % 3 {
			case 0:
				err := s.Documents.DeleteIf(t.Context(), unrecorded, expected.ID, func(paste.Paste) error { return nil })
				if deletions[caller] = err == nil; fault.Is(err, fault.NotFound) {
					return nil
				}
				return err
			case 1:
				_, err := s.Documents.Update(t.Context(), unrecorded, expected.ID, func(stored paste.Document) (paste.Change,
					error) {
					stored.Title = "changed"
					return paste.Change{Document: stored, Changed: true}, nil
				})
				if fault.Is(err, fault.NotFound) {
					return nil
				}
				return err
			}
			for range 3 {
				results, err := s.Pastes.Import(t.Context(), Whole(expected), paste.RefuseOrphans)
				if err != nil || results[0].Err != nil {
					return errors.Join(err, results[0].Err)
				}
				if results[0].Outcome == batch.New {
					return errors.New("got a deleted paste as a new one, want it not to come back")
				}
			}
			return nil
		}))
		times := 0
		for _, deleted := range deletions {
			if deleted {
				times++
			}
		}
		want(t, "callers that deleted it", times, 1)
		wantNoDocument(t, s, expected.ID)
		results, err := s.Pastes.Import(t.Context(), Whole(expected), paste.RefuseOrphans)
		wantResults(t, "an import after it", results, err, removed)
		wantNoDocument(t, s, expected.ID)
	}
}
