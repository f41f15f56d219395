package integration

import (
	"context"
	"database/sql"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

const (
	requestTime = time.Minute      // for requests that must not wait for others, on a busy machine
	patience    = 10 * time.Minute // for requests that wait, on the slowest machine
)

// service is a store with one user, who has a token.
type service struct {
	store  *gormstore.Store
	users  *gormstore.Users
	tokens *gormstore.Tokens
	pastes *gormstore.Pastes
	db     *sql.DB // of another client
	name   user.Name
	hash   token.Hash
}

func openService(t *testing.T, cfg gormstore.Config) *service {
	t.Helper()
	store := database.Open(t, cfg)
	s := &service{
		store: store, users: gormstore.NewUsers(store), tokens: gormstore.NewTokens(store),
		pastes: gormstore.NewPastes(store),
		db:     database.SQL(t, cfg), hash: token.Generate().Hash(),
	}
	var err error
	if s.name, err = user.ParseName("Epoxy"); err != nil {
		t.Fatal(err)
	}
	database.CreateUser(t, store, user.User{ID: "epoxy", Name: s.name, CreatedAt: time.Now()})
	created := token.Token{ID: "t", Owner: "epoxy", Hash: s.hash, CreatedAt: time.Now()}
	if err := s.tokens.Create(t.Context(), netip.Addr{}, auditlog.Entry{}, created); err != nil {
		t.Fatal(err)
	}
	return s
}

// lookups returns the lookups that must work whatever else goes on.
func (s *service) lookups() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"a profile": func(ctx context.Context) error { _, err := s.users.StaleByName(ctx, s.name); return err },
		"a user":    func(ctx context.Context) error { _, err := s.users.ByName(ctx, s.name); return err },
		"a token":   func(ctx context.Context) error { _, _, err := s.tokens.ByHash(ctx, s.hash); return err },
		"readiness": s.store.Ready,
	}
}

// sessions counts the other sessions on the database that match a condition.
func (s *service) sessions(t *testing.T, condition string) (n int) {
	t.Helper()
	row := s.db.QueryRowContext(t.Context(),
		"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND "+condition)
	if err := row.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestLookupsWhilePastesAreLocked locks the table of pastes, so that everything that needs it waits, half of it with
// tokens, and checks that users and tokens can still be looked up.
func TestLookupsWhilePastesAreLocked(t *testing.T) {
	t.Parallel()
	for _, dataloader := range []bool{true, false} {
		for _, connections := range []int{2, 3, 4, 8} {
			t.Run(fmt.Sprintf("%d connections, dataloader %v", connections, dataloader), func(t *testing.T) {
				t.Parallel()
				lookupsWhilePastesAreLocked(t, connections, dataloader)
			})
		}
	}
}

func lookupsWhilePastesAreLocked(t *testing.T, connections int, dataloader bool) {
	cfg := bootstrap.DefaultConfig()
	cfg.Database, cfg.Migrate, cfg.Dataloader = database.Postgres(t), false, dataloader
	cfg.Database.MaxConnections, cfg.Pastes.AnonymousQuota.Pastes = connections, 1_000_000
	node := openNode(t, cfg)
	db := database.SQL(t, cfg.Database)
	const workers = 12
	for _, name := range []string{"Epoxy", "leaver"} {
		if _, err := node.Users.Create.Do(t.Context(), audit.Operator(),
			users.CreateInput{Name: name, PublicProfile: true}); err != nil {
			t.Fatal(err)
		}
	}
	leaver, err := node.Users.Show.Do(t.Context(), audit.Operator(), "leaver")
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := node.Tokens.Issue.Do(t.Context(), audit.Operator(), "Epoxy", tokens.IssueInput{})
	if err != nil {
		t.Fatal(err)
	}
	signIn := func(ctx context.Context) (token.Viewer, error) { return node.Tokens.SignIn.Do(ctx, secret.Reveal()) }
	draft := paste.Draft{Pasties: []paste.PastyDraft{{Code: new("code")}}}
	created, err := node.Pastes.Create.Do(t.Context(), audit.Operator(), "Epoxy", draft)
	if err != nil {
		t.Fatal(err)
	}
	id := string(created.ID)
	work := map[string]func(ctx context.Context, viewer token.Viewer) error{
		"reading": func(ctx context.Context, viewer token.Viewer) error {
			_, err := node.Pastes.Read.Do(ctx, viewer, id)
			return err
		},
		"creating": func(ctx context.Context, viewer token.Viewer) error {
			_, err := node.Pastes.CreateOwn.Do(ctx, audit.By(viewer, netip.MustParseAddr("192.0.2.1")), draft)
			return err
		},
		"counting": func(ctx context.Context, _ token.Viewer) error { _, err := node.Pastes.CountActive.Do(ctx); return err },
		"sweeping": func(ctx context.Context, _ token.Viewer) error {
			_, err := node.Pastes.Sweep.Do(ctx)
			if fault.Is(err, fault.Unavailable) {
				return nil // the batch gives up before a busy machine has done all lookups
			}
			return err
		},
		"a public list": func(ctx context.Context, _ token.Viewer) error {
			_, err := node.Pastes.Browse.Public(ctx, "Epoxy", paste.Selection{})
			return err
		},
	}
	ownerWork := map[string]func(ctx context.Context, viewer token.Viewer) error{
		"listing": func(ctx context.Context, viewer token.Viewer) error {
			return node.Pastes.ListOwn.Do(ctx, viewer, func([]paste.ID) error { return nil })
		},
		"an account": func(ctx context.Context, viewer token.Viewer) error {
			_, err := node.Users.ShowSelf.Do(ctx, viewer)
			return err
		},
		"editing": func(ctx context.Context, viewer token.Viewer) error {
			_, err := node.Pastes.EditOwn.Do(ctx, audit.By(viewer, netip.Addr{}), id, paste.Changes{Title: new("new")})
			return err
		},
		"deleting": func(ctx context.Context, viewer token.Viewer) error {
			if err := node.Pastes.DeleteOwn.Do(ctx, audit.By(viewer, netip.Addr{}), "absent00", ""); !fault.Is(err,
				fault.NotFound) {
				return err
			}
			return nil
		},
		"deleting a user": func(ctx context.Context, _ token.Viewer) error {
			if err := node.Users.Delete.Do(ctx, audit.Operator(), leaver.User, false); !fault.Is(err, fault.NotFound) {
				return err
			}
			return nil
		},
	}

	lock, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Rollback() //nolint:errcheck // does nothing after a commit
	exec(t, lock, "LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var callers sync.WaitGroup
	begin := func(what string, do func(context.Context, token.Viewer) error, withToken bool) {
		for range workers {
			callers.Go(func() {
				var viewer token.Viewer
				var err error
				if withToken {
					viewer, err = signIn(ctx)
				}
				if err == nil {
					err = do(ctx, viewer)
				}
				if err != nil {
					t.Errorf("%s: got %v, want no error", what, err)
				}
			})
		}
	}
	for what, do := range work {
		begin(what, do, false)
		begin(what+" with a token", do, true)
	}
	for what, do := range ownerWork {
		begin(what, do, true)
	}
	waitForWaiters(t, db, max(1, connections/2)) // as many as may wait
	time.Sleep(100 * time.Millisecond)
	slowest := time.Duration(0)
	for range 50 {
		for what, lookup := range map[string]func(context.Context) error{
			"a profile": func(ctx context.Context) error { _, err := node.Users.ShowProfile.Do(ctx, "epoxy"); return err },
			"a token":   func(ctx context.Context) error { _, err := signIn(ctx); return err },
			"readiness": node.Ready,
		} {
			short, cancel := context.WithTimeout(t.Context(), requestTime)
			start := time.Now()
			if err := lookup(short); err != nil {
				t.Fatalf("%s: got %v, want no error", what, err)
			}
			slowest = max(slowest, time.Since(start))
			cancel()
		}
	}
	t.Logf("the slowest of 150 lookups took %v", slowest)
	if err := lock.Commit(); err != nil {
		t.Fatal(err)
	}
	callers.Wait()
}

// watchLatency looks up a user with several callers at once until work has ended, and logs how long the lookups took.
func (s *service) watchLatency(t *testing.T, beside string, work func()) {
	t.Helper()
	const callers = 4
	durations := make([][]time.Duration, callers)
	done := make(chan struct{})
	var loops sync.WaitGroup
	for i := range callers {
		loops.Go(func() {
			for {
				ctx, cancel := context.WithTimeout(t.Context(), requestTime)
				start := time.Now()
				_, err := s.users.StaleByName(ctx, s.name)
				durations[i] = append(durations[i], time.Since(start))
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
	start := time.Now()
	work()
	elapsed := time.Since(start)
	close(done)
	loops.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(durations...)))
	t.Logf("a user beside %s, which took %v: p50 %v, p99 %v, slowest %v of %d",
		beside, elapsed.Round(time.Millisecond), all[len(all)/2], all[len(all)*99/100], all[len(all)-1], len(all))
}

// runCallers lets several callers at once call do, each this many times.
func runCallers(t *testing.T, callers, rounds int, do func(ctx context.Context) error) {
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

// TestLookupsBesideLongAnswers prints how long lookups take beside 64 long lists, and beside 32 clients who count while
// many expired pastes wait for the sweep.
func TestLookupsBesideLongAnswers(t *testing.T) {
	active, expired := 2_000, 3_000
	if *large {
		active, expired = 50_000, 100_000
	}
	for _, cfg := range []gormstore.Config{database.Postgres(t), database.SQLite(t)} { // one after the other
		s := openService(t, cfg)
		addOwner(t, s.db, cfg, "many", active)
		at := instants[isPostgres(cfg)]
		exec(t, s.db, insertPastes("id, created_at, expires_at", fmt.Sprintf(`'e' || n, %s, %s
			FROM (WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s) numbers`,
			at.past, at.past, expired)))
		if isPostgres(cfg) {
			exec(t, s.db, "VACUUM ANALYZE pastes")
		}
		s.watchLatency(t, "nothing", func() { time.Sleep(500 * time.Millisecond) })

		s.watchLatency(t, "64 long lists", func() {
			runCallers(t, 64, 1, func(context.Context) error {
				if ids := listIDs(t, s.pastes, "many"); len(ids) != active {
					return fmt.Errorf("got %d ids, want %d", len(ids), active)
				}
				return nil
			})
		})
		s.watchLatency(t, fmt.Sprintf("32 counting clients and %d expired pastes", expired), func() {
			runCallers(t, 32, 20, func(ctx context.Context) error {
				count, err := s.pastes.ActiveCount(ctx)
				if err == nil && count != int64(active) {
					err = fmt.Errorf("got the count %d, want %d", count, active)
				}
				return err
			})
		})
	}
}

// TestSharedCountsAreFresh counts beside writers. A count, even a shared one, must include the paste that its caller
// created before, and no pastes whose creation has not starts.
func TestSharedCountsAreFresh(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		node := open(t, cfg)
		var starts, ends atomic.Int64 // of creations
		runCallers(t, 16, 15, func(ctx context.Context) error {
			starts.Add(1)
			draft := paste.Draft{Pasties: []paste.PastyDraft{{Code: new("code")}}}
			if _, err := node.Pastes.Create.Do(ctx, audit.Operator(), "", draft); err != nil {
				return err
			}
			least := ends.Add(1)
			count, err := node.Pastes.CountActive.Do(ctx)
			if err == nil && (count < least || count > starts.Load()) {
				err = fmt.Errorf("got the count %d, want between %d, created before, and %d, begun before its end", count,
					least, starts.Load())
			}
			return err
		})
	})
}
