package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestReplicaHeldBack pauses a replica that every program reads from: what is written shows at once to
// whoever writes next and in every count; only public profiles are old, for as long as is allowed.
func TestReplicaHeldBack(t *testing.T) {
	const lag = 5 * time.Second
	database.RequireBinaries(t)
	replication := database.Replicate(t, 1)
	primary, replica := replication.Primary, replication.Replicas[0]
	program.Fixture(t, primary)
	settings := []string{"GLUEPOT_DATABASE_REPLICA_URLS=" + string(replica.URL), "GLUEPOT_DATABASE_REPLICA_MAX_LAG=" + lag.String(),
		"GLUEPOT_SWEEP_INTERVAL=0"}
	nodes := []*program.Process{serve(t, string(primary.URL), settings...), serve(t, string(primary.URL), settings...)}

	// A process that stays, as an embedder's does: a command is over before a replica can be old.
	cfg := bootstrap.DefaultConfig()
	cfg.Database = primary
	cfg.Database.ReplicaURLs, cfg.Database.ReplicaMaxLag = append(cfg.Database.ReplicaURLs, replica.URL), lag
	opened, stop, err := bootstrap.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t.Context()) //nolint:errcheck // nothing is pending

	// Pause the replica and change a profile until nobody sees the change: they all read the replica.
	db, round, avatar, began := database.SQL(t, primary), 0, "", time.Time{}
	old := func() (seen int) {
		for _, node := range nodes {
			if _, body := node.Get("/user/epoxy", ""); !strings.Contains(body, avatar) {
				seen++
			}
		}
		if profile, err := opened.Users.ShowProfile.Do(t.Context(), "epoxy"); err == nil && profile.AvatarURL != avatar {
			seen++
		}
		return seen
	}
	program.Eventually(t, "every program reads the replica", func() bool {
		round++
		replica.Pause(t)
		avatar, began = fmt.Sprint("https://example.com/round/", round), time.Now()
		if _, err := db.ExecContext(t.Context(), "UPDATE users SET avatar_url = $1 WHERE id = 'epoxy001'", avatar); err != nil {
			t.Fatal(err)
		}
		if old() == len(nodes)+1 {
			return true
		}
		replica.Resume(t)
		time.Sleep(100 * time.Millisecond) // for the replica to be found fresh again
		return false
	})

	// Whoever writes sees what was written.
	failures := 0
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			failures++
			t.Errorf("%s: got %v, want no error", what, err)
		}
	}
	_, err = opened.Users.Create.Do(t.Context(), users.CreateInput{Name: "newcomer"})
	check("create a user", err)
	_, secret, err := opened.Tokens.Issue.Do(t.Context(), "newcomer", "", 0)
	check("issue a token to a new user", err)
	_, err = opened.Users.Show.Do(t.Context(), "newcomer")
	check("show a new user", err)
	language, supporter := "Rust", int32(99)
	_, err = opened.Users.Update.Do(t.Context(), "putty", users.UpdateInput{DefaultLanguage: &language})
	check("update a field", err)
	_, err = opened.Users.Update.Do(t.Context(), "putty", users.UpdateInput{SupporterMonths: &supporter})
	check("update another field", err)
	if account, err := opened.Users.Show.Do(t.Context(), "putty"); err != nil || account.DefaultLanguage != language ||
		account.SupporterMonths != supporter {
		failures++
		t.Errorf("two updates: got %+v, error %v, want %s and %d months", account, err, language, supporter)
	}
	var stored string
	if err := db.QueryRowContext(t.Context(),
		"SELECT default_language || ' ' || supporter_months FROM users WHERE id = 'putty001'").Scan(&stored); err != nil ||
		stored != "Rust 99" {
		failures++
		t.Errorf("two updates: got %q stored, error %v, want %q", stored, err, "Rust 99")
	}
	for range 2 {
		gluepot(t, string(primary.URL), "paste create --anonymous", settings...)
	}
	_, err = opened.Tokens.List.Do(t.Context(), "newcomer")
	check("list a new user's tokens", err)
	counts := []string{}
	for _, node := range nodes {
		_, body := node.Get("/data/numPastes", "")
		counts = append(counts, body)
		if body != `{"numPastes":7}` {
			failures++
			t.Errorf("got %s, want 7 pastes", body)
		}
		if secret.Reveal() != "" {
			if status, body := node.Get("/user/self", secret.Reveal()); status != http.StatusOK {
				failures++
				t.Errorf("a new token: got %d %s, want 200", status, body)
			}
		}
	}
	still := old()
	within := time.Since(began).Round(time.Millisecond)
	program.Eventually(t, "the profile is new everywhere", func() bool { return old() == 0 })
	bound := time.Since(began).Round(time.Millisecond)
	record(t, "writes undone or not seen by the next", failures, "0")
	record(t, "counts of pastes after two more", strings.Join(counts, " "), `{"numPastes":7} on both`)
	record(t, "programs that showed the old profile meanwhile", fmt.Sprintf("%d of %d after %v", still, len(nodes)+1, within), "")
	record(t, "profile new everywhere after", bound, fmt.Sprint("within twice the lag of ", lag))
	if bound > 2*lag {
		t.Errorf("got an old profile for %v, want at most %v", bound, 2*lag)
	}
}

// TestConcurrentUpdates changes fields of one user from three processes at once, again and again: all
// changes hold, without any replica.
func TestConcurrentUpdates(t *testing.T) {
	const rounds = 8
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		undone := 0
		for round := range rounds {
			changes := []string{
				fmt.Sprint("--avatar-url https://example.com/round/", round), fmt.Sprint("--default-lang Language", round),
				fmt.Sprint("--service another=", round),
			}
			var processes []*program.Process
			for _, change := range changes {
				processes = append(processes, program.Start(t, []string{"GLUEPOT_DATABASE_URL=" + string(cfg.URL)},
					strings.Fields("user update epoxy "+change)...))
			}
			for _, p := range processes {
				if code := p.Wait(); code != 0 {
					t.Errorf("got exit code %d, want 0: %s", code, &p.Stderr)
				}
			}
			shown := gluepot(t, string(cfg.URL), "user show epoxy --json")
			for _, part := range []string{fmt.Sprintf("/round/%d\"", round), fmt.Sprintf("\"Language%d\"", round),
				fmt.Sprintf("\"another\":\"%d\"", round)} {
				if !strings.Contains(strings.ReplaceAll(shown, "\": \"", "\":\""), part) {
					undone++
					t.Errorf("round %d: got %s, want %s in it", round, shown, part)
				}
			}
		}
		record(t, "updates undone by another at the same time", fmt.Sprintf("%d of %d", undone, 3*rounds), "0")
	})
}
