package contract

import (
	"fmt"
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
func rejected(kind fault.Kind) string { return "rejected: " + kind.String() }

const (
	fresh     = "new"
	updated   = "updated"
	unchanged = "unchanged"
)

// wantResults compares what became of each record.
func wantResults(t *testing.T, what string, results []batch.Result, err error, wanted ...string) {
	t.Helper()
	must(t, err)
	got := make([]string, len(results))
	for i, result := range results {
		got[i] = []string{fresh, updated, unchanged}[result.Outcome]
		if result.Err != nil {
			got[i] = rejected(fault.KindOf(result.Err))
		}
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("%s: got %q, want %q", what, got, wanted)
	}
}

func importedAccount(t *testing.T, id user.ID, name string) user.Account {
	t.Helper()
	u := newUser(t, name)
	u.ID = id
	return user.Account{User: u}
}

func wantNames(t *testing.T, s Store, wanted map[user.ID]string) {
	t.Helper()
	got := map[user.ID]string{}
	must(t, s.Users.Each(t.Context(), func(u user.User) error {
		got[u.ID] = u.Name.String()
		return nil
	}))
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("names: got %v, want %v", got, wanted)
	}
}

func importUsers(t *testing.T, s Store) {
	run := func(what string, accounts []user.Account, wanted ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, wanted...)
	}
	run("nothing", nil)
	a, b := importedAccount(t, "a", "Ann"), importedAccount(t, "b", "Bob")
	a.Stars, a.Services = []string{"z", "y", "x"}, map[string]string{"github": "1", "gitlab": "2"}
	run("the first time", []user.Account{a, b}, fresh, fresh)
	a.CreatedAt, b.CreatedAt = now.Add(time.Hour), now.Add(time.Hour) // an export does not have it
	run("again", []user.Account{b, a}, unchanged, unchanged)
	for _, id := range []string{"x", "y", "z"} {
		storedPaste(t, s, id, "", now, time.Time{})
	}
	made := storedToken(t, s, "a")
	a.Name, a.Stars, a.Services, a.SupporterMonths = parseName(t, "ANN"), []string{"y", "z"}, map[string]string{"gitlab": "3"}, 0
	run("a newer export", []user.Account{a, b}, updated, unchanged)
	_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
	must(t, err)
	want(t, "name", account.Name.String(), "ANN")
	want(t, "months", account.SupporterMonths, 0)
	want(t, "creation", account.CreatedAt, now.UTC())
	want(t, "stars", fmt.Sprint(account.Stars), "[y z]")
	want(t, "services", fmt.Sprint(account.Services), "map[gitlab:3]")
	twice := importedAccount(t, "c", "Cid")
	first := twice
	first.SupporterMonths = 1
	run("one id twice: the last one stays", []user.Account{first, twice}, fresh, updated)
	found, err := s.Users.ByName(t.Context(), twice.Name)
	must(t, err)
	want(t, "months of the id that came twice", found.SupporterMonths, twice.SupporterMonths)
}

// importNames moves names between users in every way, in both orders of the records.
func importNames(t *testing.T, s Store) {
	run := func(what string, accounts []user.Account, wanted ...string) {
		t.Helper()
		results, err := s.Users.Import(t.Context(), accounts)
		wantResults(t, what, results, err, wanted...)
	}
	account := func(id user.ID, name string) user.Account { return importedAccount(t, id, name) }
	run("the beginning", []user.Account{account("a", "y"), account("b", "x"), account("c", "c"), account("d", "d")},
		fresh, fresh, fresh, fresh)
	run("a chain, its end first", []user.Account{account("b", "z"), account("a", "x")}, updated, updated)
	wantNames(t, s, map[user.ID]string{"a": "x", "b": "z", "c": "c", "d": "d"})
	run("a chain, its beginning first", []user.Account{account("a", "Z"), account("b", "y")}, updated, updated)
	wantNames(t, s, map[user.ID]string{"a": "Z", "b": "y", "c": "c", "d": "d"})
	run("a circle of three and a new user", []user.Account{account("a", "y"), account("b", "c"), account("e", "x"), account("c", "z")},
		updated, updated, fresh, updated)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x"})
	run("a name that somebody keeps", []user.Account{account("a", "D"), account("f", "f")}, rejected(fault.Conflict), fresh)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x", "f": "f"})
	run("a chain behind such a name, and one beside it",
		[]user.Account{account("b", "y"), account("a", "d"), account("g", "c"), account("h", "h")},
		rejected(fault.Conflict), rejected(fault.Conflict), rejected(fault.Conflict), fresh)
	wantNames(t, s, map[user.ID]string{"a": "y", "b": "c", "c": "z", "d": "d", "e": "x", "f": "f", "h": "h"})
	results, err := s.Users.Import(t.Context(), []user.Account{account("i", "same"), account("j", "SAME")})
	wantResults(t, "two that want one name", results, err, fresh, rejected(fault.Conflict))
	results, err = s.Users.Import(t.Context(), []user.Account{account("d", "dd"), account("a", "d")})
	wantResults(t, "what was refused, once the name is free", results, err, updated, updated)
}

func importTokens(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	key := func(id token.ID, hash byte) token.Token {
		return token.Token{ID: id, Owner: owner.ID, Hash: token.Hash{hash}, Name: "key", CreatedAt: now}
	}
	run := func(what string, keys []token.Token, wanted ...string) {
		t.Helper()
		results, err := s.Tokens.Import(t.Context(), keys)
		wantResults(t, what, results, err, wanted...)
	}
	holds := func(hash byte, id token.ID, revoked bool) {
		t.Helper()
		found, err := s.Tokens.ByHash(t.Context(), token.Hash{hash})
		must(t, err)
		want(t, fmt.Sprint("holder of ", hash), found.ID, id)
		want(t, fmt.Sprint(id, " is revoked"), !found.RevokedAt.IsZero(), revoked)
	}
	run("nothing", nil)
	run("the first time", []token.Token{key("a", 1), key("b", 2)}, fresh, fresh)
	must(t, s.Tokens.Revoke(t.Context(), "a", now))
	run("again", []token.Token{key("b", 2), key("a", 1)}, unchanged, unchanged)
	holds(1, "a", true)
	run("a new hash", []token.Token{key("a", 3)}, updated)
	holds(3, "a", false)
	_, err := s.Tokens.ByHash(t.Context(), token.Hash{1})
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
	run := func(what string, pastes []paste.Document, wanted ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), pastes, paste.RefuseOrphans)
		wantResults(t, what, results, err, wanted...)
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
	if got, wanted := activeIDs(t, s, owner.ID), []string{"mine", "third"}; !slices.Equal(got, wanted) {
		t.Errorf("pastes: got %v, want %v", got, wanted)
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
	run := func(what string, pastes []paste.Document, wanted ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), pastes, paste.RefuseOrphans)
		wantResults(t, what, results, err, wanted...)
	}
	full, sealed, empty := newDocument("full"), sealedDocument("sealed"), paste.Document{Paste: paste.Paste{ID: "empty", CreatedAt: now}}
	full.Owner, full.Stars, empty.Lifetime = owner.ID, 7, "1d"
	bystander := newDocument("bystander")
	must(t, s.Documents.CreateDocument(t.Context(), bystander))
	all := []paste.Document{full, sealed, empty}
	run("the first time", all, fresh, fresh, fresh)
	full.Stars = 0
	for _, wanted := range []paste.Document{full, sealed, empty, bystander} {
		wantStored(t, s, string(wanted.ID), wanted)
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

// importOverEdits has the export win over what was edited here, and over what holds nothing.
func importOverEdits(t *testing.T, s DocumentStore) {
	exported := newDocument("paste")
	must(t, s.Documents.CreateDocument(t.Context(), exported))
	for number := range int64(3) { // the oldest entries give way
		_, err := s.Documents.Update(t.Context(), "paste", token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
			recorded := paste.Edit{ID: fmt.Sprint("new", number), Number: 8 + number, At: time.Unix(2, 0).UTC()}
			made := paste.Change{Document: stored, Changed: true, Dropped: 1, Recorded: []paste.Edit{recorded}}
			made.Title, made.Edits = "edited", append(slices.Clone(stored.Edits[1:]), recorded)
			return made, nil
		})
		must(t, err)
	}
	storedPaste(t, s.Store, "bare", "", now, time.Time{})
	bare := paste.Document{Paste: paste.Paste{ID: "bare", CreatedAt: now}}
	run := func(what string, wanted ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), []paste.Document{exported, bare}, paste.RefuseOrphans)
		wantResults(t, what, results, err, wanted...)
		wantStored(t, s, what, exported)
		wantStored(t, s, what, bare)
	}
	run("over an edit", updated, unchanged)
	run("again", unchanged, unchanged)
	// It goes on from there, and the positions of what was edited before play no part.
	added := paste.Edit{ID: "e9", Number: 8, At: time.Unix(3, 0).UTC()}
	edited, err := s.Documents.Update(t.Context(), "paste", token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
		made := paste.Change{Document: stored, Changed: true, Dropped: 1, Recorded: []paste.Edit{added}}
		made.Edits = append(slices.Clone(stored.Edits[1:]), added)
		return made, nil
	})
	must(t, err)
	wantStored(t, s, "an edit of what was imported", edited)
	run("over that edit", updated, unchanged)
	bare.Content, exported.Content = exported.Content, paste.Content{}
	run("content comes and goes", updated, updated)
	run("again", unchanged, unchanged)
}

func importOrphans(t *testing.T, s DocumentStore) {
	orphan, owned := newDocument("orphan"), newDocument("owned")
	orphan.Owner, owned.Owner = "gone", storedUser(t, s.Store, "owner").ID
	run := func(what string, orphans paste.Orphans, wanted ...string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), []paste.Document{orphan, owned}, orphans)
		wantResults(t, what, results, err, wanted...)
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
	_, err := s.Users.Import(t.Context(), []user.Account{importedAccount(t, "gone", "gone")})
	must(t, err)
	run("the owner is there", paste.AnonymizeOrphans, updated, unchanged)
	wantStored(t, s, "with the owner that came", orphan)
}
