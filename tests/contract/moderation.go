package contract

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// ModerationStore is a DocumentStore with them.
type ModerationStore struct {
	DocumentStore
	Moderation moderation.Store
	Removed    paste.Store
}

// RunModeration runs every suite about operators, each behaviour on a store of its own.
func RunModeration(t *testing.T, open func(t *testing.T) ModerationStore) {
	t.Helper()
	for name, behaviour := range map[string]func(*testing.T, ModerationStore){
		"find":                            findPastes,
		"find, window by window":          findInWindows,
		"an account":                      showAccount,
		"list accounts":                   listAccounts,
		"remove and restore":              removeAndRestore,
		"what is removed stays removed":   removedStays,
		"removed pastes of a user go":     removedGoWithOwner,
		"purge":                           purge,
		"delete what was removed":         deleteRemoved,
		"the log is that of what is done": auditLog,
		"hide and show again":             hideAndShow,
		"what is hidden can be removed":   removeHidden,
		"and is hidden when restored":     restoreHidden,
		"is as if it were deleted":        removedUnseen,
		"labels":                          labels,
		"reports of what is hidden":       reportsOfHidden,
		"blocks":                          blocks,
		"reports":                         reports,
		"reports of burning pastes":       reportsOfBurning,
		"origins":                         origins,
		"deleting a user keeps pastes":    keepPastes,
		"and those that are hidden":       keepHiddenPastes,
		"several callers remove":          removersMeet,
		"only administrators act as such": formerAdministrators,
		"administrators against another":  administratorsMeet,
		"links of former administrators":  linksOfFormerAdministrators,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			behaviour(t, open(t))
		})
	}
}

// spam stores a paste with one pasty.
func spam(t *testing.T, s ModerationStore, id paste.ID, owner user.ID, created time.Time, code string) paste.Document {
	t.Helper()
	newPaste := paste.Document{Paste: paste.Paste{ID: id, Owner: owner, CreatedAt: created}}
	newPaste.Title, newPaste.Lifetime = "title of "+string(id), "never"
	newPaste.Pasties = []paste.Pasty{{ID: "p", Title: "pasty of " + string(id), Language: "Go", Code: code}}
	must(t, s.Documents.CreateDocument(t.Context(), newPaste))
	return newPaste
}

func findPastes(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	first := spam(t, s, "first", owner, now, "100% _free_ \x00 casino")
	spam(t, s, "second", "", now.Add(time.Second), strings.Repeat("x", 1000))
	third := spam(t, s, "third", "", now.Add(2*time.Second), "Casino")
	for what, c := range map[string]struct {
		filter moderation.Filter
		want   []paste.ID
	}{
		"all":                 {moderation.Filter{}, []paste.ID{"third", "second", "first"}},
		"of an owner":         {moderation.Filter{Owner: owner}, []paste.ID{"first"}},
		"anonymous":           {moderation.Filter{Anonymous: true}, []paste.ID{"third", "second"}},
		"since":               {moderation.Filter{Since: now.Add(time.Second)}, []paste.ID{"third", "second"}},
		"until":               {moderation.Filter{Until: now.Add(time.Second)}, []paste.ID{"first"}},
		"contains":            {moderation.Filter{Contains: "asino"}, []paste.ID{"third", "first"}},
		"contains, by letter": {moderation.Filter{Contains: "Casino"}, []paste.ID{"third"}},
		"no patterns":         {moderation.Filter{Contains: "100% _"}, []paste.ID{"first"}},
		"no pattern at all":   {moderation.Filter{Contains: "c_sino"}, nil},
		"U+0000":              {moderation.Filter{Contains: "\x00 c"}, []paste.ID{"first"}},
		"title":               {moderation.Filter{Title: "title of s"}, []paste.ID{"second"}},
		"title of a pasty":    {moderation.Filter{Title: "pasty of t"}, []paste.ID{"third"}},
		"language":            {moderation.Filter{Language: "Go"}, []paste.ID{"third", "second", "first"}},
		"another language":    {moderation.Filter{Language: "C"}, nil},
		"large":               {moderation.Filter{LargerThan: 1000}, []paste.ID{"second"}},
		"several":             {moderation.Filter{Anonymous: true, Contains: "Casino", Since: now}, []paste.ID{"third"}},
		"removed":             {moderation.Filter{Removed: true}, nil},
	} {
		if got := foundIDs(t, s, c.filter, 100); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", what, got, c.want)
		}
	}
	found, last, err := s.Moderation.Pastes(t.Context(), moderation.Filter{Owner: owner}, paste.Cursor{}, 100)
	must(t, err)
	want(t, "place of the end", last, paste.Cursor{})
	expected := moderation.Paste{
		Summary: paste.Summary{
			Paste: paste.Paste{ID: first.ID, Owner: owner, CreatedAt: now.UTC()}, Title: first.Title,
			PastyTitle: "pasty of first",
			FirstLine:  "100% _free_ \x00 casino", Visibility: first.Visibility, OwnerName: "owner", EditedAt: now.UTC(),
		},
		Bytes: first.ContentBytes(),
	}
	if !reflect.DeepEqual(found[0], expected) {
		t.Errorf("got %+v, want %+v", found[0], expected)
	}

	must(t, s.Moderation.Remove(t.Context(), audit.Operator().Entry("act", "third", "spam"), third.ID, "spam"))
	if got := foundIDs(t, s, moderation.Filter{}, 100); !slices.Equal(got, []paste.ID{"second", "first"}) {
		t.Errorf("all but the removed one: got %v", got)
	}
	found, _, err = s.Moderation.Pastes(t.Context(), moderation.Filter{Removed: true, Title: "of third"},
		paste.Cursor{}, 100)
	must(t, err)
	if len(found) != 1 || found[0].ID != third.ID || found[0].Reason != "spam" || found[0].RemovedBy != "operator" ||
		found[0].RemovedAt.IsZero() || found[0].Bytes != third.ContentBytes() {
		t.Errorf("removed: got %+v, want the third", found)
	}
}

// labels are what operators see of pastes without titles. The code of what is not for everybody is not shown.
func labels(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	setHidden(t, s, owner, false)
	expected := map[paste.ID]string{
		"snippet": "a\x00.go", "line": "first", "private": paste.Untitled, "burns": paste.Untitled, "cipher": paste.Encrypted,
		"empty": paste.Untitled,
	}
	for id := range expected {
		created := paste.Document{Paste: paste.Paste{ID: id, Owner: owner, CreatedAt: now, Burns: id == "burns"}}
		created.Title, created.Lifetime, created.Pasties = "  ", "never",
			[]paste.Pasty{{ID: "p", Title: " ", Code: "\n first \nsecond"}}
		switch id {
		case "snippet":
			created.Pasties[0].Title = expected[id]
		case "private":
			created.Visibility = paste.Private
		case "cipher":
			created.Title, created.Pasties, created.Cipher = "", nil, &paste.Cipher{Version: paste.CipherVersion,
				Data: []byte("x")}
		case "empty":
			created.Pasties = nil
		}
		must(t, s.Documents.CreateDocument(t.Context(), created))
	}
	found, _, err := s.Moderation.Pastes(t.Context(), moderation.Filter{}, paste.Cursor{}, 10)
	must(t, err)
	want(t, "found", len(found), len(expected))
	for _, one := range found {
		want(t, string(one.ID), one.Label(), expected[one.ID])
		want(t, "suspended", one.Suspended, true)
	}
	takenAway(t, s, "snippet")
	found, _, err = s.Moderation.Pastes(t.Context(), moderation.Filter{Removed: true}, paste.Cursor{}, 10)
	must(t, err)
	want(t, "removed", found[0].Label(), expected["snippet"])
}

// foundIDs looks through all pastes.
func foundIDs(t *testing.T, s ModerationStore, filter moderation.Filter, window int) (ids []paste.ID) {
	t.Helper()
	for after := (paste.Cursor{}); ; {
		found, last, err := s.Moderation.Pastes(t.Context(), filter, after, window)
		must(t, err)
		if len(found) > window {
			t.Fatalf("got %d pastes of a window of %d", len(found), window)
		}
		for _, one := range found {
			ids = append(ids, one.ID)
		}
		if last == (paste.Cursor{}) {
			return ids
		}
		after = last
	}
}

// findInWindows finds what stands far behind what does not match, and two of one instant.
func findInWindows(t *testing.T, s ModerationStore) {
	for i, id := range []paste.ID{"a", "b", "c", "d", "e", "f", "g"} {
		code := "ham"
		if i < 2 {
			code = "spam"
		}
		spam(t, s, id, "", now, code)
	}
	for window := 1; window < 9; window++ {
		if got := foundIDs(t, s, moderation.Filter{Contains: "spam"}, window); !slices.Equal(got, []paste.ID{"b", "a"}) {
			t.Errorf("windows of %d: got %v, want b, a", window, got)
		}
	}
}

func showAccount(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner")
	owner.CreatedAt = owner.CreatedAt.UTC()
	got, err := s.Moderation.AccountOf(t.Context(), owner.ID)
	must(t, err)
	want(t, "account without pastes", got, moderation.Account{User: owner})
	one, two := spam(t, s, "one", owner.ID, now, "code"), spam(t, s, "two", owner.ID, now, "more code")
	spam(t, s, "other", "", now, "code")
	used, revoked := storedToken(t, s.Store, owner.ID), storedToken(t, s.Store, owner.ID)
	must(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, revoked.ID, now))
	must(t, s.Tokens.SetLastUsed(t.Context(), map[token.ID]time.Time{used.ID: now, revoked.ID: now.Add(-time.Hour)}))
	got, err = s.Moderation.AccountOf(t.Context(), owner.ID)
	must(t, err)
	want(t, "account", got, moderation.Account{User: owner, Usage: moderation.Usage{
		Pastes: 2, Bytes: one.ContentBytes() + two.ContentBytes(), Tokens: 1, LastUsed: now.UTC(),
	}})
	for _, id := range append([]string{"unknown"}, unstorable...) {
		_, err = s.Moderation.AccountOf(t.Context(), user.ID(id))
		wantKind(t, err, fault.NotFound)
	}
	_, err = s.Moderation.AccountOf(cancelled(t), owner.ID)
	wantKind(t, err, fault.Unavailable)
}

func takenAway(t *testing.T, s ModerationStore, id paste.ID) {
	t.Helper()
	must(t, s.Moderation.Remove(t.Context(), audit.Operator().Entry("paste.remove", string(id), "spam"), id, "spam"))
}

func removeAndRestore(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	created := storedDocument(t, s.DocumentStore, "private", owner)
	shared := spam(t, s, "shared", owner, now, "\x00 \x1a")
	encrypted := paste.Document{Paste: paste.Paste{ID: "cipher", CreatedAt: now}}
	encrypted.Cipher = &paste.Cipher{Data: []byte{0, 1}, Key: []byte{2}, Salt: []byte{255}}
	must(t, s.Documents.CreateDocument(t.Context(), encrypted))
	byClient := paste.Document{Paste: paste.Paste{ID: "client", CreatedAt: now}}
	byClient.Cipher = &paste.Cipher{Version: 1, Data: []byte{0, 1}, Key: []byte{}, Salt: []byte{255}}
	must(t, s.Documents.CreateDocument(t.Context(), byClient))
	must(t, s.Pastes.Star(t.Context(), nowhere, owner, created.ID))
	created.Stars = 1
	for _, id := range []paste.ID{"private", "shared", "cipher", "client"} {
		takenAway(t, s, id)
		wantNoDocument(t, s.DocumentStore, id)
		wantKind(t, s.Moderation.Remove(t.Context(), unrecorded, id, "again"), fault.NotFound)
		told, err := s.Removed.RemovalNotice(t.Context(), id)
		must(t, err)
		want(t, "told of "+string(id), told, id == "shared" || id == "client")
	}
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 0)
	wantIDs(t, s.DocumentStore, owner)
	account, err := s.Users.AccountByID(t.Context(), owner)
	must(t, err)
	want(t, "stars", len(account.Stars), 0)

	for _, id := range []paste.ID{"private", "shared", "cipher", "client"} {
		must(t, s.Moderation.Restore(t.Context(), unrecorded, id))
		wantKind(t, s.Moderation.Restore(t.Context(), unrecorded, id), fault.NotFound)
		told, err := s.Removed.RemovalNotice(t.Context(), id)
		must(t, err)
		want(t, "told of what is back", told, false)
	}
	wantStored(t, s.DocumentStore, "restored", created)
	wantStored(t, s.DocumentStore, "restored, U+0000", shared)
	wantStored(t, s.DocumentStore, "restored, encrypted", encrypted)
	wantStored(t, s.DocumentStore, "restored, encrypted by its client", byClient)
	account, err = s.Users.AccountByID(t.Context(), owner)
	must(t, err)
	want(t, "stars", len(account.Stars), 1)
	if got := foundIDs(t, s, moderation.Filter{Removed: true}, 10); got != nil {
		t.Errorf("still removed: got %v, want none", got)
	}
	for _, id := range unstorable {
		wantKind(t, s.Moderation.Remove(t.Context(), unrecorded, paste.ID(id), "odd"), fault.NotFound)
		wantKind(t, s.Moderation.Restore(t.Context(), unrecorded, paste.ID(id)), fault.NotFound)
		if told, err := s.Removed.RemovalNotice(t.Context(), paste.ID(id)); told || err != nil {
			t.Errorf("%q: got %v, error %v, want neither", id, told, err)
		}
	}
}

// seenOf is all that readers, lists, counts and limits have of a paste and its owner.
func seenOf(t *testing.T, s ModerationStore, id paste.ID, owner user.User) string {
	t.Helper()
	ctx := t.Context()
	var seen []string
	add := func(what string, value any, err error) {
		t.Helper()
		if err != nil {
			value = fault.KindOf(err)
		}
		seen = append(seen, fmt.Sprintf("%s: %+v", what, value))
	}
	for _, reader := range []user.ID{owner.ID, ""} {
		document, err := s.Documents.ReadDocument(ctx, id, reader)
		add("read", document, err)
		cipher, err := s.Documents.ReadCipher(ctx, id, reader)
		add("cipher", cipher, err)
		found, _, err := s.Search.Find(ctx, parsed(t, "findable"), reader, search.Cursor{}, 10)
		add("search", found, err)
	}
	document, err := s.Documents.DocumentByID(ctx, id)
	add("document", document, err)
	count, err := s.Pastes.ActiveCount(ctx)
	add("count", count, err)
	for _, limit := range []int{10, 1000} { // a dataloader reads one of the two
		ids, _, err := s.Pastes.ActiveIDs(ctx, owner.ID, paste.Cursor{}, limit)
		add("ids", ids, err)
	}
	for order := range paste.ByTitle + 1 {
		listed, err := s.Pastes.Select(ctx, owner.ID, paste.Selection{Order: order, Tag: "tag"}, 10)
		add("list", listed, err)
	}
	_, listed, err := s.Pastes.Profile(ctx, owner.Name, func(user.User) error { return nil }, paste.Selection{}, 10)
	add("profile", listed, err)
	listed, err = s.Pastes.Recent(ctx, "", paste.Cursor{}, 10)
	add("recent", listed, err)
	listed, err = s.Pastes.StarredBy(ctx, owner.ID, "", paste.Cursor{}, 10)
	add("starred", listed, err)
	account, err := s.Users.AccountByID(ctx, owner.ID)
	add("account", account, err)
	export, err := s.Tokens.Export(ctx, owner.ID)
	add("export", export, err)
	administered, err := s.Moderation.AccountOf(ctx, owner.ID)
	add("account for administrators", administered, err)
	totals, err := s.Stats.Totals(ctx)
	totals.DatabaseBytes = 0
	add("totals", totals, err)
	found, _, err := s.Moderation.Pastes(ctx, moderation.Filter{Owner: owner.ID}, paste.Cursor{}, 10)
	add("operators' list", found, err)
	reports, err := s.Moderation.Reports(ctx, moderation.Report{}, 10)
	add("reports", reports, err)

	_, err = s.Documents.Update(ctx, unrecorded, id, func(d paste.Document) (paste.Change, error) {
		return paste.Change{Document: d}, nil
	})
	add("update", "", err)
	_, err = s.Documents.Burn(ctx, id, owner.ID)
	add("burn", "", err)
	refusal := errors.New("no")
	if err := s.Documents.DeleteIf(ctx, unrecorded, id, func(paste.Paste) error {
		return refusal
	}); !errors.Is(err, refusal) {
		add("delete", "", err)
	}
	return strings.Join(seen, "\n")
}

// removedUnseen wants a paste that was removed or hidden to be as one whose content was purged, for everybody but
// operators.
func removedUnseen(t *testing.T, s ModerationStore) {
	for what, take := range map[string]func(paste.ID, user.ID){
		"removed": func(id paste.ID, _ user.ID) { takenAway(t, s, id) },
		"hidden": func(_ paste.ID, owner user.ID) {
			setHidden(t, s, owner, true)
			_, err := s.Moderation.Hide(t.Context(), owner, 10)
			must(t, err)
		},
	} {
		owner, id := storedUser(t, s.Store, what), paste.ID("paste-"+what)
		setHidden(t, s, owner.ID, false)
		created := spam(t, s, id, owner.ID, now, "findable")
		_, err := s.Documents.Update(t.Context(), unrecorded, id, func(stored paste.Document) (paste.Change, error) {
			stored.Tags, stored.Visibility = []string{"tag"}, paste.Public
			return paste.Change{Document: stored, Changed: true}, nil
		})
		must(t, err)
		must(t, s.Pastes.Star(t.Context(), nowhere, owner.ID, id))
		report := moderation.Report{ID: "of " + what, Paste: id, Reason: "spam", At: now.UTC()}
		must(t, s.Moderation.Report(t.Context(), nowhere, report, "", "client", paste.Quota{}))
		full := paste.Allowance{Pastes: 1, Bytes: created.Bytes()}
		_, err = s.Documents.CreateAllowed(t.Context(), nowhere, full, "", newOf(owner.ID))
		wantKind(t, err, fault.Forbidden)
		before := seenOf(t, s, id, owner)
		take(id, owner.ID)
		taken := seenOf(t, s, id, owner)
		must(t, s.Removed.DeleteRemoved(t.Context(), unrecorded, id))
		if gone := seenOf(t, s, id, owner); taken != gone || taken == before {
			t.Errorf("%s: got\n%s\nwant what is left of one whose content is gone\n%s", what, taken, gone)
		}
		setHidden(t, s, owner.ID, false)
		_, err = s.Documents.CreateAllowed(t.Context(), nowhere, full, "", newOf(owner.ID))
		must(t, err)
	}
}

// newOf is a small paste of an owner.
func newOf(owner user.ID) paste.Document {
	return paste.Document{Paste: paste.Paste{ID: paste.ID(ident.New()), Owner: owner, CreatedAt: now}}
}

// removedStays for imports, also once its content was purged.
func removedStays(t *testing.T, s ModerationStore) {
	created := spam(t, s, "spam", "", now, "code")
	takenAway(t, s, created.ID)
	wantRemoved := func(what string) {
		t.Helper()
		results, err := s.Pastes.Import(t.Context(), Whole(created), paste.RefuseOrphans)
		must(t, err)
		want(t, what, results[0].Outcome, batch.RemovedEarlier)
		wantNoDocument(t, s.DocumentStore, created.ID)
	}
	wantRemoved("import")
	_, err := s.Removed.PurgeRemoved(t.Context(), 0, 10)
	must(t, err)
	wantRemoved("import after a purge")
	told, err := s.Removed.RemovalNotice(t.Context(), created.ID)
	must(t, err)
	want(t, "told after a purge", told, true)
}

func removedGoWithOwner(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner")
	created := spam(t, s, "spam", owner.ID, now, "code")
	takenAway(t, s, created.ID)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil))
	wantKind(t, s.Moderation.Restore(t.Context(), unrecorded, created.ID), fault.NotFound)
	if got := foundIDs(t, s, moderation.Filter{Removed: true}, 10); got != nil {
		t.Errorf("removed pastes of a user who is gone: got %v, want none", got)
	}
}

func purge(t *testing.T, s ModerationStore) {
	for _, id := range []paste.ID{"a", "b", "c"} {
		spam(t, s, id, "", now, "code")
		takenAway(t, s, id)
	}
	count := func(retention time.Duration, limit int) int {
		t.Helper()
		purged, err := s.Removed.PurgeRemoved(t.Context(), retention, limit)
		must(t, err)
		return purged
	}
	want(t, "purged too early", count(time.Hour, 10), 0)
	want(t, "purged with a limit", count(0, 2), 2)
	want(t, "purged", count(0, 2), 1)
	for _, id := range []paste.ID{"a", "b", "c"} {
		wantKind(t, s.Moderation.Restore(t.Context(), unrecorded, id), fault.NotFound)
	}
}

// deleteRemoved deletes the content at once; its page still says that it was removed, and imports do not bring it back.
func deleteRemoved(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner")
	created := spam(t, s, "removed", owner.ID, now, "code")
	spam(t, s, "hidden", owner.ID, now, "code")
	takenAway(t, s, created.ID)
	setHidden(t, s, owner.ID, true)
	_, err := s.Moderation.Hide(t.Context(), owner.ID, 10)
	must(t, err)
	for _, id := range []paste.ID{created.ID, "hidden"} {
		must(t, s.Removed.DeleteRemoved(t.Context(), unrecorded, id))
		wantKind(t, s.Removed.DeleteRemoved(t.Context(), unrecorded, id), fault.NotFound)
		wantKind(t, s.Moderation.Restore(t.Context(), unrecorded, id), fault.NotFound)
	}
	if got := foundIDs(t, s, moderation.Filter{Removed: true}, 10); got != nil {
		t.Errorf("removed pastes: got %v, want none", got)
	}
	told, err := s.Removed.RemovalNotice(t.Context(), created.ID)
	must(t, err)
	want(t, "told", told, true)
	results, err := s.Pastes.Import(t.Context(), Whole(created), paste.RefuseOrphans)
	must(t, err)
	want(t, "import", results[0].Outcome, batch.RemovedEarlier)
	active := spam(t, s, "active", "", now, "code")
	wantKind(t, s.Removed.DeleteRemoved(t.Context(), unrecorded, active.ID), fault.NotFound)
}

func auditLog(t *testing.T, s ModerationStore) {
	created := spam(t, s, "spam", "", now, "code")
	admin := administrator(t, s, "admin")
	wantKind(t, s.Moderation.Remove(t.Context(), admin.Entry("paste.remove", "unknown", "none"), "unknown", "none"),
		fault.NotFound)
	must(t, s.Moderation.Remove(t.Context(), admin.Entry("paste.remove", "spam", "why"), created.ID, "why"))
	must(t, s.Moderation.Restore(t.Context(), audit.Operator().Entry("paste.restore", "spam", ""), created.ID))
	var acts []string
	for after := (unrecorded); ; {
		entries, err := s.Moderation.Entries(t.Context(), after, 1)
		must(t, err)
		if len(entries) == 0 {
			break
		}
		after = entries[0]
		if after.At.IsZero() || after.At.Location() != time.UTC {
			t.Errorf("got the time %v, want one in UTC", after.At)
		}
		acts = append(acts, after.Actor+" "+after.Act+" "+after.Target+" "+after.Reason)
	}
	if !slices.Equal(acts, []string{"operator paste.restore spam ", "admin paste.remove spam why"}) {
		t.Errorf("got %q, want what was done, newest first", acts)
	}
}

// removersMeet each other, and those who edit, delete and restore.
func removersMeet(t *testing.T, s ModerationStore) {
	created := spam(t, s, "spam", "", now, "code")
	wantOneWinner(t, meet(func(int) error {
		return s.Moderation.Remove(t.Context(), unrecorded, created.ID, "spam")
	}), fault.NotFound)
	wantOneWinner(t, meet(func(int) error {
		return s.Moderation.Restore(t.Context(), unrecorded, created.ID)
	}), fault.NotFound)
	wantStored(t, s.DocumentStore, "restored", created)
	wantOneWinner(t, meet(func(caller int) error {
		if caller%2 == 0 {
			return s.Moderation.Remove(t.Context(), unrecorded, created.ID, "spam")
		}
		return s.Documents.DeleteIf(t.Context(), unrecorded, created.ID, func(paste.Paste) error { return nil })
	}), fault.NotFound)
	wantNoDocument(t, s.DocumentStore, created.ID)
}

func hideAndShow(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	var created []paste.Document
	for _, id := range []paste.ID{"a", "b", "c"} {
		created = append(created, spam(t, s, id, owner, now, "code"))
	}
	other := spam(t, s, "other", "", now, "code")
	steps := func(step func(limit int) (int, error)) {
		t.Helper()
		for _, expected := range []int{2, 1, 0} {
			n, err := step(2)
			must(t, err)
			want(t, "pastes of one step", n, expected)
		}
	}
	none, err := s.Moderation.Hide(t.Context(), owner, 2)
	must(t, err)
	want(t, "hidden of a user whose pastes are not to be", none, 0)
	setHidden(t, s, owner, true)
	steps(func(limit int) (int, error) { return s.Moderation.Hide(t.Context(), owner, limit) })
	late := newOf(owner)
	if _, err := s.Documents.CreateAllowed(t.Context(), nowhere, paste.Allowance{}, "", late); !errors.Is(err,
		token.ErrSuspended) {
		t.Errorf("a new one while they are hidden: got %v, want %v", err, token.ErrSuspended)
	}
	wantNoDocument(t, s.DocumentStore, late.ID)
	for _, hidden := range created {
		wantNoDocument(t, s.DocumentStore, hidden.ID)
		wantKind(t, s.Moderation.Restore(t.Context(), unrecorded, hidden.ID), fault.NotFound)
		told, err := s.Removed.RemovalNotice(t.Context(), hidden.ID)
		must(t, err)
		want(t, "told of what is hidden", told, false)
	}
	results, err := s.Pastes.Import(t.Context(), Whole(created[:1]...), paste.RefuseOrphans)
	must(t, err)
	want(t, "import of what is hidden", results[0].Outcome, batch.RemovedEarlier)
	purged, err := s.Removed.PurgeRemoved(t.Context(), 0, 10)
	must(t, err)
	want(t, "purged of what is hidden", purged, 0)
	wantStored(t, s.DocumentStore, "somebody else's", other)
	setHidden(t, s, owner, false)
	steps(func(limit int) (int, error) { return s.Moderation.Unhide(t.Context(), owner, limit) })
	for _, shown := range created {
		wantStored(t, s.DocumentStore, "shown again", shown)
	}
}

// removeHidden takes away for good what is hidden: to show all of it first would publish it again.
func removeHidden(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	created := spam(t, s, "spam", owner, now, "code")
	setHidden(t, s, owner, true)
	_, err := s.Moderation.Hide(t.Context(), owner, 10)
	must(t, err)
	if err := s.Moderation.Remove(t.Context(), unrecorded, created.ID, "spam"); err != nil {
		t.Errorf("got %v, want what is hidden to be removed", err)
	}
	setHidden(t, s, owner, false)
	_, err = s.Moderation.Unhide(t.Context(), owner, 10)
	must(t, err)
	wantNoDocument(t, s.DocumentStore, created.ID)
}

// restoreHidden does not show what a suspended user has.
func restoreHidden(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner")
	spam(t, s, "before", owner.ID, now, "code")
	spam(t, s, "hidden", owner.ID, now, "code")
	takenAway(t, s, "before")
	takenAway(t, s, "hidden")
	setHidden(t, s, owner.ID, false)
	for _, id := range []paste.ID{"before", "hidden"} {
		must(t, s.Moderation.Restore(t.Context(), unrecorded, id))
		if _, err := s.Documents.DocumentByID(t.Context(), id); err != nil {
			t.Errorf("got %v, want it shown: those of its owner are not hidden", err)
		}
	}
	setHidden(t, s, owner.ID, true)
	takenAway(t, s, "before")
	hidden, err := s.Moderation.Hide(t.Context(), owner.ID, 10)
	must(t, err)
	want(t, "hidden", hidden, 1)
	takenAway(t, s, "hidden") // none of the owner's is hidden any more
	for _, id := range []paste.ID{"before", "hidden"} {
		must(t, s.Moderation.Restore(t.Context(), unrecorded, id))
		wantKind(t, s.Moderation.Restore(t.Context(), unrecorded, id), fault.NotFound)
		wantNoDocument(t, s.DocumentStore, id)
		told, err := s.Removed.RemovalNotice(t.Context(), id)
		must(t, err)
		want(t, "told of what is hidden", told, false)
	}
	purged, err := s.Removed.PurgeRemoved(t.Context(), 0, 10)
	must(t, err)
	want(t, "purged of what is hidden", purged, 0)
	shown, err := s.Moderation.Unhide(t.Context(), owner.ID, 10)
	must(t, err)
	want(t, "shown while they are to be hidden", shown, 0)
	setHidden(t, s, owner.ID, false)
	shown, err = s.Moderation.Unhide(t.Context(), owner.ID, 10)
	must(t, err)
	want(t, "shown again", shown, 2)
}

// setHidden has a suspended user's pastes be hidden, or not.
func setHidden(t *testing.T, s ModerationStore, id user.ID, hidden bool) {
	t.Helper()
	_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, id, func(u *user.User, _ map[string]string) error {
		u.Suspended, u.PastesHidden = true, hidden
		return nil
	})
	must(t, err)
}

// reportsOfHidden are open again with their pastes: hiding is no answer to them. Removing is one, also if the paste is
// given back.
func reportsOfHidden(t *testing.T, s ModerationStore) {
	suspended := storedUser(t, s.Store, "owner")
	owner := suspended.ID
	setHidden(t, s, suspended.ID, true)
	var sent []moderation.Report
	for _, id := range []paste.ID{"hidden", "removed"} {
		spam(t, s, id, owner, now, "code")
		report := moderation.Report{ID: "of " + string(id), Paste: id, Reason: "spam", Text: "line\nü", At: now.UTC()}
		must(t, s.Moderation.Report(t.Context(), nowhere, report, "", "client", paste.Quota{Pastes: 10, Window: time.Hour}))
		sent = append(sent, report)
	}
	wantReports := func(what string, want ...moderation.Report) {
		t.Helper()
		got, err := s.Moderation.Reports(t.Context(), moderation.Report{}, 10)
		must(t, err)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
		totals, err := s.Stats.Totals(t.Context())
		must(t, err)
		if totals.OpenReports != int64(len(want)) {
			t.Errorf("%s: got %d open reports counted, want %d", what, totals.OpenReports, len(want))
		}
	}
	wantReports("sent", sent...)
	setHidden(t, s, owner, true)
	_, err := s.Moderation.Hide(t.Context(), owner, 10)
	must(t, err)
	wantReports("hidden")
	takenAway(t, s, "removed")
	must(t, s.Moderation.Restore(t.Context(), unrecorded, "removed"))
	setHidden(t, s, owner, false)
	_, err = s.Moderation.Unhide(t.Context(), owner, 10)
	must(t, err)
	wantReports("shown again", sent[0])
}

// blocks hold for every write that is for a client, and for no other.
func blocks(t *testing.T, s ModerationStore) {
	block := func(network string, expires time.Time) netip.Prefix {
		t.Helper()
		parsed, err := moderation.ParseNetwork(network)
		must(t, err)
		must(
			t,
			s.Moderation.Block(t.Context(), unrecorded, moderation.Block{Network: parsed, Reason: "spam", CreatedAt: now,
				ExpiresAt: expires}),
		)
		return parsed
	}
	owner := storedUser(t, s.Store, "owner").ID
	mine := spam(t, s, "mine", owner, now, "code")
	v4, v6 := block("192.0.2.77/24", time.Time{}), block("2001:db8::/32", later)
	block("198.51.100.1", now)
	all, err := s.Moderation.Blocks(t.Context())
	must(t, err)
	want(t, "blocks", len(all), 2)
	created := 0
	write := func(address string) error {
		t.Helper()
		from := netip.MustParseAddr(address)
		created++
		newPaste := paste.Document{Paste: paste.Paste{ID: paste.ID("new" + strconv.Itoa(created)), CreatedAt: now}}
		rate := paste.Allowance{Rate: paste.Quota{Pastes: 100, Window: time.Hour}}
		_, err := s.Documents.CreateAllowed(t.Context(), from, rate, "client", newPaste)
		for what, other := range guardedWrites(t, s, from, owner, mine.ID) {
			if fault.KindOf(other) != fault.KindOf(err) {
				t.Errorf("%s: got %v to %s, and %v to create, want the same for every write", address, other, what, err)
			}
		}
		if _, err := s.Documents.ReadDocument(t.Context(), mine.ID, ""); err != nil {
			t.Errorf("%s: got %v, want to read", address, err)
		}
		return err
	}
	for address, want := range map[string]fault.Kind{
		"192.0.2.1": fault.Forbidden, "::ffff:192.0.2.255": fault.Forbidden, "2001:db8:1::1": fault.Forbidden,
		"2001:db8::1%eth0": fault.Forbidden,
		"192.0.3.1":        fault.None, "2001:db9::1": fault.None, "198.51.100.1": fault.None,
	} {
		if err := write(address); fault.KindOf(err) != want || err != nil &&
			fault.MessageOf(err) != moderation.ErrBlocked.Message {
			t.Errorf("%s: got %v, want %v", address, err, want)
		}
	}
	must(t, s.Moderation.Unblock(t.Context(), unrecorded, v4))
	wantKind(t, s.Moderation.Unblock(t.Context(), unrecorded, v4), fault.NotFound)
	must(t, write("192.0.2.1"))
	wantKind(t, write("2001:db8:1::1"), fault.Forbidden)
	must(t, s.Moderation.Block(t.Context(), unrecorded,
		moderation.Block{Network: v6, Reason: "over", CreatedAt: now, ExpiresAt: now}))
	must(t, write("2001:db8:1::1"))
}

// guardedWrites makes each other write that a blocked network may not, and returns the errors.
func guardedWrites(t *testing.T, s ModerationStore, from netip.Addr, owner user.ID, mine paste.ID) map[string]error {
	t.Helper()
	edit := func(stored paste.Document) (paste.Change, error) {
		stored.Title += "!"
		return paste.Change{Document: stored, Changed: true}, nil
	}
	_, edited := s.Documents.UpdateAllowed(t.Context(), from, paste.Allowance{}, "", owner, mine, edit)
	ctx, unique := t.Context(), ident.New()
	session := token.Token{ID: token.ID(unique), Owner: owner, Kind: token.Session, CreatedAt: now, ExpiresAt: later}
	access := token.Token{ID: token.ID("a" + unique), Owner: owner, CreatedAt: now}
	session.Hash, access.Hash = token.Generate().Hash(), token.Generate().Hash()
	attempt, secret := identity.Attempt{Provider: "github"}, identity.HashOf(unique)
	report := moderation.Report{ID: unique, Paste: mine, Reason: "spam", At: now}
	_, _, updated := s.Users.Update(ctx, from, unrecorded, owner, func(*user.User, map[string]string) error { return nil })
	link := newLink(t, s.Store, ident.New(), owner, later)
	errs := map[string]error{
		"edit a paste":     edited,
		"star":             s.Pastes.Star(ctx, from, owner, mine),
		"unstar":           s.Pastes.Unstar(ctx, from, owner, mine),
		"report":           s.Moderation.Report(ctx, from, report, "", "client", paste.Quota{}),
		"begin to sign in": s.Identities.StoreAttempt(ctx, from, secret, attempt, identity.MaxAttempts),
		"guess":            s.Identities.TakeGuess(ctx, from, ident.New()),
		"start a session":  s.Tokens.StartSession(ctx, from, session, token.Hash{}),
		"end a session":    s.Tokens.EndSession(ctx, from, owner, session.ID),
		"issue a token":    s.Tokens.Create(ctx, from, unrecorded, access),
		"revoke a token":   s.Tokens.Revoke(ctx, from, unrecorded, access.ID, now),
		"update a user":    updated,
		"enroll": s.Identities.Enroll(ctx, from, unrecorded, newUser(t, ident.New()), identity.Credentials{},
			identity.Admission{}),
		"ways": s.Identities.ChangeCredentials(ctx, from, owner, "", to("$a")),
	}
	_, errs["use a link"] = s.Identities.UseLink(ctx, from, unrecorded, link, to("$a"))
	_, errs["end sessions"] = s.Tokens.EndSessions(ctx, from, unrecorded, owner, "")
	_, errs["sign in"] = s.Identities.TakeAttempt(ctx, from, secret)
	joinAndLeave(t, s, from, errs)
	return errs
}

// joinAndLeave signs a user up and deletes the account, for guardedWrites.
func joinAndLeave(t *testing.T, s ModerationStore, from netip.Addr, errs map[string]error) {
	t.Helper()
	created := newUser(t, "new-"+ident.New())
	secret := identity.HashOf(created.Name.String())
	attempt := identity.Attempt{Provider: "github"}
	attempt.Profile.Key, attempt.Profile.Subject = "github", created.Name.String()
	must(t, s.Identities.StoreAttempt(t.Context(), nowhere, secret, attempt, identity.MaxAttempts))
	errs["sign up"] = s.Identities.SignUp(t.Context(), from, secret, created)
	if errs["sign up"] != nil {
		must(t, s.Identities.SignUp(t.Context(), nowhere, secret, created))
	}
	errs["delete a user"] = s.Users.Delete(t.Context(), from, unrecorded, created.ID, created.Name, nil)
}

// keepHiddenPastes has an operator delete a user who is suspended, and keep the pastes.
func keepHiddenPastes(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner")
	created := spam(t, s, "ham", owner.ID, now, "code")
	setHidden(t, s, owner.ID, true)
	_, err := s.Moderation.Hide(t.Context(), owner.ID, 10)
	must(t, err)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, &user.PasteRetention{}))
	_, err = s.Documents.DocumentByID(t.Context(), created.ID)
	if got := foundIDs(t, s, moderation.Filter{Removed: true}, 10); err != nil && len(got) == 0 {
		t.Errorf("got %v and %v, want the paste to be kept", err, got)
	}
}

func keepPastes(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner")
	public := paste.Document{Paste: paste.Paste{ID: "public", Owner: owner.ID, CreatedAt: now}}
	public.Visibility, public.Tags = paste.Public, []string{"tag"}
	must(t, s.Documents.CreateDocument(t.Context(), public))
	private := storedDocument(t, s.DocumentStore, "private", owner.ID)
	must(t, s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, &user.PasteRetention{}))
	wantNoDocument(t, s.DocumentStore, private.ID)
	public.Owner, public.Visibility, public.Tags = "", paste.Unlisted, nil
	wantStored(t, s.DocumentStore, "kept", public)
}

func reports(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	spam(t, s, "shared", "", now, "code")
	spam(t, s, "other", "", now, "code")
	storedDocument(t, s.DocumentStore, "private", owner)
	encrypted := paste.Document{Paste: paste.Paste{ID: "encrypted", CreatedAt: now}}
	encrypted.Cipher = &paste.Cipher{Version: 1}
	must(t, s.Documents.CreateDocument(t.Context(), encrypted))
	quota := paste.Quota{Pastes: 4, Window: time.Hour}
	created := 0
	report := func(id paste.ID, reader user.ID, client paste.Client) (moderation.Report, error) {
		created++
		sent := moderation.Report{
			ID: string(id) + strconv.Itoa(created), Paste: id, Reason: "spam", Text: "line\nü",
			At: now.Add(time.Duration(created/2) * time.Second).UTC(),
		}
		return sent, s.Moderation.Report(t.Context(), nowhere, sent, reader, client, quota)
	}
	var sent []moderation.Report
	for _, id := range []paste.ID{"shared", "encrypted", "shared", "private"} {
		one, err := report(id, owner, "192.0.2.1")
		must(t, err)
		sent = append(sent, one)
	}
	_, err := report("shared", owner, "192.0.2.1")
	wantExhausted(t, err, quota)
	for _, id := range append([]string{"private", "unknown"}, unstorable...) {
		_, err := report(paste.ID(id), "", "192.0.2.2")
		wantKind(t, err, fault.NotFound)
	}
	wantReports := func(what string, want ...moderation.Report) {
		t.Helper()
		for limit := 1; limit < 6; limit += 3 {
			var got []moderation.Report
			for after := (moderation.Report{}); ; {
				found, err := s.Moderation.Reports(t.Context(), after, limit)
				must(t, err)
				if len(found) == 0 {
					break
				}
				got = append(got, found...)
				after = found[len(found)-1]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d at once: got %v, want %v", what, limit, got, want)
			}
		}
	}
	wantReports("all", sent...)
	if got := foundIDs(t, s, moderation.Filter{Reported: true}, 10); len(got) != 3 {
		t.Errorf("reported: got %v, want three pastes", got)
	}
	must(t, s.Moderation.CloseReport(t.Context(), unrecorded, sent[1].ID))
	for _, id := range append([]string{sent[1].ID, "unknown"}, unstorable...) {
		wantKind(t, s.Moderation.CloseReport(t.Context(), unrecorded, id), fault.NotFound)
	}
	wantReports("one is closed", sent[0], sent[2], sent[3])
	takenAway(t, s, "shared")
	wantReports("a paste is removed", sent[3])
	must(t, s.Moderation.Restore(t.Context(), unrecorded, "shared"))
	wantReports("it is restored", sent[3])
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, "private", func(paste.Paste) error { return nil }))
	wantReports("the other one is deleted")
	if got := foundIDs(t, s, moderation.Filter{Reported: true}, 10); got != nil {
		t.Errorf("reported: got %v, want none", got)
	}
}

// reportsOfBurning are taken from those who may open the paste, which they have not read.
func reportsOfBurning(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	for id, change := range map[paste.ID]func(*paste.Document){
		"open":      func(*paste.Document) {},
		"encrypted": func(d *paste.Document) { d.Cipher = &paste.Cipher{Version: 1} },
		"private":   func(d *paste.Document) { d.Owner, d.Visibility = owner, paste.Private },
	} {
		burning := paste.Document{Paste: paste.Paste{ID: id, CreatedAt: now, Burns: true}}
		change(&burning)
		must(t, s.Documents.CreateDocument(t.Context(), burning))
		report := func(reader user.ID) error {
			sent := moderation.Report{ID: string(id) + " by " + string(reader), Paste: id, Reason: "spam", At: now.UTC()}
			return s.Moderation.Report(t.Context(), nowhere, sent, reader, "client", paste.Quota{Pastes: 10, Window: time.Hour})
		}
		must(t, report(owner))
		if id == "private" {
			wantKind(t, report(""), fault.NotFound)
		} else {
			must(t, report(""))
		}
	}
	if got := foundIDs(t, s, moderation.Filter{Reported: true}, 10); len(got) != 3 {
		t.Errorf("reported: got %v, want three pastes", got)
	}
}

// origins are kept when it is asked for, by each way to create a paste, and until they are forgotten.
func origins(t *testing.T, s ModerationStore) {
	owner := storedUser(t, s.Store, "owner").ID
	create := map[string]func(ctx context.Context, created paste.Document) error{
		"document": s.Documents.CreateDocument,
		"counted": func(ctx context.Context, created paste.Document) error {
			_, err := s.Documents.CreateAllowed(
				ctx,
				netip.MustParseAddr("192.0.2.9"),
				paste.Allowance{Rate: paste.Quota{Pastes: 100, Window: time.Hour}},
				"client",
				created,
			)
			return err
		},
		"allowed": func(ctx context.Context, created paste.Document) error {
			created.Owner = owner
			return allowed(ctx, s.DocumentStore, paste.Allowance{Pastes: 100}, created)
		},
	}
	wantOrigin := func(id paste.ID, expected string) {
		t.Helper()
		got, err := s.Moderation.Origin(t.Context(), id)
		if expected == "" {
			wantKind(t, err, fault.NotFound)
		} else if err != nil || got.String() != expected {
			t.Errorf("%s: got %v, error %v, want %s", id, got, err, expected)
		}
	}
	for way, create := range create {
		for id, c := range map[string]struct {
			from     netip.Addr
			age      time.Duration
			expected string
		}{
			"old": {netip.MustParseAddr("192.0.2.7"), 2 * time.Hour, "192.0.2.7"},
			"new": {netip.MustParseAddr("2001:db8::1"), 0, "2001:db8::1"}, "off": {nowhere, 0, ""},
		} {
			created := paste.Document{Paste: paste.Paste{ID: paste.ID(way + id), CreatedAt: time.Now().Add(-c.age)},
				CreatedFrom: c.from}
			must(t, create(t.Context(), created))
			wantOrigin(created.ID, c.expected)
		}
	}
	must(t, s.Documents.DeleteIf(t.Context(), unrecorded, "documentold", func(paste.Paste) error { return nil }))
	takenAway(t, s, "countednew")
	wantOrigin("documentold", "192.0.2.7")
	must(t, s.Moderation.Restore(t.Context(), unrecorded, "countednew"))
	wantOrigin("countednew", "2001:db8::1")
	forget := func(retention time.Duration, limit, expected int) {
		t.Helper()
		n, err := s.Removed.ForgetOrigins(t.Context(), retention, limit)
		must(t, err)
		want(t, "forgotten origins", n, expected)
	}
	forget(time.Hour, 2, 2)
	forget(time.Hour, 2, 1)
	wantOrigin("documentold", "")
	wantOrigin("documentnew", "2001:db8::1")
	forget(0, 10, 3)
	wantOrigin("documentnew", "")
	for _, id := range unstorable {
		wantOrigin(paste.ID(id), "")
	}
}
