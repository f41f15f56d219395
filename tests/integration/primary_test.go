package integration

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// open returns the use cases of a node on the database.
func open(t *testing.T, cfg gormstore.Config) *bootstrap.Application {
	t.Helper()
	node := bootstrap.DefaultConfig()
	node.Database, node.Migrate = cfg, false
	useCases, stop, err := bootstrap.Open(t.Context(), node)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stop(t.Context()) })
	return useCases
}

// TestOnlyProfilesAreStale has a replica that stands still but may be read from. It shows old profiles; nothing
// else that a node answers or does goes by it.
func TestOnlyProfilesAreStale(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 1)
	cfg := replication.Primary
	cfg.ReplicaURLs, cfg.ReplicaMaxLag = []gormstore.URL{replication.Replicas[0].URL}, time.Hour
	node, ctx := open(t, cfg), t.Context()
	ok := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: got %v, want no error", what, err)
		}
	}
	_, err := node.Users.Create.Do(ctx, users.CreateInput{Name: "settled", PublicProfile: true})
	ok("create a user", err)
	replica := cfg
	replica.URL = replication.Replicas[0].URL
	db := database.SQL(t, replica)
	for deadline, reads := time.Now().Add(time.Minute), 0; reads == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got no read of the replica in a minute, want one")
		}
		_, _ = node.Users.ShowProfile.Do(ctx, "settled")
		if err := db.QueryRow("SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE relname = 'users'").Scan(&reads); err != nil {
			t.Fatal(err)
		}
	}
	replication.Replicas[0].Pause(t)

	_, err = node.Users.Create.Do(ctx, users.CreateInput{Name: "newcomer", PublicProfile: true})
	ok("create another user", err)
	if _, err := node.Users.ShowProfile.Do(ctx, "newcomer"); !fault.Is(err, fault.NotFound) {
		t.Fatalf("got %v, want not found: the replica is not read from", err)
	}
	_, _, err = node.Tokens.Issue.Do(ctx, "newcomer", "", 0)
	ok("issue a token", err)
	if tokens, err := node.Tokens.List.Do(ctx, "newcomer"); len(tokens) != 1 || err != nil {
		t.Errorf("list tokens: got %v, error %v, want one", tokens, err)
	}
	created, err := node.Pastes.Create.Do(ctx, "newcomer", 0, paste.Draft{Pasties: []paste.PastyDraft{{Code: new(string)}}})
	ok("create a paste", err)
	ok("star it", node.Pastes.Star.Do(ctx, "newcomer", string(created.ID)))
	if count, err := node.Pastes.CountActive.Do(ctx); count != 1 || err != nil {
		t.Errorf("got %d pastes, error %v, want 1", count, err)
	}
	avatar, months := "https://example.com/new.png", int32(7)
	_, err = node.Users.Update.Do(ctx, "settled", users.UpdateInput{AvatarURL: &avatar})
	ok("update a user", err)
	_, err = node.Users.Update.Do(ctx, "settled", users.UpdateInput{SupporterMonths: &months})
	ok("update it again", err)
	if shown, err := node.Users.Show.Do(ctx, "settled"); err != nil || shown.AvatarURL != avatar || shown.SupporterMonths != months {
		t.Errorf("after two updates: got %+v, error %v, want %s and %d months", shown, err, avatar, months)
	}
	_, err = node.Users.Delete.Do(ctx, "newcomer")
	ok("delete a user", err)
}

// TestUpdatesAtOnce has two nodes change different fields of one user at the same moment.
func TestUpdatesAtOnce(t *testing.T) {
	t.Parallel()
	const rounds = 30
	each(t, func(t *testing.T, cfg gormstore.Config) {
		nodes, ctx := []*bootstrap.Application{open(t, cfg), open(t, cfg)}, t.Context()
		if _, err := nodes[0].Users.Create.Do(ctx, users.CreateInput{Name: "somebody"}); err != nil {
			t.Fatal(err)
		}
		lost := 0
		for round := range int32(rounds) {
			avatar, service := fmt.Sprint("avatar", round), fmt.Sprint(round)
			changes := []users.UpdateInput{
				{AvatarURL: &avatar, Services: map[string]string{"github": service}},
				{SupporterMonths: &round, Services: map[string]string{"gitlab": service}},
			}
			var both sync.WaitGroup
			for i, change := range changes {
				both.Go(func() {
					if _, err := nodes[i].Users.Update.Do(ctx, "Somebody", change); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			shown, err := nodes[0].Users.Show.Do(ctx, "somebody")
			if err != nil {
				t.Fatal(err)
			}
			services := map[string]string{"github": service, "gitlab": service}
			if shown.AvatarURL != avatar || shown.SupporterMonths != round || !maps.Equal(shown.Services, services) {
				lost++
			}
		}
		if lost > 0 {
			t.Errorf("got something lost in %d of %d rounds, want nothing", lost, rounds)
		}
	})
}
