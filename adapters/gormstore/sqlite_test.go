package gormstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
)

// newSQLite returns a migrated store that is closed after the test, and its file.
func newSQLite(t *testing.T) (store *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "gluepot.db")
	return openSQLite(t, path, func(*Config) {}), path
}

func openSQLite(t *testing.T, path string, configure func(*Config)) *Store {
	t.Helper()
	cfg := DefaultConfig()
	cfg.URL = "sqlite://" + path
	configure(&cfg)
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := store.BringUpToDate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return store
}

func enroll(t *testing.T, store *Store, created user.User) {
	t.Helper()
	err := NewIdentities(store).Enroll(t.Context(), netip.Addr{}, auditlog.Entry{}, created, identity.Credentials{},
		identity.Admission{})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeletedTextIsGone deletes every second paste, some of which fill pages of their own, and checks that neither the
// file nor its log has any of their text.
func TestDeletedTextIsGone(t *testing.T) {
	t.Parallel()
	store, path := newSQLite(t)
	const pastes = 400
	var all []paste.Document
	for i := range pastes {
		what := "rest"
		if i%2 == 0 {
			what = "deleted"
		}
		text := fmt.Sprintf("the-%s-text-%03d ", what, i)
		all = append(all, paste.Document{
			Paste: paste.Paste{ID: paste.ID(fmt.Sprintf("paste%03d", i*7%pastes)), CreatedAt: time.Now()},
			Content: paste.Content{
				Title: text, Lifetime: "never", Tags: []string{text},
				Pasties: []paste.Pasty{{ID: "pasty001", Title: text, Language: "Go", Code: strings.Repeat(text, 1+i*i%1000)}},
				Edits:   []paste.Edit{{ID: "edit0001", Text: strings.Repeat(text, 1+i%300), At: time.Now()}},
			},
		})
	}
	results, err := NewPastes(store).Import(t.Context(), contract.Whole(all...), paste.RefuseOrphans)
	if err != nil || errors.Join(results[0].Err, results[pastes-1].Err) != nil {
		t.Fatal(err, results)
	}
	count := func(what string) (texts int) {
		for _, name := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			texts += bytes.Count(data, []byte("the-"+what+"-text-"))
		}
		return texts
	}
	if count("deleted") == 0 {
		t.Fatal("got no text in the file before it is deleted, want some")
	}
	for i := 0; i < pastes; i += 2 {
		if err := NewPastes(store).DeleteIf(t.Context(), auditlog.Entry{}, all[i].ID, func(paste.Paste) error {
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.TruncateLog(); err != nil {
		t.Fatal(err)
	}
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() != 0 {
		t.Errorf("got a log of %v bytes, error %v, want an empty one", log.Size(), err)
	}
	if deleted, rest := count("deleted"), count("rest"); deleted != 0 || rest < pastes/2*4 {
		t.Errorf("got %d deleted texts and %d others, want none and at least %d", deleted, rest, pastes/2*4)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if got := count("deleted"); got != 0 {
		t.Errorf("got %d deleted texts after closing, want none", got)
	}
}

// TestDeletedTextLeavesTheIndex deletes every second public paste, and checks that the search index forgets three
// characters that only they have, although others are written between the steps.
func TestDeletedTextLeavesTheIndex(t *testing.T) {
	t.Parallel()
	store, path := newSQLite(t)
	owner := user.User{ID: "owner", PublicProfile: true, CreatedAt: time.Now()}
	var err error
	if owner.Name, err = user.ParseName("owner"); err != nil {
		t.Fatal(err)
	}
	enroll(t, store, owner)
	pastes := NewPastes(store)
	create := func(i int) paste.ID {
		id, rune1, rune2 := paste.ID(fmt.Sprintf("paste%03d", i)), string(rune(0x16a0+i%2)), string(rune(0x2d30+i%2))
		err := pastes.CreateDocument(t.Context(), paste.Document{
			Paste: paste.Paste{ID: id, Owner: owner.ID, CreatedAt: time.Now()},
			Content: paste.Content{
				Lifetime: "never", Visibility: paste.Public,
				Pasties: []paste.Pasty{{ID: "pasty001", Language: "Go", Code: fmt.Sprintf("%s%s%d %d", rune1, rune2, i, i*i)}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	const first = 200
	for i := range first {
		create(i)
	}
	for i := 0; i < first; i += 2 {
		id, allow := paste.ID(fmt.Sprintf("paste%03d", i)), func(paste.Paste) error { return nil }
		if err := pastes.DeleteIf(t.Context(), auditlog.Entry{}, id, allow); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(text string) bool {
		if err := store.TruncateLog(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(data, []byte(text))
	}
	if !holds("\u16a0\u2d30") {
		t.Fatal("got an index without the deleted text before it was purged, want the text")
	}
	for step := 0; ; step++ {
		if err := store.PurgeStep(); err != nil || step > 100 {
			t.Fatal(step, err)
		}
		var pending bool
		row := store.Read(t.Context()).Raw("SELECT deleted <> purged FROM search_remains").Row()
		if err := row.Scan(&pending); err != nil {
			t.Fatal(err)
		}
		if !pending {
			break
		}
		create(first + 1 + 2*step)
	}
	if deleted, rest := holds("\u16a0\u2d30"), holds("\u16a1\u2d31"); deleted || !rest {
		t.Errorf("got deleted text in the file: %v, other text: %v, want only other text", deleted, rest)
	}
}

// TestDeletionInBatches stops the deletion of a user after its first batch, and then deletes the user.
func TestDeletionInBatches(t *testing.T) {
	t.Parallel()
	const all = 2*deletionBatch + 1
	for retention, want := range map[*user.PasteRetention]struct{ first, last int }{
		nil: {all - deletionBatch, 0}, {}: {all, all},
	} {
		tick := func() {} // called whenever the store reads the clock
		store := openSQLite(t, filepath.Join(t.TempDir(), "gluepot.db"), func(cfg *Config) {
			cfg.Clock = func() time.Time {
				tick()
				return time.Now()
			}
		})
		users, pastes := NewUsers(store), NewPastes(store)
		owner := user.User{ID: "owner", CreatedAt: time.Now()}
		var err error
		if owner.Name, err = user.ParseName("owner"); err != nil {
			t.Fatal(err)
		}
		enroll(t, store, owner)
		for i := range all {
			document := paste.Document{Paste: paste.Paste{ID: paste.ID(fmt.Sprintf("paste%03d", i)), Owner: owner.ID,
				CreatedAt: time.Now()}}
			if err := pastes.CreateDocument(t.Context(), document); err != nil {
				t.Fatal(err)
			}
		}
		count := func() (total, owned int) {
			if err := store.Read(t.Context()).Raw("SELECT count(*), count(owner_id) FROM pastes").Row().Scan(&total,
				&owned); err != nil {
				t.Error(err)
			}
			return total, owned
		}
		ctx, cancel := context.WithCancel(t.Context())
		tick = func() {
			if _, owned := count(); owned < all {
				cancel()
			}
		}
		if err := users.Delete(ctx, netip.Addr{}, auditlog.Entry{}, owner.ID, owner.Name, retention); err == nil {
			t.Fatal("got a deletion at once, want one in batches")
		}
		if total, owned := count(); total != want.first || owned != all-deletionBatch {
			t.Errorf("got %d pastes, %d of the user, after a batch, want %d and %d", total, owned, want.first,
				all-deletionBatch)
		}
		if err := users.Delete(t.Context(), netip.Addr{}, auditlog.Entry{}, owner.ID, owner.Name, retention); err != nil {
			t.Fatal(err)
		}
		if total, owned := count(); total != want.last || owned != 0 {
			t.Errorf("got %d pastes, %d of the user, at the end, want %d and none", total, owned, want.last)
		}
	}
}

// TestExpiryInstant counts, reads and removes a paste a microsecond before it expires, when it does, and after. For
// PostgreSQL see tests/integration.
func TestExpiryInstant(t *testing.T) {
	t.Parallel()
	now := time.Now()
	store := openSQLite(t, filepath.Join(t.TempDir(), "gluepot.db"), func(cfg *Config) {
		cfg.Clock = func() time.Time { return now }
	})
	pastes := NewPastes(store)
	expiry := now.Truncate(time.Microsecond)
	document := paste.Document{Paste: paste.Paste{ID: "p", CreatedAt: expiry, ExpiresAt: expiry}}
	if err := pastes.CreateDocument(t.Context(), document); err != nil {
		t.Fatal(err)
	}
	for after, active := range map[time.Duration]int64{-time.Microsecond: 1, 0: 0, time.Microsecond: 0} {
		now = expiry.Add(after)
		count, err := pastes.ActiveCount(t.Context())
		if err != nil || count != active {
			t.Errorf("%v after the expiry: got a count of %d, error %v, want %d", after, count, err, active)
		}
		if _, err := pastes.ReadDocument(t.Context(), "p", ""); (err == nil) != (active == 1) {
			t.Errorf("%v after the expiry: reading: got %v, want it readable: %v", after, err, active == 1)
		}
	}
	for _, moment := range []struct {
		after time.Duration
		want  int
	}{{time.Hour - time.Microsecond, 0}, {time.Hour, 1}} {
		now = expiry.Add(moment.after)
		if got, err := pastes.RemoveExpired(t.Context(), time.Hour, 10); got != moment.want || err != nil {
			t.Errorf("%v after the expiry: got %d removed, error %v, want %d", moment.after, got, err, moment.want)
		}
	}
}
