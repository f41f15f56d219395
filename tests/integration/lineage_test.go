package integration

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
)

// TestTwoPrimaries promotes a replica while its primary goes on, which a store is connected to: it leaves the former one for the new
// one, and does not come back.
func TestTwoPrimaries(t *testing.T) {
	t.Parallel()
	replication := database.Replicate(t, 1)
	former, promoted := replication.Primary, replication.Primary
	promoted.URL = replication.Replicas[0].URL
	second, err := url.Parse(string(promoted.URL))
	if err != nil {
		t.Fatal(err)
	}
	both, err := url.Parse(string(former.URL))
	if err != nil {
		t.Fatal(err)
	}
	both.Host += "," + second.Host
	query := both.Query()
	query.Set("target_session_attrs", "read-write")
	both.RawQuery = query.Encode()
	cfg := former
	cfg.URL = gormstore.URL(both.String())
	s := openService(t, cfg)

	atPromoted, atFormer := database.SQL(t, promoted), database.SQL(t, former)
	for deadline, there := time.Now().Add(time.Minute), 0; there == 0; time.Sleep(10 * time.Millisecond) {
		if err := atPromoted.QueryRowContext(t.Context(), "SELECT count(*) FROM access_tokens").Scan(&there); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("got a replica without the token after a minute, want it there")
		}
	}
	if _, err := atPromoted.ExecContext(t.Context(), "SELECT pg_promote()"); err != nil {
		t.Fatal(err)
	}
	connected := func() (count int) {
		if err := atFormer.QueryRowContext(t.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gluepot'").Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	for deadline := time.Now().Add(time.Minute); connected() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got %d connections to the former primary a minute after another took over, want none", connected())
		}
	}
	together(t, 4, 5, func(ctx context.Context) error {
		secret := token.Generate()
		return s.tokens.Create(ctx, token.Token{
			ID: token.ID(secret.Reveal()), Owner: "epoxy", Hash: secret.Hash(), CreatedAt: time.Now(),
		})
	})
	if err := s.store.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	const created = 1 + 4*5
	var stored int
	if err := atPromoted.QueryRowContext(t.Context(), "SELECT count(*) FROM access_tokens").Scan(&stored); err != nil || stored != created {
		t.Errorf("got %d tokens at the new primary, error %v, want %d", stored, err, created)
	}
	if connections := connected(); connections > 0 {
		t.Errorf("got %d connections to the former primary, want none", connections)
	}
}
