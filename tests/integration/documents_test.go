package integration

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

// Pastes with what they hold.

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

// retitle is a change that records an entry of the history with that text.
func retitle(title, text string) func(token.Token, paste.Document) (paste.Change, error) {
	return func(_ token.Token, stored paste.Document) (paste.Change, error) {
		number := int64(0)
		for _, e := range stored.Edits {
			number = max(number, e.Number+1)
		}
		recorded := []paste.Edit{{ID: ident.New(), Number: number, Type: paste.EditTitle, Text: text, At: time.Unix(1, 0).UTC()}}
		stored.Title, stored.Edits = title, append(slices.Clone(stored.Edits), recorded...)
		return paste.Change{Document: stored, Changed: true, Recorded: recorded}, nil
	}
}

// forgottenUses are those of tokens.
type forgottenUses struct{}

func (forgottenUses) RecordUse(token.ID, time.Time) {}

// TestEditTimesOfTwoNodes has nodes edit one paste at once whose clock goes back with each look at it: those who got the lock later have
// looked earlier. The times of the history do not go back.
func TestEditTimesOfTwoNodes(t *testing.T) {
	t.Parallel()
	const edits = 30
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s, secret, began := openService(t, cfg), token.Generate(), time.Now()
		if err := s.tokens.Create(t.Context(), token.Token{ID: "editing", Owner: "epoxy", Hash: secret.Hash(), CreatedAt: began}); err != nil {
			t.Fatal(err)
		}
		createDocument(t, s.pastes, newDocument("contested", "epoxy", "code"))
		var looks atomic.Int64
		clock := func() time.Time { return began.Add(-time.Duration(looks.Add(1)) * time.Second) }
		options := pastes.Options{Rules: paste.Rules{Limits: paste.DefaultLimits(), NewID: ident.New}}
		var nodes [2]*pastes.UseCases
		for i := range nodes {
			store := database.Open(t, cfg)
			tokens := gormstore.NewTokens(store)
			signIn := token.NewAuthenticator(forgottenUses{}, clock)
			nodes[i] = pastes.New(gormstore.NewPastes(store), gormstore.NewUsers(store), tokens, signIn, options, clock)
		}
		var editing sync.WaitGroup
		for i := range edits {
			editing.Go(func() {
				if _, err := nodes[i%2].EditOwn.Do(t.Context(), secret.Reveal(), "contested", paste.Changes{Title: new(fmt.Sprint(i))}); err != nil {
					t.Errorf("edit %d: got %v, want no error", i, err)
				}
			})
		}
		editing.Wait()
		editFromOneBase(t, s, nodes, secret)
		if _, err := nodes[0].Edit.Do(t.Context(), "contested", pastes.EditInput{Title: new("by an operator")}); err != nil {
			t.Error(err)
		}
		got, err := s.pastes.DocumentByID(t.Context(), "contested")
		if err != nil || len(got.Edits) != edits+bases+1 {
			t.Fatalf("got %d edits, error %v, want %d", len(got.Edits), err, edits+bases+1)
		}
		for i, e := range got.Edits[1:] {
			if before := got.Edits[i]; e.At.Before(before.At) || e.Number != before.Number+1 {
				t.Errorf("got number %d at %v after %d at %v, want the numbers and the times in order", e.Number, e.At, before.Number, before.At)
			}
		}
	})
}

const bases = 20

// editFromOneBase has two nodes edit a paste at once, both with changes that were made from the same content: one would undo the other.
func editFromOneBase(t *testing.T, s *service, nodes [2]*pastes.UseCases, secret token.Secret) {
	t.Helper()
	for round := range bases {
		base, err := s.pastes.DocumentByID(t.Context(), "contested")
		if err != nil {
			t.Fatal(err)
		}
		var (
			editing sync.WaitGroup
			failed  [2]error
		)
		for i := range nodes {
			editing.Go(func() {
				_, failed[i] = nodes[i].EditOwn.Do(t.Context(), secret.Reveal(), "contested",
					paste.Changes{Title: new(fmt.Sprint("round ", round, " of ", i)), Base: base.Revision()})
			})
		}
		editing.Wait()
		if (failed[0] == nil) == (failed[1] == nil) || !errors.Is(errors.Join(failed[:]...), paste.ErrEdited) {
			t.Errorf("round %d: got %v, want one edit and %v", round, failed, paste.ErrEdited)
		}
	}
}

// TestEditsFromTwoNodes has two nodes change one paste a hundred times at once, while pastes beside it are changed, deleted,
// swept, imported, and deleted with their owner.
func TestEditsFromTwoNodes(t *testing.T) {
	t.Parallel()
	const edits, beside = 100, 60
	each(t, func(t *testing.T, cfg gormstore.Config) {
		db, first, second := database.SQL(t, cfg), database.Open(t, cfg), database.Open(t, cfg)
		nodes := []*gormstore.Pastes{gormstore.NewPastes(first), gormstore.NewPastes(second)}
		users := gormstore.NewUsers(second)
		results, err := users.Import(t.Context(), accounts(t, "owner=owner", "leaver=leaver"))
		outcomes(t, results, err)
		createDocument(t, nodes[0], newDocument("contested", "owner", "code"))
		for i := range beside {
			other := newDocument(fmt.Sprintf("beside%02d", i), []string{"owner", "leaver"}[i%2], "code")
			other.Edits = []paste.Edit{{ID: "e", At: time.Unix(1, 0)}}
			if i%3 == 0 {
				other.ExpiresAt = time.Now().Add(-time.Hour)
			}
			createDocument(t, nodes[0], other)
		}
		var working sync.WaitGroup
		for n := range edits {
			working.Go(func() {
				if _, err := nodes[n%2].Update(t.Context(), "contested", token.Hash{}, retitle(fmt.Sprint(n), fmt.Sprint(n))); err != nil {
					t.Errorf("edit %d: got %v, want no error", n, err)
				}
			})
		}
		mayBeGone := func(what string, err error) {
			if err != nil && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: got %v, want no error, or that it is not there", what, err)
			}
		}
		for i := range beside {
			id := paste.ID(fmt.Sprintf("beside%02d", i))
			working.Go(func() {
				_, err := nodes[0].Update(t.Context(), id, token.Hash{}, retitle("new", "old"))
				mayBeGone("an edit", err)
			})
			if i%4 == 0 {
				working.Go(func() {
					mayBeGone("deleting", nodes[1].DeleteIf(t.Context(), id, token.Hash{}, func(token.Token, paste.Paste) error { return nil }))
				})
			}
		}
		working.Go(func() {
			for range 10 {
				if _, err := nodes[1].RemoveExpired(t.Context(), 0, 5); err != nil {
					t.Errorf("sweeping: got %v, want no error", err)
				}
			}
		})
		working.Go(func() {
			_, err := users.Delete(t.Context(), parseName(t, "leaver"))
			mayBeGone("deleting a user", err)
		})
		working.Go(func() {
			for round := range 5 {
				imported := make([]paste.Document, beside)
				for i := range beside {
					imported[i].Paste = paste.Paste{ID: paste.ID(fmt.Sprintf("beside%02d", beside-1-i)), Owner: "owner",
						CreatedAt: time.Now().Add(time.Duration(round) * time.Second)}
				}
				results, err := nodes[1].Import(t.Context(), imported, paste.RefuseOrphans)
				outcomes(t, results, err)
			}
		})
		working.Wait()

		got, err := nodes[0].DocumentByID(t.Context(), "contested")
		if err != nil || len(got.Edits) != edits {
			t.Fatalf("got %d edits, error %v, want %d", len(got.Edits), err, edits)
		}
		seen := make(map[string]bool)
		for i, e := range got.Edits {
			if e.Number != int64(i) || seen[e.Text] {
				t.Errorf("got edit %+v at place %d, want that number, and each text once", e, i)
			}
			seen[e.Text] = true
		}
		if n := column(t, db, `SELECT paste_id FROM paste_contents WHERE paste_id NOT IN (SELECT id FROM pastes)
			UNION ALL SELECT paste_id FROM paste_edits WHERE paste_id NOT IN (SELECT paste_id FROM paste_contents)
			UNION ALL SELECT c.paste_id FROM paste_contents c WHERE c.edits <> (SELECT count(*) FROM paste_edits e WHERE e.paste_id = c.paste_id)`,
		); len(n) > 0 {
			t.Errorf("got the content of %v, want none without its paste and all of its history", n)
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
		t.Errorf("got %d pastes counted, error %v, want %d", count, err, len(ids))
	}
}

// TestCreatingIsBegunAnew makes PostgreSQL undo the creation of a paste in favour of somebody who locks rows in another order.
func TestCreatingIsBegunAnew(t *testing.T) {
	t.Parallel()
	for what, create := range map[string]func(context.Context, *service) error{
		"by its owner's id": func(ctx context.Context, s *service) error {
			return s.pastes.CreateDocument(ctx, newDocument("paste", "epoxy", "code"))
		},
		"by a token": func(ctx context.Context, s *service) error {
			_, err := s.pastes.CreateOwnDocument(ctx, s.hash, newDocument("paste", "", "code"))
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cfg := database.Postgres(t)
			cfg.ConnectTimeout = time.Minute
			s := openService(t, cfg)
			other := begin(t, s.db, "1min")
			exec(t, other, "UPDATE paste_counts SET pastes = pastes") // the last that the creation needs
			done := make(chan error)
			go func() { done <- create(t.Context(), s) }()
			waitForWaiters(t, s.db, 1)
			exec(t, other, "SELECT FROM users FOR UPDATE") // the first
			if err := other.Commit(); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("got %v, want no error", err)
			}
			wantAllCounted(t, s.pastes, []string{"paste"})
		})
	}
}

// TestCreatingIsOneRoundTrip counts what goes to PostgreSQL once the statements are prepared.
func TestCreatingIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	proxy, cfg := faultproxy.Start(t, database.Postgres(t))
	cfg.MaxConnections = 1
	s := openService(t, cfg)
	for what, do := range map[string]func(id string) error{
		"creating": func(id string) error { return s.pastes.CreateDocument(t.Context(), newDocument(id, "epoxy", "code")) },
		"creating for a token": func(id string) error {
			_, err := s.pastes.CreateOwnDocument(t.Context(), s.hash, newDocument(id, "", "code"))
			return err
		},
		"reading with a token": func(string) error {
			_, _, err := s.pastes.ReadDocument(t.Context(), "read", s.hash, time.Now())
			return err
		},
	} {
		if what == "reading with a token" {
			createDocument(t, s.pastes, newDocument("read", "epoxy", "code"))
		}
		var trips int64
		for i := range 3 {
			before := proxy.RoundTrips()
			if err := do(fmt.Sprint(strings.Fields(what), i)); err != nil {
				t.Fatalf("%s: got %v, want no error", what, err)
			}
			trips = proxy.RoundTrips() - before
		}
		if trips != 1 {
			t.Errorf("%s: got %d round trips, want 1", what, trips)
		}
	}
}

// TestWhatCannotBeCreated is nothing afterwards.
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
		drawn := []paste.ID{"taken", "free"}
		err := ident.Draw(func(paste.ID) error {
			id := drawn[0]
			drawn = drawn[1:]
			_, err := s.pastes.CreateOwnDocument(t.Context(), s.hash, newDocument(string(id), "", "second"))
			return err
		})
		if err != nil || len(drawn) != 0 {
			t.Errorf("got %v, with %v left to draw, want the second id after the first was taken", err, drawn)
		}
		code := strings.Repeat("\x00é\U0001f600\r\n", 2<<20/10)
		createDocument(t, s.pastes, newDocument("large", "epoxy", code))
		got, err := s.pastes.DocumentByID(t.Context(), "large")
		if err != nil || len(got.Pasties) != 1 || got.Pasties[0].Code != code {
			t.Errorf("got %d pasties, error %v, want 2 MiB of code as it was stored", len(got.Pasties), err)
		}
		want := []string{"free", "large", "taken"}
		if ids := column(t, s.db, "SELECT paste_id FROM paste_contents ORDER BY 1"); !slices.Equal(ids, want) {
			t.Errorf("got the content of %v, want %v", ids, want)
		}
		wantAllCounted(t, s.pastes, want)
	})
}

// TestDamagedDocument spoils what is stored of one paste: whoever reads it gets an error of ours, those whose lookups were
// merged with it their answers, and it can be deleted.
func TestDamagedDocument(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		const count = 40
		for i := range count {
			createDocument(t, s.pastes, newDocument(fmt.Sprintf("p%02d", i), "", "code"))
		}
		hexadecimal := "x'01ff'"
		if isPostgres(cfg) {
			hexadecimal = `'\x01ff'`
		}
		exec(t, s.db, "UPDATE paste_contents SET document = "+hexadecimal+" WHERE paste_id = 'p07'")
		exec(t, s.db, "UPDATE paste_contents SET edits = 1 WHERE paste_id = 'p08'") // an entry is missing: the rest is there
		exec(t, s.db, "INSERT INTO paste_edits VALUES ('p09', 0, "+hexadecimal+")")
		exec(t, s.db, "UPDATE paste_contents SET edits = 1 WHERE paste_id = 'p09'")
		var reading sync.WaitGroup
		for range 4 {
			for i := range count {
				reading.Go(func() {
					got, _, err := s.pastes.ReadDocument(t.Context(), paste.ID(fmt.Sprintf("p%02d", i)), token.Hash{}, time.Now())
					switch {
					case (i == 7 || i == 9) && !fault.Is(err, fault.Internal):
						t.Errorf("paste %d: got %v, want an internal error", i, err)
					case i != 7 && i != 9 && (err != nil || len(got.Pasties) != 1):
						t.Errorf("paste %d: got %d pasties, error %v, want 1", i, len(got.Pasties), err)
					}
				})
			}
		}
		reading.Wait()
		if _, err := s.pastes.Update(t.Context(), "p07", token.Hash{}, retitle("new", "old")); !fault.Is(err, fault.Internal) {
			t.Errorf("an edit: got %v, want an internal error", err)
		}
		if err := s.pastes.DeleteIf(t.Context(), "p07", token.Hash{}, func(token.Token, paste.Paste) error { return nil }); err != nil {
			t.Errorf("deleting: got %v, want no error", err)
		}
	})
}

// TestRefusedDocumentIsNotRead wants what a paste holds to stay where it is when somebody asks who may not see it: PostgreSQL
// sends as little as for a paste that does not exist, in one round trip, and nobody notices that it is damaged. Otherwise
// the time to the answer would tell that there is one.
func TestRefusedDocumentIsNotRead(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		var proxy *faultproxy.Proxy
		if isPostgres(cfg) {
			proxy, cfg = faultproxy.Start(t, cfg)
			cfg.MaxConnections = 1
		}
		s := openService(t, cfg)
		for id, code := range map[string]string{
			"small": "code", "medium": strings.Repeat("0123456789abcdef", 2<<10), "large": strings.Repeat("x", 1<<20),
		} {
			private := newDocument(id, "epoxy", code)
			private.Visibility = paste.Private
			createDocument(t, s.pastes, private)
		}
		damaged, sealed := newDocument("damaged", "epoxy", "code"), newDocument("sealed", "epoxy", "")
		damaged.Visibility = paste.Private
		createDocument(t, s.pastes, damaged)
		exec(t, s.db, "UPDATE paste_contents SET document = 'x' WHERE paste_id = 'damaged'")
		sealed.Cipher = &paste.Cipher{Data: []byte(strings.Repeat("x", 1<<20)), Key: []byte("key"), Salt: []byte("salt")}
		createDocument(t, s.pastes, sealed)

		for whose, hash := range map[string]token.Hash{"none": {}, "unknown": token.Generate().Hash(), "the owner's": s.hash} {
			for _, id := range []paste.ID{"absent", "small", "medium", "large", "damaged", "sealed"} {
				if whose == "the owner's" && id != "absent" && id != "sealed" {
					continue
				}
				var sent, trips int64
				for range 3 { // the first prepares the statement
					if proxy != nil {
						sent, trips = proxy.Answered(), proxy.RoundTrips()
					}
					if _, _, err := s.pastes.ReadDocument(t.Context(), id, hash, time.Now()); !fault.Is(err, fault.NotFound) {
						t.Errorf("%s, token %s: got %v, want a fault.NotFound", id, whose, err)
					}
				}
				if proxy == nil {
					continue
				}
				if sent, trips = proxy.Answered()-sent, proxy.RoundTrips()-trips; sent > 2<<10 || trips != 1 {
					t.Errorf("%s, token %s: got %d bytes in %d round trips, want next to nothing in one", id, whose, sent, trips)
				}
			}
		}
		if _, _, err := s.pastes.ReadDocument(t.Context(), "damaged", s.hash, time.Now()); !fault.Is(err, fault.Internal) {
			t.Errorf("damaged, for its owner: got %v, want an internal error", err)
		}
	})
}

// TestMemoryOfLargeDocuments has 64 readers of a paste of 1 MiB (with -large: 16 MiB), and of one that is small but for its history. What
// is in memory at once is bounded by the gates, not by the readers.
func TestMemoryOfLargeDocuments(t *testing.T) { //nolint:paralleltest // it watches the memory of the process
	readers, size := 64, 1<<20
	if *large {
		size = 16 << 20
	}
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres, "sqlite": database.SQLite} {
		t.Run(name, func(t *testing.T) {
			s := openService(t, provide(t))
			content := newDocument("content", "", strings.Repeat("0123456789abcdef", size/16))
			createDocument(t, s.pastes, content)
			history := newDocument("history", "", "code")
			for i := range 20 {
				history.Edits = append(history.Edits, paste.Edit{ID: fmt.Sprint(i), Text: strings.Repeat("x", size/20), At: time.Unix(1, 0)})
			}
			createDocument(t, s.pastes, history)
			for _, id := range []paste.ID{"content", "history"} {
				runtime.GC()
				idle, stop, peak := heap(), make(chan struct{}), new(atomic.Uint64)
				var watching, reading sync.WaitGroup
				watching.Go(func() {
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
					reading.Go(func() {
						got, _, err := s.pastes.ReadDocument(t.Context(), id, token.Hash{}, time.Now())
						if err != nil || len(got.Pasties) != 1 || len(got.Edits) != len(history.Edits) && id == "history" {
							t.Errorf("%s: got %d pasties, %d edits, error %v, want all", id, len(got.Pasties), len(got.Edits), err)
						}
					})
				}
				reading.Wait()
				close(stop)
				watching.Wait()
				grown := int64(peak.Load()) - int64(idle)
				t.Logf("%s: %d MiB above idle with %d readers of %d MiB", id, grown>>20, readers, size>>20)
				if limit := int64(readers * size / 2); grown > limit {
					t.Errorf("%s: got %d MiB more in memory, want less than %d MiB", id, grown>>20, limit>>20)
				}
			}
		})
	}
}

// TestHistoryIsWeighed sees that whoever stores a history says how much it is: merged lookups go by that.
func TestHistoryIsWeighed(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		made := func(id string) paste.Document {
			d := newDocument(id, "", "code")
			for i := range 20 {
				d.Edits = append(d.Edits, paste.Edit{ID: fmt.Sprint(i), Number: int64(i), Text: strings.Repeat("x", 10_000), At: time.Unix(1, 0)})
			}
			return d
		}
		createDocument(t, s.pastes, made("created"))
		results, err := s.pastes.Import(t.Context(), []paste.Document{newDocument("twice", "", "code"), made("imported")}, paste.RefuseOrphans)
		outcomes(t, results, err)
		results, err = s.pastes.Import(t.Context(), []paste.Document{made("twice")}, paste.RefuseOrphans)
		outcomes(t, results, err)
		createDocument(t, s.pastes, newDocument("edited", "", "code"))
		for range 20 {
			if _, err := s.pastes.Update(t.Context(), "edited", token.Hash{}, retitle("new", strings.Repeat("x", 10_000))); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.pastes.Update(t.Context(), "created", token.Hash{}, func(_ token.Token, stored paste.Document) (paste.Change, error) {
			stored.Edits = stored.Edits[19:]
			return paste.Change{Document: stored, Changed: true, Dropped: 19}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"created 10", "edited 200", "imported 200", "twice 200"} // in thousands of bytes
		got := column(t, s.db, "SELECT paste_id || ' ' || (history_bytes / 1000) FROM paste_contents ORDER BY 1")
		if !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// heap is what objects take, those included that are not collected yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestSweepingPastesWithContent removes ten thousand, with content and history, in batches.
func TestSweepingPastesWithContent(t *testing.T) {
	t.Parallel()
	const count, batch = 10_000, 500
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		createDocument(t, s.pastes, newDocument("kept", "", "code"))
		at := instants[isPostgres(cfg)]
		some := "WITH RECURSIVE s (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 10000) "
		exec(t, s.db, "INSERT INTO pastes (id, created_at, expires_at) "+some+"SELECT 'e' || x, "+at.past+", "+at.past+" FROM s")
		exec(t, s.db, "INSERT INTO paste_contents (paste_id, lifetime, document, edits) "+some+"SELECT 'e' || x, '', '', 2 FROM s")
		exec(t, s.db, "INSERT INTO paste_edits (paste_id, position, entry) "+some+
			"SELECT 'e' || x, n, '' FROM s, (SELECT 0 n UNION ALL SELECT 1) n")
		began, slowest, total := time.Now(), time.Duration(0), 0
		for range count/batch + 1 {
			start := time.Now()
			n, err := s.pastes.RemoveExpired(t.Context(), 0, batch)
			if err != nil || n > batch {
				t.Fatalf("got %d removed, error %v, want up to %d", n, err, batch)
			}
			slowest, total = max(slowest, time.Since(start)), total+n
		}
		t.Logf("%d pastes in %v, the slowest batch in %v", total, time.Since(began), slowest)
		if total != count {
			t.Errorf("got %d removed, want %d", total, count)
		}
		for _, table := range []string{"paste_contents", "paste_edits"} {
			if left := column(t, s.db, "SELECT paste_id FROM "+table); !slices.Equal(left, []string{"kept"}[:min(1, len(left))]) {
				t.Errorf("got %d rows in %s, want those of the paste that is kept", len(left), table)
			}
		}
		wantAllCounted(t, s.pastes, []string{"kept"})
	})
}

// TestCreationsBesideAnImport has pastes of several owners stored by one statement, beside somebody who locks the same users in the
// order of their ids, as an import does: nobody has to be undone.
func TestCreationsBesideAnImport(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprint("with tokens ", own), func(t *testing.T) {
			t.Parallel()
			cfg := database.Postgres(t)
			cfg.MaxConnections = 4 // one statement that creates at once
			store, db := database.Open(t, cfg), database.SQL(t, cfg)
			users, tokens, pastes := gormstore.NewUsers(store), gormstore.NewTokens(store), gormstore.NewPastes(store)
			results, err := users.Import(t.Context(), accounts(t, "a=a", "m=m", "z=z"))
			outcomes(t, results, err)
			hashes := map[string]token.Hash{}
			for _, owner := range []string{"a", "m", "z"} {
				hashes[owner] = token.Generate().Hash()
				made := token.Token{ID: token.ID(owner), Owner: user.ID(owner), Hash: hashes[owner], CreatedAt: time.Now()}
				if err := tokens.Create(t.Context(), made); err != nil {
					t.Fatal(err)
				}
			}
			lock := "SELECT id FROM users WHERE id = '%s' FOR UPDATE"
			first, other := begin(t, db, "1min"), begin(t, db, "1min")
			exec(t, first, fmt.Sprintf(lock, "m"))
			exec(t, other, fmt.Sprintf(lock, "a"))
			var creators sync.WaitGroup
			for _, owner := range []string{"m", "z", "a"} { // the first goes by itself, and the others wait for it
				creators.Go(func() {
					made := newDocument("by-"+owner, owner, "code")
					var err error
					if own {
						_, err = pastes.CreateOwnDocument(t.Context(), hashes[owner], made)
					} else {
						err = pastes.CreateDocument(t.Context(), made)
					}
					if err != nil {
						t.Errorf("%s: got %v, want no error", owner, err)
					}
				})
				if owner == "m" {
					waitForWaiters(t, db, 1)
				}
				time.Sleep(20 * time.Millisecond) // until it is in the queue
			}
			if err := first.Commit(); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
				if ids := column(t, db, "SELECT id FROM pastes"); len(ids) == 1 {
					break // by the first, and the next statement has begun
				}
			}
			waitForWaiters(t, db, 1)
			exec(t, other, fmt.Sprintf(lock, "z"))
			if err := other.Commit(); err != nil {
				t.Fatal(err)
			}
			creators.Wait()
			wantNoDeadlocks(t, db)
			if ids := column(t, db, "SELECT p.id FROM pastes p JOIN paste_contents c ON c.paste_id = p.id ORDER BY 1"); len(ids) != 3 {
				t.Errorf("got %v, want three pastes with content", ids)
			}
		})
	}
}
