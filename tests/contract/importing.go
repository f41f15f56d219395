package contract

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// rejected stands for a result with an error of that kind.
func rejected(kind fault.Kind) string { return "rejected: " + string(kind) }

const (
	fresh     = "new"
	updated   = "updated"
	unchanged = "unchanged"
	removed   = "removed earlier"
)

// wantResults compares what became of each record.
func wantResults(t *testing.T, what string, results []batch.Result, err error, want ...string) {
	t.Helper()
	must(t, err)
	got := make([]string, len(results))
	for i, result := range results {
		got[i] = []string{fresh, updated, unchanged, removed}[result.Outcome]
		if result.Err != nil {
			got[i] = rejected(fault.KindOf(result.Err))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// Whole returns records that say everything about the pastes.
func Whole(pastes ...paste.Document) []paste.Import {
	records := make([]paste.Import, 0, len(pastes))
	for _, d := range pastes {
		private, public := d.Visibility == paste.Private, d.Visibility == paste.Public
		records = append(records, paste.Import{
			ID: d.ID, CreatedAt: d.CreatedAt, Owner: &d.Owner, ExpiresAt: &d.ExpiresAt, Lifetime: &d.Lifetime,
			Private: &private, Public: &public, Title: &d.Title, Tags: append([]string{}, d.Tags...),
			Pasties: d.Pasties, Edits: append([]paste.Edit{}, d.Edits...), Cipher: d.Cipher,
		})
	}
	return records
}

// importedAccount returns one that says everything.
func importedAccount(t *testing.T, id user.ID, name string) user.Import {
	t.Helper()
	u := newUser(t, name)
	return user.Import{
		ID: id, Name: u.Name, AvatarURL: &u.AvatarURL, DefaultLanguage: &u.DefaultLanguage, PublicProfile: &u.PublicProfile,
		SupporterMonths: &u.SupporterMonths, Contributor: &u.Contributor, Stars: []string{}, Identities: map[string]string{},
		CreatedAt: now,
	}
}

func wantNames(t *testing.T, s Store, want map[user.ID]string) {
	t.Helper()
	got := map[user.ID]string{}
	users, err := s.Users.Users(t.Context(), user.Name{}, 100)
	must(t, err)
	for _, u := range users {
		got[u.ID] = u.Name.String()
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("names: got %v, want %v", got, want)
	}
}

func importUsers(t *testing.T, s Store) {
	run := func(what string, accounts []user.Import, expected ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, expected...)
	}
	run("nothing", nil)
	a, b := importedAccount(t, "a", "Ann"), importedAccount(t, "b", "Bob")
	a.Stars, a.Identities = []string{"z", "y", "x"}, map[string]string{"github": "1", "gitlab": "2"}
	run("the first time", []user.Import{a, b}, fresh, fresh)
	a.CreatedAt, b.CreatedAt = now.Add(time.Hour), now.Add(time.Hour) // an export does not have it
	run("again", []user.Import{b, a}, unchanged, unchanged)
	for _, id := range []string{"x", "y", "z"} {
		storedPaste(t, s, id, "", now, time.Time{})
	}
	a.Name, a.Stars, a.Identities, a.SupporterMonths = parseName(t, "ANN"), []string{"y", "z"},
		map[string]string{"gitlab": "3"}, new(int32)
	run("a newer export", []user.Import{a, b}, updated, unchanged)
	account, err := s.Users.AccountByID(t.Context(), "a")
	must(t, err)
	want(t, "name", account.Name.String(), "ANN")
	want(t, "months", account.SupporterMonths, 0)
	want(t, "creation", account.CreatedAt, now.UTC())
	want(t, "stars", fmt.Sprint(account.Stars), "[y z]")
	want(t, "services", fmt.Sprint(account.Identities), "map[gitlab:3]")
	twice := importedAccount(t, "c", "Cid")
	first := twice
	first.SupporterMonths = new(int32(1))
	run("one id twice: the last one stays", []user.Import{first, twice}, fresh, updated)
	u, err := s.Users.ByName(t.Context(), twice.Name)
	must(t, err)
	want(t, "months of the id that came twice", u.SupporterMonths, *twice.SupporterMonths)
}

// importAbsent brings records in that say next to nothing: what is stored stays, and a new user has the defaults.
func importAbsent(t *testing.T, s Store) {
	run := func(what string, imported user.Import, expected string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), []user.Import{imported})
		wantResults(t, what, results, err, expected)
	}
	full := importedAccount(t, "a", "Ann")
	full.Stars, full.Identities = []string{"x"}, map[string]string{"github": "1"}
	run("everything", full, fresh)
	storedPaste(t, s, "x", "", now, time.Time{})
	before, err := s.Users.AccountByID(t.Context(), "a")
	must(t, err)
	wantStays := func(what string, expected user.Account) {
		t.Helper()
		after, err := s.Users.AccountByID(t.Context(), "a")
		must(t, err)
		if !reflect.DeepEqual(after, expected) {
			t.Errorf("%s: got %+v, want %+v", what, after, expected)
		}
	}
	bare := user.Import{ID: "a", Name: full.Name, CreatedAt: now.Add(time.Hour)}
	run("nothing but the name", bare, unchanged)
	wantStays("nothing but the name", before)
	bare.SupporterMonths = new(int32(7))
	run("one member", bare, updated)
	before.SupporterMonths = 7
	wantStays("one member", before)
	bare.Stars, bare.Identities, bare.AvatarURL = []string{}, map[string]string{}, new("")
	run("empty members", bare, updated)
	before.Stars, before.Identities, before.AvatarURL = []string{}, map[string]string{}, ""
	wantStays("empty members", before)

	run("a new user", user.Import{ID: "b", Name: parseName(t, "Bob"), CreatedAt: now}, fresh)
	account, err := s.Users.AccountByID(t.Context(), "b")
	must(t, err)
	bob := user.User{ID: "b", Name: parseName(t, "Bob"), DefaultLanguage: user.DefaultLanguage, CreatedAt: now.UTC()}
	want(t, "the defaults", account.User, bob)
	want(t, "services", len(account.Identities), 0)
}

// importNames moves names between users in every way, in both orders of the records.
func importNames(t *testing.T, s Store) {
	run := func(what string, accounts []user.Import, want ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, want...)
	}
	account := func(id user.ID, name string) user.Import { return importedAccount(t, id, name) }
	run("the beginning", []user.Import{account("a", "y"), account("b", "x"), account("c", "c"), account("d", "d")},
		fresh, fresh, fresh, fresh)
	run("a chain, its end first", []user.Import{account("b", "z"), account("a", "x")}, updated, updated)
	wantNames(t, s, map[user.ID]string{"a": "x", "b": "z", "c": "c", "d": "d"})
	run("a chain, its beginning first", []user.Import{account("a", "Z"), account("b", "y")}, updated, updated)
	wantNames(t, s, map[user.ID]string{"a": "Z", "b": "y", "c": "c", "d": "d"})
	run("a circle of three and a new user", []user.Import{account("a", "y"), account("b", "c"), account("e", "x"),
		account("c", "z")},
		updated, updated, fresh, updated)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x"})
	run("a name that somebody keeps", []user.Import{account("a", "D"), account("f", "f")}, rejected(fault.Conflict), fresh)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x", "f": "f"})
	run("a chain behind such a name, and one beside it",
		[]user.Import{account("b", "y"), account("a", "d"), account("g", "c"), account("h", "h")},
		rejected(fault.Conflict), rejected(fault.Conflict), rejected(fault.Conflict), fresh)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x", "f": "f", "h": "h"})
	results, err := s.Users.Import(t.Context(), []user.Import{account("i", "same"), account("j", "SAME")})
	wantResults(t, "two that want one name", results, err, fresh, rejected(fault.Conflict))
	results, err = s.Users.Import(t.Context(), []user.Import{account("d", "dd"), account("a", "d")})
	wantResults(t, "what was refused, once the name is free", results, err, updated, updated)
}

func importTokens(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	key := func(id token.ID, hash byte) token.Token {
		return token.Token{ID: id, Owner: owner.ID, Hash: token.Hash{hash}, Name: "key", CreatedAt: now}
	}
	run := func(what string, keys []token.Token, expected ...string) {
		t.Helper()
		results, err := s.Tokens.Import(t.Context(), keys)
		wantResults(t, what, results, err, expected...)
	}
	holds := func(hash byte, id token.ID, revoked bool) {
		t.Helper()
		tok, _, err := s.Tokens.ByHash(t.Context(), token.Hash{hash})
		must(t, err)
		want(t, fmt.Sprint("holder of ", hash), tok.ID, id)
		want(t, fmt.Sprint(id, " is revoked"), !tok.RevokedAt.IsZero(), revoked)
	}
	run("nothing", nil)
	run("the first time", []token.Token{key("a", 1), key("b", 2)}, fresh, fresh)
	must(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, "a", now))
	run("again", []token.Token{key("b", 2), key("a", 1)}, unchanged, unchanged)
	holds(1, "a", true)
	run("a new hash", []token.Token{key("a", 3)}, updated)
	holds(3, "a", false)
	_, _, err := s.Tokens.ByHash(t.Context(), token.Hash{1})
	wantKind(t, err, fault.NotFound)
	run("a chain", []token.Token{key("a", 2), key("b", 4)}, updated, updated)
	holds(2, "a", false)
	run("a circle", []token.Token{key("a", 4), key("b", 2)}, updated, updated)
	holds(4, "a", false)
	holds(2, "b", false)
	stranger := key("c", 5)
	stranger.Owner = "nobody"
	run("an unknown owner, a hash that another keeps, and a good one",
		[]token.Token{stranger, key("d", 4), key("e", 6)}, rejected(fault.NotFound), rejected(fault.Conflict), fresh)
	holds(4, "a", false)
	holds(6, "e", false)
}

func importPastes(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	run := func(what string, pastes []paste.Document, expected ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), Whole(pastes...), paste.RefuseOrphans)
		wantResults(t, what, results, err, expected...)
	}
	at := now.UTC()
	bare := func(id paste.ID, owner user.ID, created, expires time.Time) paste.Document {
		return paste.Document{Paste: paste.Paste{ID: id, Owner: owner, CreatedAt: created, ExpiresAt: expires}}
	}
	mine := bare("mine", owner.ID, at, later.UTC().Truncate(time.Microsecond))
	nobodys := bare("nobodys", "", at, time.Time{})
	run("nothing", nil)
	run("the first time", []paste.Document{mine, nobodys}, fresh, fresh)
	run("again", []paste.Document{nobodys, mine}, unchanged, unchanged)
	mine.ExpiresAt = time.Time{}
	stranger := bare("stranger", "nobody", at, time.Time{})
	run("a newer export", []paste.Document{stranger, mine, bare("third", owner.ID, at.Add(-time.Hour), time.Time{})},
		rejected(fault.NotFound), updated, fresh)
	if got, expected := activeIDs(t, s, owner.ID), []string{"mine", "third"}; !slices.Equal(got, expected) {
		t.Errorf("pastes: got %v, want %v", got, expected)
	}
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 3)
}

// sealedDocument is an encrypted paste.
func sealedDocument(id paste.ID) paste.Document {
	sealed := paste.Document{Paste: paste.Paste{ID: id, CreatedAt: now.UTC()}}
	sealed.Lifetime, sealed.Tags = paste.Never, []string{"a", "b"}
	sealed.Cipher = &paste.Cipher{Data: []byte("\x00\xff"), Key: []byte("key=="), Salt: []byte{0}}
	return sealed
}

func importDocuments(t *testing.T, s DocumentStore) {
	owner := storedUser(t, s.Store, "owner")
	run := func(what string, pastes []paste.Document, want ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), Whole(pastes...), paste.RefuseOrphans)
		wantResults(t, what, results, err, want...)
	}
	full, sealed := newExported("full"), sealedDocument("sealed")
	empty := paste.Document{Paste: paste.Paste{ID: "empty", CreatedAt: now}}
	full.Owner, empty.Lifetime = owner.ID, "1d"
	bystander := newDocument("bystander")
	must(t, s.Documents.CreateDocument(t.Context(), bystander))
	all := []paste.Document{full, sealed, empty}
	run("the first time", all, fresh, fresh, fresh)
	for _, want := range []paste.Document{full, sealed, empty, bystander} {
		wantStored(t, s, string(want.ID), want)
	}
	run("again", []paste.Document{empty, full, sealed}, unchanged, unchanged, unchanged)

	// Each thing that a paste holds makes a difference.
	for what, change := range map[string]func(d *paste.Document){
		"owner":      func(d *paste.Document) { d.Owner = "" },
		"expiry":     func(d *paste.Document) { d.ExpiresAt = time.Time{} },
		"title":      func(d *paste.Document) { d.Title = "other" },
		"visibility": func(d *paste.Document) { d.Visibility = paste.Public },
		"tags":       func(d *paste.Document) { d.Tags = nil },
		"lifetime":   func(d *paste.Document) { d.Lifetime = "2d" },
		"code":       func(d *paste.Document) { d.Pasties = slices.Clone(d.Pasties); d.Pasties[2].Code = "other" },
		"order":      func(d *paste.Document) { d.Pasties = []paste.Pasty{d.Pasties[1], d.Pasties[0], d.Pasties[2]} },
		"history":    func(d *paste.Document) { d.Edits = slices.Clone(d.Edits); d.Edits[1].Text = "other" },
		"its length": func(d *paste.Document) { d.Edits = d.Edits[:2] },
		"no history": func(d *paste.Document) { d.Edits = nil },
		"encryption": func(d *paste.Document) { d.Content = sealed.Content },
	} {
		other := full
		change(&other)
		run(what, []paste.Document{other}, updated)
		wantStored(t, s, what, other)
		run(what+" changed back", []paste.Document{full}, updated)
		wantStored(t, s, what+" changed back", full)
	}
	twice := full
	twice.Title = "twice"
	run("one id again and again", []paste.Document{twice, twice, full, full}, updated, unchanged, updated, unchanged)
	wantStored(t, s, "the last one", full)
	run("what is there, and something else", []paste.Document{full, twice}, unchanged, updated)
	wantStored(t, s, "something else", twice)
	wantStored(t, s, "bystander", bystander)
}

// importPartial brings records in that lack members: what is stored of these stays.
func importPartial(t *testing.T, s DocumentStore) {
	stored := newDocument("paste")
	stored.Owner, stored.Visibility = storedUser(t, s.Store, "owner").ID, paste.Private
	must(t, s.Documents.CreateDocument(t.Context(), stored))
	anonymous := newDocument("anonymous")
	anonymous.DeleteKey = paste.KeyHash{1}
	must(t, s.Documents.CreateDocument(t.Context(), anonymous))
	run := func(what string, record paste.Import, result string, want paste.Document) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), []paste.Import{record}, paste.RefuseOrphans)
		wantResults(t, what, results, err, result)
		wantStored(t, s, what, want)
	}
	bare := paste.Import{ID: stored.ID, CreatedAt: stored.CreatedAt, Pasties: stored.Pasties}
	run("nothing but pasties", bare, unchanged, stored)
	run("a whole record has neither an origin nor a key", Whole(anonymous)[0], unchanged, anonymous)
	public := bare
	public.Public = new(true)
	run("public, of one that is private", public, unchanged, stored)
	for what, change := range map[string]func(*paste.Import, *paste.Document){
		"owner":      func(i *paste.Import, d *paste.Document) { i.Owner, d.Owner = new(user.ID), "" },
		"expiry":     func(i *paste.Import, d *paste.Document) { i.ExpiresAt, d.ExpiresAt = new(time.Time), time.Time{} },
		"lifetime":   func(i *paste.Import, d *paste.Document) { i.Lifetime, d.Lifetime = new(paste.Lifetime("2d")), "2d" },
		"visibility": func(i *paste.Import, d *paste.Document) { i.Private, d.Visibility = new(bool), paste.Unlisted },
		"title":      func(i *paste.Import, d *paste.Document) { i.Title, d.Title = new(""), "" },
		"tags":       func(i *paste.Import, d *paste.Document) { i.Tags, d.Tags = []string{}, nil },
		"pasties": func(i *paste.Import, d *paste.Document) {
			i.Pasties, d.Pasties = stored.Pasties[:1], stored.Pasties[:1]
		},
		"edits": func(i *paste.Import, d *paste.Document) { i.Edits, d.Edits = []paste.Edit{}, nil },
		"encrypted": func(i *paste.Import, d *paste.Document) {
			sealed := sealedDocument("sealed").Cipher
			i.Pasties, i.Cipher = nil, sealed
			d.Title, d.Pasties, d.Edits, d.Cipher = "", nil, nil, sealed
		},
	} {
		record, want := bare, stored
		change(&record, &want)
		run(what, record, updated, want)
		run(what+", again", record, unchanged, want)
		run(what+" and back", Whole(stored)[0], updated, stored)
	}
	record := paste.Import{ID: "new", CreatedAt: stored.CreatedAt, Pasties: stored.Pasties}
	run("a new paste", record, fresh, record.Over(paste.Document{}, false))
}

// importOverEdits has the export win over what was edited here, and over what holds nothing.
func importOverEdits(t *testing.T, s DocumentStore) {
	exported := newDocument("paste")
	must(t, s.Documents.CreateDocument(t.Context(), exported))
	for number := range int64(3) { // the oldest entries give way
		_, err := s.Documents.Update(t.Context(), unrecorded, "paste", func(stored paste.Document) (paste.Change, error) {
			recorded := paste.Edit{ID: fmt.Sprint("new", number), Number: 8 + number, At: time.Unix(2, 0).UTC()}
			created := paste.Change{Document: stored, Changed: true, Dropped: 1, NewEdits: []paste.Edit{recorded}}
			created.Title, created.Edits = "edited", append(slices.Clone(stored.Edits[1:]), recorded)
			return created, nil
		})
		must(t, err)
	}
	storedPaste(t, s.Store, "bare", "", now, time.Time{})
	bare := paste.Document{Paste: paste.Paste{ID: "bare", CreatedAt: now}}
	run := func(what string, want ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), Whole(exported, bare), paste.RefuseOrphans)
		wantResults(t, what, results, err, want...)
		wantStored(t, s, what, exported)
		wantStored(t, s, what, bare)
	}
	run("over an edit", updated, unchanged)
	run("again", unchanged, unchanged)
	// It goes on from there, and the positions of what was edited before play no part.
	added := paste.Edit{ID: "e9", Number: 8, At: time.Unix(3, 0).UTC()}
	edited, err := s.Documents.Update(t.Context(), unrecorded, "paste", func(stored paste.Document) (paste.Change, error) {
		created := paste.Change{Document: stored, Changed: true, Dropped: 1, NewEdits: []paste.Edit{added}}
		created.Edits = append(slices.Clone(stored.Edits[1:]), added)
		return created, nil
	})
	must(t, err)
	wantStored(t, s, "an edit of what was imported", edited)
	run("over that edit", updated, unchanged)
	origin := exported.Origin
	bare.Content, exported.Content = exported.Content, paste.Content{}
	bare.Origin, exported.Origin = "", origin // exports do not have it
	run("content comes and goes", updated, updated)
	run("again", unchanged, unchanged)
}

// importRemoved brings records in again that were deleted, and others with them.
func importRemoved(t *testing.T, s DocumentStore) {
	account := func(id user.ID, name string) user.Import { return importedAccount(t, id, name) }
	users := func(what string, accounts []user.Import, expected ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, expected...)
	}
	pastes := func(what string, orphans paste.Orphans, documents []paste.Document, expected ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), Whole(documents...), orphans)
		wantResults(t, what, results, err, expected...)
	}
	gone, stays := account("gone", "x"), account("stays", "y")
	users("the first time", []user.Import{gone, stays}, fresh, fresh)
	var documents []paste.Document
	for _, id := range []paste.ID{"gones", "deleted", "sealed", "stayed", "anonymous"} {
		one := newExported(id)
		switch id {
		case "gones":
			one.Owner = "gone"
		case "sealed":
			one = sealedDocument(id)
			one.Owner = "stays"
		case "anonymous":
		default:
			one.Owner = "stays"
		}
		documents = append(documents, one)
	}
	pastes("the first time", paste.RefuseOrphans, documents, fresh, fresh, fresh, fresh, fresh)
	must(t, s.Pastes.Star(t.Context(), nowhere, "stays", "deleted"))
	expired := storedPaste(t, s.Store, "gones-expired", "gone", now, now)
	refusal := errors.New("no")
	for _, id := range []paste.ID{"deleted", "sealed"} {
		must(t, s.Documents.DeleteIf(t.Context(), unrecorded, id, func(paste.Paste) error { return nil }))
	}
	// What was not deleted has no tombstone.
	if err := s.Documents.DeleteIf(t.Context(), unrecorded, "stayed", func(paste.Paste) error {
		return refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("got %v, want the error of allow", err)
	}
	wantKind(t, s.Documents.DeleteIf(t.Context(), unrecorded, "unknown", func(paste.Paste) error {
		return nil
	}), fault.NotFound)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, "gone", parseName(t, "x"), nil))

	for range 2 { // not at the second time either
		pastes("again", paste.RefuseOrphans, documents, removed, removed, removed, unchanged, unchanged)
		pastes("again, orphans without an owner", paste.AnonymizeOrphans, documents, removed, removed, removed,
			unchanged, unchanged)
		for _, id := range []paste.ID{"gones", "deleted", "sealed"} {
			wantNoDocument(t, s, id)
		}
	}
	other, never := newExported(expired), newExported("never-here")
	other.Owner, never.Owner = "gone", "gone"
	pastes("what else was the user's", paste.AnonymizeOrphans, []paste.Document{other, never}, removed, removed)
	swept, back := storedPaste(t, s.Store, "swept", "stays", now, now), newExported("swept")
	n, err := s.Pastes.RemoveExpired(t.Context(), 0, 10)
	must(t, err)
	want(t, "swept", n, 1)
	back.Owner = "stays"
	pastes("what expired and was swept", paste.RefuseOrphans, []paste.Document{back}, fresh)
	wantStored(t, s, string(swept), back)
	again := storedPaste(t, s.Store, "deleted", "stays", now, time.Time{})
	pastes("one that is there again", paste.RefuseOrphans, documents[1:2], updated)
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, again, func(paste.Paste) error { return nil }))
	twice := newExported("unknown")
	pastes("others beside what was deleted", paste.RefuseOrphans,
		[]paste.Document{documents[1], twice, documents[0], newExported("gone"), twice}, removed, fresh, removed,
		fresh, unchanged)
	wantStored(t, s, "a paste with the id of a user that is gone", newExported("gone"))

	stays.Stars = []string{"deleted"}
	users("again", []user.Import{gone, stays}, removed, unchanged)
	wantNames(t, s.Store, map[user.ID]string{"stays": "y"})
	stays.Name, gone.Name = parseName(t, "x"), parseName(t, "y")
	users("the name that is free", []user.Import{gone, stays, gone}, removed, updated, removed)
	heir := account("heir", "y")
	gone.Name = parseName(t, "x")
	users("a user who is gone has no name to keep", []user.Import{gone, heir, account("deleted", "z")},
		removed, fresh, fresh)
	wantNames(t, s.Store, map[user.ID]string{"stays": "x", "heir": "y", "deleted": "z"})
	_, err = s.Users.AccountByID(t.Context(), "gone")
	wantKind(t, err, fault.NotFound)
	key := token.Token{ID: "key", Owner: "gone", Hash: token.Hash{1}, CreatedAt: now}
	heirs, nobodys := key, key
	heirs.ID, heirs.Owner, nobodys.ID, nobodys.Owner, nobodys.Hash = "heirs", "heir", "nobodys", "nobody", token.Hash{2}
	results, err := s.Tokens.Import(t.Context(), []token.Token{key, heirs, nobodys})
	wantResults(t, "a key of a user who is gone", results, err, removed, fresh, rejected(fault.NotFound))
	got, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "users", got.Users, 3)
	want(t, "pastes", got.ActivePastes, 5)
	want(t, "waiting stars", got.WaitingStars, 1)
}

func importOrphans(t *testing.T, s DocumentStore) {
	orphan, owned := newExported("orphan"), newExported("owned")
	orphan.Owner, owned.Owner = "gone", storedUser(t, s.Store, "owner").ID
	run := func(what string, orphans paste.Orphans, want ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), Whole(orphan, owned), orphans)
		wantResults(t, what, results, err, want...)
	}
	run("refused", paste.RefuseOrphans, rejected(fault.NotFound), fresh)
	wantNoDocument(t, s, "orphan")
	anonymous := orphan
	anonymous.Owner = ""
	for _, result := range []string{fresh, unchanged} {
		run("without an owner", paste.AnonymizeOrphans, result, unchanged)
		wantStored(t, s, "without an owner", anonymous)
		wantStored(t, s, "with an owner", owned)
	}
	run("refused, and left as it is", paste.RefuseOrphans, rejected(fault.NotFound), unchanged)
	wantStored(t, s, "without an owner", anonymous)
	_, err := s.Users.Import(t.Context(), []user.Import{importedAccount(t, "gone", "gone")})
	must(t, err)
	run("the owner is there", paste.AnonymizeOrphans, updated, unchanged)
	wantStored(t, s, "with the owner that came", orphan)
}
