package integration

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"sync"
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
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

// open opens a node on the database.
func open(t *testing.T, cfg gormstore.Config) *bootstrap.Application {
	t.Helper()
	node := bootstrap.DefaultConfig()
	node.Database, node.Migrate = cfg, false
	return openNode(t, node)
}

func openNode(t *testing.T, cfg bootstrap.Config) *bootstrap.Application {
	t.Helper()
	app, stop, err := bootstrap.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop(t.Context()) })
	return app
}

// TestStandbyIsNoPrimary opens a standby instead of a primary. Then it makes the primary's address lead to a standby
// while a node runs, as after a switchover behind one address. The node must not be ready, and must read nothing from
// it.
func TestStandbyIsNoPrimary(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 1)
	standby := at(replication.Primary, replication.Replicas[0].URL)
	for _, attributes := range []string{"", "any", "primary", "read-write"} {
		cfg := standby
		if attributes != "" {
			cfg = database.WithParameter(t, standby, "target_session_attrs", attributes)
		}
		store, err := gormstore.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		wantStandby(t, "connecting, "+attributes, store.Connect(t.Context()))
		wantStandby(t, "readiness, "+attributes, store.Ready(t.Context()))
		_, err = store.Migrate(t.Context())
		wantStandby(t, "migrating, "+attributes, err)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}

	proxy, through := faultproxy.Start(t, replication.Primary)
	for _, dataloader := range []bool{true, false} {
		cfg := bootstrap.DefaultConfig()
		cfg.Database, cfg.Migrate, cfg.Dataloader = through, false, dataloader
		node, ctx := openNode(t, cfg), t.Context()
		name := fmt.Sprint("somebody", dataloader)
		if _, err := node.Users.Create.Do(ctx, audit.Operator(),
			users.CreateInput{Name: name, PublicProfile: true}); err != nil {
			t.Fatal(err)
		}
		_, secret, err := node.Tokens.Issue.Do(ctx, audit.Operator(), name, tokens.IssueInput{})
		if err != nil {
			t.Fatal(err)
		}
		created, err := node.Pastes.Create.Do(ctx, audit.Operator(), name,
			paste.Draft{Pasties: []paste.PastyDraft{{Code: new("code")}}})
		if err != nil {
			t.Fatal(err)
		}
		viewer, err := node.Tokens.SignIn.Do(ctx, secret.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		proxy.Move(t, standby.URL)
		time.Sleep(idle)
		for range 3 {
			wantStandby(t, "readiness", node.Ready(ctx))
			for what, read := range map[string]func() error{
				"a token":    func() error { _, err := node.Tokens.SignIn.Do(ctx, secret.Reveal()); return err },
				"a profile":  func() error { _, err := node.Users.ShowProfile.Do(ctx, name); return err },
				"an account": func() error { _, err := node.Users.ShowSelf.Do(ctx, viewer); return err },
				"a paste":    func() error { _, err := node.Pastes.Read.Do(ctx, viewer, string(created.ID)); return err },
				"a count":    func() error { _, err := node.Pastes.CountActive.Do(ctx); return err },
			} {
				if err := read(); !fault.Is(err, fault.Unavailable) {
					t.Errorf("%s, dataloader %v: got %v, want fault.Unavailable", what, dataloader, err)
				}
			}
		}
		proxy.Move(t, replication.Primary.URL)
		time.Sleep(idle)
		if err := node.Ready(ctx); err != nil {
			t.Errorf("back at the primary: got %v, want no error", err)
		}
		if _, err := node.Pastes.Read.Do(ctx, viewer, string(created.ID)); err != nil {
			t.Errorf("back at the primary: got %v, want the paste", err)
		}
	}
}

func wantStandby(t *testing.T, what string, err error) {
	t.Helper()
	const want = "The database server is a standby. Check that GLUEPOT_DATABASE_URL leads to the primary."
	if !fault.Is(err, fault.Unavailable) || fault.MessageOf(err) != want {
		t.Errorf("%s: got %q (%v), want %q", what, fault.MessageOf(err), err, want)
	}
}

// at returns a configuration with another URL.
func at(cfg gormstore.Config, url string) gormstore.Config {
	cfg.URL = url
	return cfg
}

// TestSeveralHosts uses a URL of several hosts, of which the first is a standby. Reads that decide something must come
// from the primary.
func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 1)
	hosts, err := url.Parse(replication.Primary.URL)
	if err != nil {
		t.Fatal(err)
	}
	standby, err := url.Parse(replication.Replicas[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	hosts.Host = standby.Host + "," + hosts.Host
	store := database.Open(t, at(replication.Primary, hosts.String()))
	replication.Replicas[0].Pause(t)
	s := openService(t, replication.Primary) // stores a token
	if _, _, err := gormstore.NewTokens(store).ByHash(t.Context(), s.hash); err != nil {
		t.Errorf("got %v, want the token that another node just stored", err)
	}
	if err := gormstore.NewUsers(store).Delete(t.Context(), netip.Addr{}, auditlog.Entry{}, "epoxy",
		s.name, nil); err != nil {
		t.Errorf("got %v, want no error", err)
	}
}

// TestOnlyProfilesAreStale pauses the standby for reads, and then breaks its connections. Only profiles may be stale. A
// profile that the standby lacks, and everything while it is unreachable, must come from the primary.
func TestOnlyProfilesAreStale(t *testing.T) {
	t.Parallel()
	for _, dataloader := range []bool{true, false} {
		t.Run(fmt.Sprint("dataloader ", dataloader), func(t *testing.T) {
			t.Parallel()
			onlyProfilesAreStale(t, dataloader)
		})
	}
}

// TestStandbyOfAnotherDatabase checks that a read URL of another database is refused, such as that of a copy's source.
func TestStandbyOfAnotherDatabase(t *testing.T) {
	t.Parallel()
	other := database.Postgres(t)
	exec(t, openService(t, other).db, "UPDATE installation SET uid = 'other'")
	cfg := bootstrap.DefaultConfig()
	cfg.Database, cfg.ReadURL = database.Postgres(t), other.URL
	if _, _, err := bootstrap.Open(t.Context(), cfg); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v, want fault.Conflict", err)
	}
	cfg.ReadURL = cfg.Database.URL
	openNode(t, cfg)
}

func onlyProfilesAreStale(t *testing.T, dataloader bool) {
	replication := database.Replicate(t, 1)
	standby := replication.Replicas[0]
	proxy, through := faultproxy.Start(t, at(replication.Primary, standby.URL))
	cfg := bootstrap.DefaultConfig()
	cfg.Database, cfg.Migrate, cfg.ReadURL, cfg.Dataloader = replication.Primary, false, through.URL, dataloader
	node, ctx := openNode(t, cfg), t.Context()
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: got %v, want no error", what, err)
		}
	}
	_, err := node.Users.Create.Do(ctx, audit.Operator(), users.CreateInput{Name: "settled", PublicProfile: true})
	ok("create a user", err)
	_, err = node.Users.ShowProfile.Do(ctx, "settled")
	ok("a profile that the standby may not have yet", err)
	db := database.SQL(t, at(replication.Primary, standby.URL))
	waitForCount(t, db, 1, "SELECT count(*) FROM users")
	standby.Pause(t)

	_, err = node.Users.Create.Do(ctx, audit.Operator(), users.CreateInput{Name: "newcomer", PublicProfile: true})
	ok("create another user", err)
	_, err = node.Users.ShowProfile.Do(ctx, "newcomer")
	ok("a profile that the standby does not have", err)
	_, secret, err := node.Tokens.Issue.Do(ctx, audit.Operator(), "newcomer", tokens.IssueInput{})
	ok("issue a token", err)
	viewer, err := node.Tokens.SignIn.Do(ctx, secret.Reveal())
	ok("sign in", err)
	draft := paste.Draft{Pasties: []paste.PastyDraft{{Code: new(string)}}}
	created, err := node.Pastes.CreateOwn.Do(ctx, audit.By(viewer, netip.Addr{}), draft)
	ok("create a paste", err)
	ok("star it", node.Pastes.Star.Do(ctx, audit.By(viewer, netip.Addr{}), string(created.ID), true))
	if count, err := node.Pastes.CountActive.Do(ctx); count != 1 || err != nil {
		t.Errorf("got %d pastes, error %v, want 1", count, err)
	}
	avatar := "https://example.com/new.png"
	_, err = node.Users.Update.Do(ctx, audit.Operator(), "settled", users.UpdateInput{AvatarURL: &avatar})
	ok("update a user", err)
	if account, err := node.Users.Show.Do(ctx, audit.Operator(), "settled"); err != nil || account.AvatarURL != avatar {
		t.Errorf("after an update: got %+v, error %v, want %s", account, err, avatar)
	}
	// If a busy machine kept the standby from answering, the store asks it again only after a pause.
	stale, err := node.Users.ShowProfile.Do(ctx, "settled")
	for deadline := time.Now().Add(8 * time.Second); err == nil && stale.AvatarURL != "" && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
		stale, err = node.Users.ShowProfile.Do(ctx, "settled")
	}
	if err != nil || stale.AvatarURL != "" {
		t.Errorf("got %+v, error %v, want the standby's profile", stale, err)
	}

	for _, failure := range []struct {
		what  string
		begin func()
	}{{"hangs", proxy.Stall}, {"refuses", proxy.Refuse}} {
		failure.begin()
		start := time.Now()
		for range 20 {
			ctx, cancel := context.WithTimeout(ctx, requestTime)
			profile, err := node.Users.ShowProfile.Do(ctx, "settled")
			cancel()
			if err != nil || profile.AvatarURL != avatar {
				t.Errorf("while the standby %s: got %+v, error %v, want the primary's profile", failure.what, profile, err)
			}
		}
		t.Logf("20 profiles while the standby %s: %v", failure.what, time.Since(start))
	}
	ok("readiness, which depends on the primary", node.Ready(ctx))
	account, err := node.Users.Show.Do(ctx, audit.Operator(), "newcomer")
	ok("show a user", err)
	ok("delete a user", node.Users.Delete.Do(ctx, audit.Operator(), account.User, false))
}

// TestUpdatesAtOnce lets two nodes change different fields of one user at the same moment.
func TestUpdatesAtOnce(t *testing.T) {
	t.Parallel()
	const rounds = 30
	each(t, func(t *testing.T, cfg gormstore.Config) {
		nodes, ctx := []*bootstrap.Application{open(t, cfg), open(t, cfg)}, t.Context()
		if _, err := nodes[0].Users.Create.Do(ctx, audit.Operator(), users.CreateInput{Name: "somebody"}); err != nil {
			t.Fatal(err)
		}
		lost := 0
		for round := range int32(rounds) {
			avatar, service := fmt.Sprint("https://example.com/", round), fmt.Sprint(round)
			changes := []users.UpdateInput{
				{AvatarURL: &avatar, Identities: map[string]string{"github": service}},
				{SupporterMonths: &round, Identities: map[string]string{"gitlab": service}},
			}
			var both sync.WaitGroup
			for i, change := range changes {
				both.Go(func() {
					if _, err := nodes[i].Users.Update.Do(ctx, audit.Operator(), "Somebody", change); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			account, err := nodes[0].Users.Show.Do(ctx, audit.Operator(), "somebody")
			if err != nil {
				t.Fatal(err)
			}
			services := map[string]string{"github": service, "gitlab": service}
			if account.AvatarURL != avatar || account.SupporterMonths != round || !maps.Equal(account.Identities, services) {
				lost++
			}
		}
		if lost > 0 {
			t.Errorf("got a lost change in %d of %d rounds, want none", lost, rounds)
		}
	})
}
