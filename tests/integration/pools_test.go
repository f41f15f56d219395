package integration

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

const (
	requestTime = 10 * time.Second // what a request has by default
	patience    = 10 * time.Minute // for what is expected to wait, on the slowest machine
)

// service is a store with one user, who has a token.
type service struct {
	store  *gormstore.Store
	users  *gormstore.Users
	tokens *gormstore.Tokens
	pastes *gormstore.Pastes
	db     *sql.DB // any other client
	name   user.Name
	hash   token.Hash
}

func openService(t *testing.T, cfg gormstore.Config) *service {
	t.Helper()
	store := database.Open(t, cfg)
	s := &service{
		store: store, users: gormstore.NewUsers(store), tokens: gormstore.NewTokens(store), pastes: gormstore.NewPastes(store),
		db: database.SQL(t, cfg), hash: token.Generate().Hash(),
	}
	var err error
	if s.name, err = user.ParseName("Epoxy"); err != nil {
		t.Fatal(err)
	}
	if err := s.users.Create(t.Context(), user.User{ID: "epoxy", Name: s.name, CreatedAt: time.Now()}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.tokens.Create(t.Context(), token.Token{ID: "t", Owner: "epoxy", Hash: s.hash, CreatedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return s
}

// lookups are what must be answered whatever else goes on.
func (s *service) lookups() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"a profile": func(ctx context.Context) error { _, err := s.users.StaleByName(ctx, s.name); return err },
		"a user":    func(ctx context.Context) error { _, err := s.users.ByName(ctx, s.name); return err },
		"a token":   func(ctx context.Context) error { _, err := s.tokens.ByHash(ctx, s.hash); return err },
		"readiness": s.store.Ready,
	}
}

// pasteWork is what touches the table of pastes.
func (s *service) pasteWork() []func(ctx context.Context, id string) error {
	return []func(ctx context.Context, id string) error{
		func(ctx context.Context, _ string) error {
			return s.pastes.EachActiveID(ctx, "epoxy", func(paste.ID) error { return nil })
		},
		func(ctx context.Context, _ string) error { _, _, _, err := s.pastes.HeldIDs(ctx, s.hash); return err },
		func(ctx context.Context, _ string) error { _, err := s.pastes.ActiveCount(ctx); return err },
		func(ctx context.Context, _ string) error {
			_, _, err := s.tokens.AccountByHash(ctx, s.hash)
			return err
		},
		func(ctx context.Context, id string) error {
			return s.pastes.CreateDocument(ctx, paste.Document{Paste: paste.Paste{ID: paste.ID(id), Owner: "epoxy", CreatedAt: time.Now()}})
		},
		func(ctx context.Context, id string) error {
			imported := paste.Document{Paste: paste.Paste{ID: paste.ID("imported-" + id), CreatedAt: time.Now()}}
			_, err := s.pastes.Import(ctx, []paste.Document{imported}, paste.RefuseOrphans)
			return err
		},
		func(ctx context.Context, _ string) error {
			_, err := s.pastes.RemoveExpired(ctx, 0, 10)
			return err
		},
		func(ctx context.Context, _ string) error {
			return s.pastes.EachByOwner(ctx, "epoxy", func(paste.Paste) error { return nil })
		},
		func(ctx context.Context, id string) error {
			_, err := s.users.Delete(ctx, doomed(id))
			return err
		},
	}
}

// doomed is the name of a user who is there to be deleted by the work with that id.
func doomed(id string) user.Name {
	name, err := user.ParseName("doomed-" + id)
	if err != nil {
		panic(err)
	}
	return name
}

// sessions counts the sessions on the database that are in some state.
func (s *service) sessions(t *testing.T, state string) (n int) {
	t.Helper()
	row := s.db.QueryRowContext(t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND "+state)
	if err := row.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLookupsWhilePastesAreLocked holds a lock on the table of pastes, has everything that needs the table wait for it, and
// looks up what does not.
func TestLookupsWhilePastesAreLocked(t *testing.T) {
	t.Parallel()
	for _, connections := range []int{2, 3, 4, 8} {
		t.Run(fmt.Sprint(connections, " connections"), func(t *testing.T) {
			t.Parallel()
			cfg := database.Postgres(t)
			cfg.MaxConnections = connections
			s := openService(t, cfg)
			const workers = 12
			for kind := range s.pasteWork() {
				for i := range workers {
					name := doomed(fmt.Sprint(kind, "-", i))
					if err := s.users.Create(t.Context(), user.User{ID: user.ID(name.String()), Name: name, CreatedAt: time.Now()},
						nil); err != nil {
						t.Fatal(err)
					}
				}
			}
			lock, err := s.db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Rollback() //nolint:errcheck // does nothing after a commit
			exec(t, lock, "LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var waiting sync.WaitGroup
			for kind, work := range s.pasteWork() {
				for i := range workers {
					waiting.Go(func() {
						if err := work(ctx, fmt.Sprint(kind, "-", i)); err != nil {
							t.Errorf("work %d: got %v, want no error", kind, err)
						}
					})
				}
			}
			for s.sessions(t, "wait_event_type = 'Lock'") < max(1, connections/2) { // all that may, or more
				time.Sleep(5 * time.Millisecond)
			}
			for range 50 {
				for what, lookup := range s.lookups() {
					short, cancel := context.WithTimeout(t.Context(), requestTime)
					if err := lookup(short); err != nil {
						t.Fatalf("%s: got %v, want no error", what, err)
					}
					cancel()
				}
			}
			if err := lock.Commit(); err != nil {
				t.Fatal(err)
			}
			waiting.Wait()
		})
	}
}

// TestReadinessHasItsConnection uses up all the others.
func TestReadinessHasItsConnection(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.MaxConnections = 1
	s := openService(t, cfg)
	lock, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback() //nolint:errcheck // does nothing after a commit
	exec(t, lock, "LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
	waiting := make(chan error)
	go func() { _, err := s.users.ByName(t.Context(), s.name); waiting <- err }()
	for s.sessions(t, "wait_event_type = 'Lock'") == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), requestTime)
	defer cancel()
	if err := s.store.Ready(ctx); err != nil {
		t.Error(err)
	}
	if err := lock.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

// watchLatency looks a user up, by so many callers at once, until work has ended, and logs how long it took.
func (s *service) watchLatency(t *testing.T, beside string, work func()) {
	t.Helper()
	const callers = 4
	took := make([][]time.Duration, callers)
	done := make(chan struct{})
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			for {
				ctx, cancel := context.WithTimeout(t.Context(), requestTime)
				started := time.Now()
				_, err := s.users.StaleByName(ctx, s.name)
				took[i] = append(took[i], time.Since(started))
				cancel()
				if err != nil {
					t.Errorf("beside %s: got %v, want no error", beside, err)
					return
				}
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	started := time.Now()
	work()
	ended := time.Since(started)
	close(done)
	running.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(took...)))
	t.Logf("a user beside %s, which took %v: p50 %v, p99 %v, slowest %v of %d",
		beside, ended.Round(time.Millisecond), all[len(all)/2], all[len(all)*99/100], all[len(all)-1], len(all))
}

// together has so many callers do something a number of times each.
func together(t *testing.T, callers, rounds int, do func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			for range rounds {
				if err := do(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
}

// TestLookupsBesideLongAnswers prints how long look-ups take beside 64 long lists, and beside 32 clients who count while many
// expired pastes wait for the sweeper, and checks what makes the difference: how many connections those have.
func TestLookupsBesideLongAnswers(t *testing.T) {
	owned, expired := 5_000, 20_000
	if *large {
		owned, expired = 50_000, 300_000
	}
	for _, cfg := range []gormstore.Config{database.Postgres(t), database.SQLite(t)} { // one after the other
		s := openService(t, cfg)
		addOwner(t, s.db, cfg, "many", owned)
		at := instants[isPostgres(cfg)]
		exec(t, s.db, fmt.Sprintf(`INSERT INTO pastes (id, created_at, expires_at)
			WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
			SELECT 'e' || n, %s, %s FROM numbers`, expired, at.past, at.past))
		if isPostgres(cfg) {
			exec(t, s.db, "VACUUM ANALYZE pastes")
		}
		s.watchLatency(t, "nothing", func() { time.Sleep(500 * time.Millisecond) })

		var listing, most atomic.Int64 // callers who are being given their answer
		s.watchLatency(t, "64 long lists", func() {
			together(t, 64, 1, func(ctx context.Context) error {
				first := true
				defer func() {
					if !first {
						listing.Add(-1)
					}
				}()
				return s.pastes.EachActiveID(ctx, "many", func(paste.ID) error {
					if first {
						first = false
						now := listing.Add(1)
						for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
						}
					}
					return nil
				})
			})
		})
		if quarter := max(1, cfg.MaxConnections/4); most.Load() > int64(quarter) {
			t.Errorf("got %d lists at once with a connection, want at most %d of %d", most.Load(), quarter, cfg.MaxConnections)
		}
		s.watchLatency(t, fmt.Sprintf("32 who count beside %d expired pastes", expired), func() {
			together(t, 32, 20, func(ctx context.Context) error {
				count, err := s.pastes.ActiveCount(ctx)
				if err == nil && count != int64(owned) {
					err = fmt.Errorf("counted %d", count)
				}
				return err
			})
		})
	}
}

// TestTokensAreJudgedBesideLongLists has long lists take all the room that lists have: whoever's token is not valid is told so, and
// does not wait.
func TestTokensAreJudgedBesideLongLists(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		cfg.MaxConnections = 4 // one of them for lists
		s := openService(t, cfg)
		old := token.Token{ID: "old", Owner: "epoxy", Hash: token.Generate().Hash(), CreatedAt: time.Now(), ExpiresAt: time.Now()}
		if err := s.tokens.Create(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		made := paste.Document{Paste: paste.Paste{ID: "p", Owner: "epoxy", CreatedAt: time.Now()}}
		if err := s.pastes.CreateDocument(t.Context(), made); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		err := s.pastes.EachActiveID(ctx, "epoxy", func(paste.ID) error {
			judged := make(chan struct{})
			go func() { // another request
				defer close(judged)
				if _, _, _, err := s.pastes.HeldIDs(ctx, token.Generate().Hash()); !fault.Is(err, fault.NotFound) {
					t.Errorf("an unknown token: got %v, want %v", err, fault.NotFound)
				}
				if holder, ids, all, err := s.pastes.HeldIDs(ctx, old.Hash); err != nil || holder.ID != old.ID || all || len(ids) > 0 {
					t.Errorf("an expired token: got %v, %v, all %v, error %v, want the token alone", holder.ID, ids, all, err)
				}
				soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
				if _, _, _, err := s.pastes.HeldIDs(soon, s.hash); !fault.Is(err, fault.Unavailable) {
					t.Errorf("a valid token: got %v, want it to wait until its time is over", err)
				}
			}()
			<-judged
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if _, ids, all, err := s.pastes.HeldIDs(ctx, s.hash); err != nil || !all || len(ids) != 1 {
			t.Errorf("after the list: got %v, all %v, error %v, want the one id", ids, all, err)
		}
	})
}

// TestSharedCountsAreFresh counts beside writers: whoever has written and then asks must find it counted, whomever the
// statement is shared with, and nothing that nobody has begun to write.
func TestSharedCountsAreFresh(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		var begun, written atomic.Int64
		together(t, 16, 15, func(ctx context.Context) error {
			id := begun.Add(1)
			made := paste.Document{Paste: paste.Paste{ID: paste.ID(fmt.Sprint("p", id)), CreatedAt: time.Now()}}
			if err := s.pastes.CreateDocument(ctx, made); err != nil {
				return err
			}
			least := written.Add(1)
			count, err := s.pastes.ActiveCount(ctx)
			if err == nil && (count < least || count > begun.Load()) {
				err = fmt.Errorf("counted %d, of which %d were written before and %d had been begun after", count, least, begun.Load())
			}
			return err
		})
	})
}
