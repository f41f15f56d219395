package contract_test

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
)

// decorated returns the ports of a store on PostgreSQL as servers have them: with merged reads.
func decorated(store *gormstore.Store) contract.DocumentStore {
	merged := dataloader.New(store)
	pastes := merged.Pastes(gormstore.NewPastes(store))
	return contract.DocumentStore{
		Store: contract.Store{
			Users: merged.Users(gormstore.NewUsers(store)), Tokens: merged.Tokens(gormstore.NewTokens(store)), Pastes: pastes,
			Identities: gormstore.NewIdentities(store), Stats: gormstore.NewStats(store), Search: gormstore.NewSearch(store),
		},
		Documents: pastes,
	}
}

func TestPostgresWithDataloader(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) contract.DocumentStore { return decorated(database.Open(t, database.Postgres(t))) })
}

// TestMergedReads has what is read together be what the store reads one by one.
func TestMergedReads(t *testing.T) {
	t.Parallel()
	testMergedReads(t, database.Postgres(t))
}

// TestMergedReadsUnprepared does so with the setting for a PgBouncer without prepared statements.
func TestMergedReadsUnprepared(t *testing.T) {
	t.Parallel()
	testMergedReads(t, database.WithParameter(t, database.Postgres(t), "default_query_exec_mode", "exec"))
}

func testMergedReads(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	cfg.MaxConnections = 8 // one or two for each kind of read, so that the others wait and are merged
	several := &forSeveral{texts: make(map[string]bool)}
	cfg.Tracer = several
	store := database.Open(t, cfg)
	merged := dataloader.New(store)
	plainUsers, plainTokens, plainPastes := gormstore.NewUsers(store), gormstore.NewTokens(store),
		gormstore.NewPastes(store)
	users, tokens, pastes := merged.Users(plainUsers), merged.Tokens(plainTokens), merged.Pastes(plainPastes)

	at := time.Date(2024, 2, 29, 12, 30, 15, 0, time.UTC)
	many, err := user.ParseName("many")
	must(t, err)
	database.CreateUser(t, store, user.User{ID: "many", Name: many, CreatedAt: at})
	for n := range 120 { // too long for a merged list
		d := paste.Document{Paste: paste.Paste{ID: paste.ID(fmt.Sprint("many", n)), Owner: "many", CreatedAt: at}}
		d.Lifetime, d.Pasties = paste.Never, []paste.Pasty{{ID: "p"}}
		must(t, plainPastes.CreateDocument(t.Context(), d))
	}
	var lookups []func(context.Context) (merged, plain any)
	for n := range 20 {
		name, err := user.ParseName(fmt.Sprint("User-", n))
		must(t, err)
		owner := user.User{
			ID: user.ID(fmt.Sprint("user", n)), Name: name, AvatarURL: "https://example.com/ü", DefaultLanguage: "C++",
			PublicProfile: n%2 == 0, SupporterMonths: int32(n), Contributor: n%3 == 0, CreatedAt: at.Add(time.Duration(n)),
		}
		database.CreateUser(t, store, owner)
		created := token.Token{ID: token.ID(fmt.Sprint("token", n)), Owner: owner.ID, Hash: token.Hash{byte(n)}, Name: "ü",
			CreatedAt: at}
		if n%2 == 0 {
			created.ExpiresAt, created.RevokedAt = at.Add(time.Hour), at.Add(time.Minute)
		}
		must(t, plainTokens.Create(t.Context(), netip.Addr{}, auditlog.Entry{}, created))
		d := document(n, owner.ID, at)
		must(t, plainPastes.CreateDocument(t.Context(), d))
		must(t, plainPastes.Star(t.Context(), netip.Addr{}, owner.ID, d.ID))
		missing, err := user.ParseName(fmt.Sprint("missing", n))
		must(t, err)
		for _, id := range []user.ID{owner.ID, "missing", "\x00", "\xff"} {
			lookups = append(lookups, same(id, users.StaleByID, plainUsers.StaleByID),
				same(id, users.AccountByID, plainUsers.AccountByID))
		}
		for _, name := range []user.Name{name, missing} {
			lookups = append(lookups, same(name, users.StaleByName, plainUsers.StaleByName))
		}
		for _, hash := range []token.Hash{created.Hash, {1: byte(n + 1)}} {
			lookups = append(lookups, same(hash, owned(tokens), owned(plainTokens)))
		}
		for _, id := range []paste.ID{d.ID, "missing", "\x00", "\xff"} {
			for _, reader := range []user.ID{"", owner.ID, "user0"} {
				lookups = append(lookups, same(reader, reading(pastes, id), reading(plainPastes, id)))
			}
		}
		lookups = append(lookups, same(n, counted(pastes), counted(plainPastes)))
		for _, owner := range []user.ID{owner.ID, "missing", "\x00", "\xff", "many"} {
			for _, limit := range []int{1, 5000} {
				lookups = append(lookups, same(limit, listed(pastes, owner), listed(plainPastes, owner)))
			}
		}
	}
	var callers sync.WaitGroup
	for _, lookup := range lookups {
		callers.Go(func() {
			if got, want := lookup(t.Context()); !reflect.DeepEqual(got, want) {
				t.Errorf("read together: got %+v, want %+v", got, want)
			}
		})
	}
	callers.Wait()
	const kinds = 6 // users by name and by id, accounts, tokens, pastes, lists
	if len(several.texts) != kinds {
		t.Errorf("got these statements for several lookups, want %d: %v", kinds, slices.Collect(maps.Keys(several.texts)))
	}
}

// forSeveral is a tracer that notes the statements that look up several keys.
type forSeveral struct {
	mu    sync.Mutex
	texts map[string]bool
}

// TraceQueryStart implements pgx.QueryTracer.
func (f *forSeveral) TraceQueryStart(ctx context.Context, _ *pgx.Conn, query pgx.TraceQueryStartData) context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.Contains(query.SQL, "WITH ORDINALITY") {
		f.texts[query.SQL] = true
	}
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (f *forSeveral) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestLookupsWhilePastesAreLocked has readers wait for a lock on pastes, and looks up what does not need it.
func TestLookupsWhilePastesAreLocked(t *testing.T) {
	t.Parallel()
	for _, connections := range []int{2, 3, 4, 8} {
		t.Run(fmt.Sprint(connections, " connections"), func(t *testing.T) {
			t.Parallel()
			cfg := database.Postgres(t)
			cfg.MaxConnections = connections
			store, other := database.Open(t, cfg), database.SQL(t, cfg)
			s := decorated(store)
			name, err := user.ParseName("Epoxy")
			must(t, err)
			owner := user.User{ID: "epoxy", Name: name, CreatedAt: time.Now()}
			database.CreateUser(t, store, owner)
			issued := token.Token{ID: "t", Owner: owner.ID, Hash: token.Hash{1}, CreatedAt: time.Now()}
			must(t, s.Tokens.Create(t.Context(), netip.Addr{}, auditlog.Entry{}, issued))
			lock, err := other.BeginTx(t.Context(), nil)
			must(t, err)
			defer lock.Rollback() //nolint:errcheck // does nothing after a commit
			_, err = lock.ExecContext(t.Context(), `LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE`)
			must(t, err)
			var waiting sync.WaitGroup
			for n := range 24 {
				waiting.Go(func() {
					switch n % 4 {
					case 0:
						if _, err := s.Documents.ReadDocument(t.Context(), "missing", ""); !fault.Is(err, fault.NotFound) {
							t.Errorf("a merged read: got %v, want %q", err, fault.NotFound)
						}
					case 1:
						if _, err := s.Documents.DocumentByID(t.Context(), "missing"); !fault.Is(err, fault.NotFound) {
							t.Errorf("a read by the store: got %v, want %q", err, fault.NotFound)
						}
					case 2:
						if _, _, err := s.Pastes.ActiveIDs(t.Context(), "epoxy", paste.Cursor{}, 5000); err != nil {
							t.Errorf("a list: %v", err)
						}
					case 3:
						if _, err := s.Pastes.ActiveCount(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			for blocked := 0; blocked < max(1, connections/2); time.Sleep(5 * time.Millisecond) {
				must(t, other.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
					WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&blocked))
			}
			for range 50 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				_, err := s.Users.StaleByName(ctx, name)
				must(t, err)
				_, err = s.Users.StaleByID(ctx, owner.ID)
				must(t, err)
				_, _, err = s.Tokens.ByHash(ctx, token.Hash{1})
				must(t, err)
				cancel()
			}
			must(t, lock.Commit())
			waiting.Wait()
		})
	}
}

// TestLookupsWhileRemovedPastesAreLocked has deletions of their content wait for a lock, and looks up a user.
func TestLookupsWhileRemovedPastesAreLocked(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.MaxConnections = 4
	store, other := database.Open(t, cfg), database.SQL(t, cfg)
	pastes, users := gormstore.NewPastes(store), gormstore.NewUsers(store)
	lock, err := other.BeginTx(t.Context(), nil)
	must(t, err)
	defer lock.Rollback() //nolint:errcheck // does nothing after a commit
	_, err = lock.ExecContext(t.Context(), `LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE`)
	must(t, err)
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if err := pastes.DeleteRemoved(t.Context(), auditlog.Entry{}, "missing"); !fault.Is(err, fault.NotFound) {
				t.Errorf("got %v, want %q", err, fault.NotFound)
			}
		})
	}
	for blocked := 0; blocked < cfg.MaxConnections/2; time.Sleep(5 * time.Millisecond) {
		must(t, other.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&blocked))
	}
	time.Sleep(100 * time.Millisecond) // for more, if they are not bounded
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := users.ByID(ctx, "missing"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want %q", err, fault.NotFound)
	}
	must(t, lock.Commit())
	waiting.Wait()
}

// document returns one of several kinds of pastes.
func document(n int, owner user.ID, at time.Time) paste.Document {
	d := paste.Document{
		Paste: paste.Paste{ID: paste.ID(fmt.Sprint("paste", n)), Owner: owner,
			CreatedAt: at.Add(time.Duration(n) * time.Second)},
		Content: paste.Content{
			Title: fmt.Sprint("\x00 \x1a ü ", n), Visibility: paste.Visibility(n % 3), Lifetime: paste.Never,
			Pasties: []paste.Pasty{{ID: "p1", Title: "\x00", Language: "Go", Code: "a\x1a0\x00"},
				{ID: "p0", Language: "C", Code: ""}},
		},
	}
	if n%4 == 1 {
		d.Tags = []string{"a\x00", "b"}
		for number := range 3 {
			d.Edits = append(d.Edits, paste.Edit{
				ID: fmt.Sprint("e", number), Number: int64(number), Type: paste.EditPastyCode,
				Metadata: []string{"p1", "\x00\x1a"}[:number%3],
				Text:     "\x1a1\x00", At: at.Add(time.Duration(number) * time.Hour),
			})
		}
	}
	switch {
	case n%5 == 2: // too large for a merged read
		d.Pasties[1].Code = strings.Repeat("ü\x00", 40<<10)
	case n%7 == 3:
		d.ExpiresAt = at.Add(time.Hour)
	case n%7 == 4:
		d.ExpiresAt = time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	case n%7 == 5:
		d.Pasties, d.Title, d.Cipher = nil, "", &paste.Cipher{Data: []byte{1}, Key: []byte{2}, Salt: []byte{3}}
	case n%7 == 6:
		d.Pasties, d.Lifetime, d.Title = nil, "", ""
	}
	return d
}

// outcome is what a read returns. Of an error that is the kind.
type outcome struct {
	value any
	kind  fault.Kind
}

func same[K, V any](key K, merged, plain func(context.Context, K) (V, error)) func(context.Context) (any, any) {
	return func(ctx context.Context) (any, any) {
		got, err := merged(ctx, key)
		want, wantErr := plain(ctx, key)
		return outcome{got, fault.KindOf(err)}, outcome{want, fault.KindOf(wantErr)}
	}
}

func owned(tokens token.Store) func(context.Context, token.Hash) ([2]any, error) {
	return func(ctx context.Context, hash token.Hash) ([2]any, error) {
		tok, owner, err := tokens.ByHash(ctx, hash)
		return [2]any{tok, owner}, err
	}
}

func reading(pastes paste.Store, id paste.ID) func(context.Context, user.ID) (paste.Document, error) {
	return func(ctx context.Context, reader user.ID) (paste.Document, error) {
		return pastes.ReadDocument(ctx, id, reader)
	}
}

func listed(pastes paste.Store, owner user.ID) func(context.Context, int) ([2]any, error) {
	return func(ctx context.Context, limit int) ([2]any, error) {
		ids, last, err := pastes.ActiveIDs(ctx, owner, paste.Cursor{}, limit)
		return [2]any{append([]paste.ID{}, ids...), last}, err
	}
}

func counted(pastes paste.Store) func(context.Context, int) (int64, error) {
	return func(ctx context.Context, _ int) (int64, error) { return pastes.ActiveCount(ctx) }
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
