package integration

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

// Pastes with their content.

// newDocument returns a paste with one pasty.
func newDocument(id, owner, code string) paste.Document {
	return paste.Document{
		Paste: paste.Paste{ID: paste.ID(id), Owner: user.ID(owner), CreatedAt: time.Now()},
		Content: paste.Content{Title: "title", Lifetime: paste.Never, Pasties: []paste.Pasty{
			{ID: "pasty", Title: "main.go", Language: "Go", Code: code},
		}},
	}
}

func createDocument(t testing.TB, pastes *gormstore.Pastes, created paste.Document) {
	t.Helper()
	if err := pastes.CreateDocument(t.Context(), created); err != nil {
		t.Fatalf("create %s: got %v, want no error", created.ID, err)
	}
}

// retitle returns a change of the title that records an edit with this text.
func retitle(title, text string) func(paste.Document) (paste.Change, error) {
	return func(stored paste.Document) (paste.Change, error) {
		number := int64(0)
		for _, e := range stored.Edits {
			number = max(number, e.Number+1)
		}
		edits := []paste.Edit{{ID: ident.New(), Number: number, Type: paste.EditTitle, Text: text,
			At: time.Unix(1, 0).UTC()}}
		stored.Title, stored.Edits = title, append(slices.Clone(stored.Edits), edits...)
		return paste.Change{Document: stored, Changed: true, NewEdits: edits}, nil
	}
}

// TestEditTimesOfTwoNodes lets two nodes edit one paste at once, with a clock that goes back with each reading, as if
// those who get the lock later had read it earlier. The times of the history must not go back.
func TestEditTimesOfTwoNodes(t *testing.T) {
	t.Parallel()
	const edits = 30
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s, viewer, start := openService(t, cfg), token.Viewer{User: user.User{ID: "epoxy"}}, time.Now()
		createDocument(t, s.pastes, newDocument("contested", "epoxy", "code"))
		var readings atomic.Int64
		clock := func() time.Time { return start.Add(-time.Duration(readings.Add(1)) * time.Second) }
		options := pastes.Options{Rules: paste.Rules{Limits: paste.DefaultLimits(), NewID: ident.New}}
		var nodes [2]*pastes.UseCases
		for i := range nodes {
			store := database.Open(t, cfg)
			nodes[i] = pastes.New(gormstore.NewPastes(store), gormstore.NewUsers(store), options, clock)
		}
		var editors sync.WaitGroup
		for i := range edits {
			editors.Go(func() {
				changes := paste.Changes{Title: new(fmt.Sprint(i))}
				if _, err := nodes[i%2].EditOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), "contested", changes); err != nil {
					t.Errorf("edit %d: got %v, want no error", i, err)
				}
			})
		}
		editors.Wait()
		editFromOneBase(t, s, nodes, viewer)
		if _, err := nodes[0].Edit.Do(t.Context(), audit.Operator(), "contested",
			pastes.EditInput{Title: new("by an operator")}); err != nil {
			t.Error(err)
		}
		got, err := s.pastes.DocumentByID(t.Context(), "contested")
		if err != nil || len(got.Edits) != edits+bases+1 {
			t.Fatalf("got %d edits, error %v, want %d", len(got.Edits), err, edits+bases+1)
		}
		for i, e := range got.Edits[1:] {
			if before := got.Edits[i]; e.At.Before(before.At) || e.Number != before.Number+1 {
				t.Errorf("got number %d at %v after %d at %v, want the numbers and the times in order", e.Number, e.At,
					before.Number, before.At)
			}
		}
	})
}

const bases = 20

// editFromOneBase lets two nodes edit a paste at once from the same base. One of them must fail, because it would undo
// the other.
func editFromOneBase(t *testing.T, s *service, nodes [2]*pastes.UseCases, viewer token.Viewer) {
	t.Helper()
	for round := range bases {
		base, err := s.pastes.DocumentByID(t.Context(), "contested")
		if err != nil {
			t.Fatal(err)
		}
		var (
			editors sync.WaitGroup
			errs    [2]error
		)
		for i := range nodes {
			editors.Go(func() {
				_, errs[i] = nodes[i].EditOwn.Do(t.Context(), audit.By(viewer, netip.Addr{}), "contested",
					paste.Changes{Title: new(fmt.Sprint("round ", round, " of ", i)), Base: base.Revision()})
			})
		}
		editors.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), paste.ErrEdited) {
			t.Errorf("round %d: got %v, want one edit and %v", round, errs, paste.ErrEdited)
		}
	}
}

// TestEditsFromTwoNodes lets two nodes change one paste a hundred times at once, while other pastes are changed,
// deleted, swept, imported, and deleted with their owner.
func TestEditsFromTwoNodes(t *testing.T) {
	t.Parallel()
	const edits, others = 100, 60
	each(t, func(t *testing.T, cfg gormstore.Config) {
		db, first, second := database.SQL(t, cfg), database.Open(t, cfg), database.Open(t, cfg)
		nodes := []*gormstore.Pastes{gormstore.NewPastes(first), gormstore.NewPastes(second)}
		users := gormstore.NewUsers(second)
		results, err := users.Import(t.Context(), newAccounts(t, "owner=owner", "leaver=leaver"))
		outcomes(t, results, err)
		createDocument(t, nodes[0], newDocument("contested", "owner", "code"))
		for i := range others {
			other := newDocument(fmt.Sprintf("beside%02d", i), []string{"owner", "leaver"}[i%2], "code")
			other.Edits = []paste.Edit{{ID: "e", At: time.Unix(1, 0)}}
			if i%3 == 0 {
				other.ExpiresAt = time.Now().Add(-time.Hour)
			}
			createDocument(t, nodes[0], other)
		}
		var workers sync.WaitGroup
		for n := range edits {
			workers.Go(func() {
				if _, err := nodes[n%2].Update(t.Context(), auditlog.Entry{}, "contested",
					retitle(fmt.Sprint(n), fmt.Sprint(n))); err != nil {
					t.Errorf("edit %d: got %v, want no error", n, err)
				}
			})
		}
		mayBeGone := func(what string, err error) {
			if err != nil && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: got %v, want no error or fault.NotFound", what, err)
			}
		}
		for i := range others {
			id := paste.ID(fmt.Sprintf("beside%02d", i))
			workers.Go(func() {
				_, err := nodes[0].Update(t.Context(), auditlog.Entry{}, id, retitle("new", "old"))
				mayBeGone("an edit", err)
			})
			if i%4 == 0 {
				workers.Go(func() {
					mayBeGone("deleting", nodes[1].DeleteIf(t.Context(), auditlog.Entry{}, id, func(paste.Paste) error { return nil }))
				})
			}
		}
		workers.Go(func() {
			for range 10 {
				if _, err := nodes[1].RemoveExpired(t.Context(), 0, 5); err != nil {
					t.Errorf("sweeping: got %v, want no error", err)
				}
			}
		})
		workers.Go(func() {
			mayBeGone("deleting a user", users.Delete(t.Context(), netip.Addr{}, auditlog.Entry{}, "leaver",
				parseName(t, "leaver"), nil))
		})
		workers.Go(func() {
			for round := range 5 {
				documents := make([]paste.Document, others)
				for i := range others {
					documents[i].Paste = paste.Paste{ID: paste.ID(fmt.Sprintf("beside%02d", others-1-i)), Owner: "owner",
						CreatedAt: time.Now().Add(time.Duration(round) * time.Second)}
				}
				results, err := nodes[1].Import(t.Context(), contract.Whole(documents...), paste.RefuseOrphans)
				outcomes(t, results, err)
			}
		})
		workers.Wait()

		got, err := nodes[0].DocumentByID(t.Context(), "contested")
		if err != nil || len(got.Edits) != edits {
			t.Fatalf("got %d edits, error %v, want %d", len(got.Edits), err, edits)
		}
		texts := make(map[string]bool)
		for i, e := range got.Edits {
			if e.Number != int64(i) || texts[e.Text] {
				t.Errorf("got edit %+v at index %d, want that number, and each text once", e, i)
			}
			texts[e.Text] = true
		}
		if n := column(t, db, `SELECT id FROM pastes p WHERE p.edits <> (SELECT count(*) FROM paste_edits e
			WHERE e.paste_id = p.id)
			OR p.pasties <> (SELECT count(*) FROM pasties y WHERE y.paste_id = p.id)`,
		); len(n) > 0 {
			t.Errorf("got the incomplete pastes %v, want none", n)
		}
		wantAllCounted(t, nodes[0], column(t, db, "SELECT id FROM pastes"))
		if isPostgres(cfg) {
			wantNoDeadlocks(t, db)
		}
	})
}

func wantAllCounted(t *testing.T, pastes *gormstore.Pastes, ids []string) {
	t.Helper()
	if count, err := pastes.ActiveCount(t.Context()); err != nil || count != int64(len(ids)) {
		t.Errorf("got the count %d, error %v, want %d", count, err, len(ids))
	}
}

// TestCreatingIsBegunAnew makes PostgreSQL abort the creation of a paste in favour of a transaction that locks rows in
// another order, and checks that the store creates the paste again.
func TestCreatingIsBegunAnew(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.ConnectTimeout = time.Minute
	s := openService(t, cfg)
	other := begin(t, s.db, "1min")
	exec(t, other, "UPDATE paste_counts SET pastes = pastes")
	done := make(chan error)
	go func() { done <- s.pastes.CreateDocument(t.Context(), newDocument("paste", "epoxy", "code")) }()
	waitForWaiters(t, s.db, 1)
	exec(t, other, "SELECT FROM users FOR UPDATE")
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("got %v, want no error", err)
	}
	wantAllCounted(t, s.pastes, []string{"paste"})
}

// TestWhatCannotBeCreated checks that nothing is stored of pastes that cannot be created.
func TestWhatCannotBeCreated(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		createDocument(t, s.pastes, newDocument("taken", "epoxy", "first"))
		for _, c := range []struct {
			what, id, owner string
			kind            fault.Kind
		}{
			{"a taken id", "taken", "epoxy", fault.Conflict},
			{"an unknown owner", "orphan", "nobody", fault.NotFound},
		} {
			err := s.pastes.CreateDocument(t.Context(), newDocument(c.id, c.owner, "second"))
			if !fault.Is(err, c.kind) {
				t.Errorf("%s: got %v, want kind %v", c.what, err, c.kind)
			}
		}
		ids := []paste.ID{"taken", "free"}
		err := ident.Draw(func(paste.ID) error {
			id := ids[0]
			ids = ids[1:]
			return s.pastes.CreateDocument(t.Context(), newDocument(string(id), "epoxy", "second"))
		})
		if err != nil || len(ids) != 0 {
			t.Errorf("got %v, with the ids %v not drawn, want the second id after the first was taken", err, ids)
		}
		code := strings.Repeat("\x00é\U0001f600\r\n", 2<<20/10)
		createDocument(t, s.pastes, newDocument("large", "epoxy", code))
		got, err := s.pastes.DocumentByID(t.Context(), "large")
		if err != nil || len(got.Pasties) != 1 || got.Pasties[0].Code != code {
			t.Errorf("got %d pasties, error %v, want one with 2 MiB of code, unchanged", len(got.Pasties), err)
		}
		want := []string{"free", "large", "taken"}
		if ids := column(t, s.db, "SELECT paste_id FROM pasties ORDER BY 1"); !slices.Equal(ids, want) {
			t.Errorf("got content of %v, want %v", ids, want)
		}
		wantAllCounted(t, s.pastes, want)
	})
}

// readers returns the stores that read pastes: the plain one and, on PostgreSQL, the one with a dataloader.
func (s *service) readers() map[string]paste.Store {
	readers := map[string]paste.Store{"store": s.pastes}
	if s.store.Pool() != nil {
		readers["dataloader"] = dataloader.New(s.store).Pastes(s.pastes)
	}
	return readers
}

// TestDamagedDocument damages the history of one paste. Its readers must get an internal error, and readers whose
// lookups were merged with theirs must get their pastes. The damaged paste can be deleted.
func TestDamagedDocument(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		const count, damaged = 40, 7
		for i := range count {
			document := newDocument(fmt.Sprintf("p%02d", i), "", "code")
			document.Edits = []paste.Edit{{ID: "e", At: time.Unix(1, 0)}}
			createDocument(t, s.pastes, document)
		}
		exec(t, s.db, "UPDATE paste_edits SET metadata = 'no JSON' WHERE paste_id = 'p07'")
		for name, documents := range s.readers() {
			var callers sync.WaitGroup
			for range 4 {
				for i := range count {
					callers.Go(func() {
						got, err := documents.ReadDocument(t.Context(), paste.ID(fmt.Sprintf("p%02d", i)), "")
						switch {
						case i == damaged && !fault.Is(err, fault.Internal):
							t.Errorf("%s, paste %d: got %v, want an internal error", name, i, err)
						case i != damaged && (err != nil || len(got.Pasties) != 1):
							t.Errorf("%s, paste %d: got %d pasties, error %v, want 1", name, i, len(got.Pasties), err)
						}
					})
				}
			}
			callers.Wait()
		}
		if _, err := s.pastes.Update(t.Context(), auditlog.Entry{}, "p07", retitle("new", "old")); !fault.Is(err,
			fault.Internal) {
			t.Errorf("an edit: got %v, want an internal error", err)
		}
		if err := s.pastes.DeleteIf(t.Context(), auditlog.Entry{}, "p07", func(paste.Paste) error {
			return nil
		}); err != nil {
			t.Errorf("deleting: got %v, want no error", err)
		}
	})
}

// TestRefusedDocumentIsNotRead checks that PostgreSQL sends as little for a paste that the reader may not see, in as
// many round trips, as for one that does not exist. Otherwise the time of the answer would reveal that it exists.
func TestRefusedDocumentIsNotRead(t *testing.T) {
	t.Parallel()
	proxy, cfg := faultproxy.Start(t, database.Postgres(t))
	cfg.MaxConnections = 1
	s := openService(t, cfg)
	for id, code := range map[string]string{
		"small": "code", "medium": strings.Repeat("0123456789abcdef", 2<<10), "large": strings.Repeat("x", 1<<20),
	} {
		private := newDocument(id, "epoxy", code)
		private.Visibility = paste.Private
		createDocument(t, s.pastes, private)
	}
	encrypted := newDocument("encrypted", "epoxy", "")
	encrypted.Cipher = &paste.Cipher{Data: []byte(strings.Repeat("x", 1<<20)), Key: []byte("key"), Salt: []byte("salt")}
	createDocument(t, s.pastes, encrypted)
	for name, documents := range s.readers() {
		for _, reader := range []user.ID{"", "another", "epoxy"} {
			wantTrips := int64(0) // round trips
			for _, id := range []paste.ID{"absent", "small", "medium", "large", "encrypted"} {
				if reader == "epoxy" && id != "absent" && id != "encrypted" {
					continue
				}
				var sent, trips int64
				for range 3 { // the first time prepares the statement
					sent, trips = proxy.Answered(), proxy.RoundTrips()
					if _, err := documents.ReadDocument(t.Context(), id, reader); !fault.Is(err, fault.NotFound) {
						t.Errorf("%s, %s for %q: got %v, want fault.NotFound", name, id, reader, err)
					}
				}
				sent, trips = proxy.Answered()-sent, proxy.RoundTrips()-trips
				if id == "absent" {
					wantTrips = trips
				}
				if sent > 2<<10 || trips != wantTrips {
					t.Errorf("%s, %s for %q: got %d bytes in %d round trips, want at most 2 KiB in %d", name, id, reader, sent,
						trips, wantTrips)
				}
			}
		}
	}
}

// TestMemoryOfLargeDocuments starts 64 readers of a paste of 1 MiB (with -large: 16 MiB), and of one with a history of
// that size. The gates must bound the memory, whatever the number of readers.
func TestMemoryOfLargeDocuments(t *testing.T) { //nolint:paralleltest // it watches the memory of the process
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // garbage would count, and a busy machine collects it later
	readers, size := 64, 1<<20
	if *large {
		size = 16 << 20
	}
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres,
		"sqlite": database.SQLite} {
		t.Run(name, func(t *testing.T) {
			s := openService(t, provide(t))
			content := newDocument("content", "", strings.Repeat("0123456789abcdef", size/16))
			createDocument(t, s.pastes, content)
			history := newDocument("history", "", "code")
			for i := range 20 {
				history.Edits = append(history.Edits, paste.Edit{ID: fmt.Sprint(i), Text: strings.Repeat("x", size/20),
					At: time.Unix(1, 0)})
			}
			createDocument(t, s.pastes, history)
			for _, id := range []paste.ID{"content", "history"} {
				runtime.GC()
				idle, stop, peak := heap(), make(chan struct{}), new(atomic.Uint64)
				var watcher, callers sync.WaitGroup
				watcher.Go(func() {
					for {
						select {
						case <-stop:
							return
						case <-time.After(time.Millisecond):
							peak.Store(max(peak.Load(), heap()))
						}
					}
				})
				for range readers {
					callers.Go(func() {
						got, err := s.pastes.ReadDocument(t.Context(), id, "")
						if err != nil || len(got.Pasties) != 1 || len(got.Edits) != len(history.Edits) && id == "history" {
							t.Errorf("%s: got %d pasties, %d edits, error %v, want all", id, len(got.Pasties), len(got.Edits), err)
						}
					})
				}
				callers.Wait()
				close(stop)
				watcher.Wait()
				growth := int64(peak.Load()) - int64(idle)
				t.Logf("%s: %d MiB above idle with %d readers of %d MiB", id, growth>>20, readers, size>>20)
				if limit := int64(readers * size / 2); growth > limit {
					t.Errorf("%s: got %d MiB more memory, want less than %d MiB", id, growth>>20, limit>>20)
				}
			}
		})
	}
}

// TestHistoryIsWeighed checks that each way of storing a history also stores its size, on which merged lookups depend.
func TestHistoryIsWeighed(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		withHistory := func(id string) paste.Document {
			d := newDocument(id, "", "code")
			for i := range 20 {
				d.Edits = append(d.Edits, paste.Edit{ID: fmt.Sprint(i), Number: int64(i), Text: strings.Repeat("x", 10_000),
					At: time.Unix(1, 0)})
			}
			return d
		}
		createDocument(t, s.pastes, withHistory("created"))
		results, err := s.pastes.Import(t.Context(), contract.Whole(newDocument("twice", "", "code"),
			withHistory("imported")),
			paste.RefuseOrphans)
		outcomes(t, results, err)
		results, err = s.pastes.Import(t.Context(), contract.Whole(withHistory("twice")), paste.RefuseOrphans)
		outcomes(t, results, err)
		createDocument(t, s.pastes, newDocument("edited", "", "code"))
		for range 20 {
			if _, err := s.pastes.Update(t.Context(), auditlog.Entry{}, "edited",
				retitle("new", strings.Repeat("x", 10_000))); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.pastes.Update(t.Context(), auditlog.Entry{}, "created", func(stored paste.Document) (paste.Change, error) {
			stored.Edits = stored.Edits[19:]
			return paste.Change{Document: stored, Changed: true, Dropped: 19}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"created 10", "edited 200", "imported 200", "twice 200"} // in thousands of bytes
		got := column(t, s.db, "SELECT id || ' ' || (history_bytes / 1000) FROM pastes WHERE edits > 0 ORDER BY 1")
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// heap returns the bytes of heap objects, including those not yet collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestSweepingPastesWithContent removes ten thousand pastes with content and history, in batches.
func TestSweepingPastesWithContent(t *testing.T) {
	t.Parallel()
	const count, batch = 10_000, 500
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		createDocument(t, s.pastes, newDocument("kept", "", "code"))
		at := instants[isPostgres(cfg)]
		series := "WITH RECURSIVE s (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 10000) "
		exec(t, s.db, insertPastes("id, created_at, expires_at",
			"'e' || x, "+at.past+", "+at.past+" FROM ("+series+"SELECT x FROM s) n"))
		exec(t, s.db, "INSERT INTO pasties (paste_id, position, id, title, language, code) "+series+
			"SELECT 'e' || x, 0, '', '', '', 'code' FROM s")
		exec(t, s.db, "INSERT INTO paste_edits (paste_id, position, id, number, type, metadata, text, edited_at) "+series+
			"SELECT 'e' || x, n, '', 0, 0, '[]', '', "+at.past+" FROM s, (SELECT 0 n UNION ALL SELECT 1) n")
		sweepStart, slowest, total := time.Now(), time.Duration(0), 0
		for range count/batch + 1 {
			start := time.Now()
			n, err := s.pastes.RemoveExpired(t.Context(), 0, batch)
			if err != nil || n > batch {
				t.Fatalf("got %d removed, error %v, want up to %d", n, err, batch)
			}
			slowest, total = max(slowest, time.Since(start)), total+n
		}
		t.Logf("%d pastes in %v, the slowest batch in %v", total, time.Since(sweepStart), slowest)
		if total != count {
			t.Errorf("got %d removed, want %d", total, count)
		}
		for _, table := range []string{"pasties", "paste_edits"} {
			if ids := column(t, s.db, "SELECT paste_id FROM "+table); !slices.Equal(ids,
				[]string{"kept"}[:min(1, len(ids))]) {
				t.Errorf("got %d rows in %s, want only those of the kept paste", len(ids), table)
			}
		}
		wantAllCounted(t, s.pastes, []string{"kept"})
	})
}
