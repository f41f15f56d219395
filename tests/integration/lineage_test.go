package integration

import (
	"context"
	"database/sql"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
)

// TestTwoPrimaries promotes a replica while its primary goes on, which a store is connected to: it leaves the former one for the new
// one, and does not come back.
func TestTwoPrimaries(t *testing.T) {
	t.Parallel()
	former, replica, cfg := twoHosts(t)
	s := openService(t, cfg)

	atPromoted, atFormer := database.SQL(t, at(cfg, replica.URL)), database.SQL(t, former)
	promote(t, replica, atPromoted)
	connected := func() (count int) {
		if err := atFormer.QueryRowContext(t.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'gluepot'").Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	eventually(t, "no connection to the former primary", func() bool { return connected() == 0 })
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

// TestWritesAfterAPromotion has several nodes leave a former primary that goes on: what one of them has written to the new one, none
// misses, because it still reads from the former.
func TestWritesAfterAPromotion(t *testing.T) {
	t.Parallel()
	const nodes = 4
	_, replica, cfg := twoHosts(t)
	tokens := []*gormstore.Tokens{openService(t, cfg).tokens}
	for len(tokens) < nodes { // that do not ask at the same moments
		time.Sleep(100 * time.Millisecond)
		tokens = append(tokens, gormstore.NewTokens(database.Open(t, cfg)))
	}
	atPromoted := database.SQL(t, at(cfg, replica.URL))
	promote(t, replica, atPromoted)
	var written token.Secret
	for deadline, n := time.Now().Add(time.Minute), 0; ; n++ {
		if time.Now().After(deadline) {
			t.Fatal("got no write at the new primary within a minute, want one")
		}
		written = token.Generate()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := tokens[n%nodes].Create(ctx, token.Token{
			ID: token.ID(written.Reveal()), Owner: "epoxy", Hash: written.Hash(), CreatedAt: time.Now(),
		})
		cancel()
		var there int
		if err == nil {
			err = atPromoted.QueryRowContext(t.Context(), "SELECT count(*) FROM access_tokens WHERE id = $1", written.Reveal()).Scan(&there)
		}
		if err == nil && there > 0 {
			break
		}
	}
	for n, node := range tokens {
		ctx, cancel := context.WithTimeout(t.Context(), requestTime)
		if _, err := node.ByHash(ctx, written.Hash()); fault.Is(err, fault.NotFound) {
			t.Errorf("node %d: got %v for what another has stored, want it", n, err)
		}
		cancel()
	}
}

// TestStartBesideTwoPrimaries opens a store while a former primary, which is the first in the URL, goes on: what it stores at once, as a
// command does, is stored in the new one.
func TestStartBesideTwoPrimaries(t *testing.T) {
	t.Parallel()
	former, replica, cfg := twoHosts(t)
	replica.Promote(t)
	openService(t, cfg) // which creates a user
	for name, server := range map[string]struct {
		cfg  gormstore.Config
		want int
	}{"former": {former, 0}, "new": {at(cfg, replica.URL), 1}} {
		var stored int
		if err := database.SQL(t, server.cfg).QueryRowContext(t.Context(), "SELECT count(*) FROM users").Scan(&stored); err != nil ||
			stored != server.want {
			t.Errorf("got %d users at the %s primary, error %v, want %d", stored, name, err, server.want)
		}
	}
}

// TestSeveralHostsWithoutAttributes has a URL of several hosts, of which the first is a replica, not say what kind of server is wanted: it
// is the database's, so that what decides something is read from its primary.
func TestSeveralHostsWithoutAttributes(t *testing.T) {
	t.Parallel()
	_, replica, cfg := twoHosts(t)
	hosts, err := url.Parse(string(cfg.URL))
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(hosts.Host, ",")
	query := hosts.Query()
	query.Del("target_session_attrs")
	hosts.Host, hosts.RawQuery = second+","+first, query.Encode()
	store := database.Open(t, at(cfg, gormstore.URL(hosts.String())))
	replica.Pause(t)
	s := openService(t, cfg) // which stores
	if _, err := gormstore.NewTokens(store).ByHash(t.Context(), s.hash); err != nil {
		t.Errorf("got %v, want the token that another node has just stored", err)
	}
	if _, err := gormstore.NewUsers(store).Delete(t.Context(), s.name); err != nil {
		t.Errorf("got %v, want no user any more", err)
	}
}

// twoHosts starts a primary and a replica, and returns how the first is connected to, and both.
func twoHosts(t *testing.T) (primary gormstore.Config, replica *database.Replica, both gormstore.Config) {
	t.Helper()
	replication := database.Replicate(t, 1)
	primary, replica = replication.Primary, replication.Replicas[0]
	second, err := url.Parse(string(replica.URL))
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := url.Parse(string(primary.URL))
	if err != nil {
		t.Fatal(err)
	}
	hosts.Host += "," + second.Host
	query := hosts.Query()
	query.Set("target_session_attrs", "read-write")
	hosts.RawQuery = query.Encode()
	return primary, replica, at(primary, gormstore.URL(hosts.String()))
}

// promote makes a replica a primary once it has the fixture.
func promote(t *testing.T, replica *database.Replica, there *sql.DB) {
	t.Helper()
	eventually(t, "the token at the replica", func() bool {
		var tokens int
		if err := there.QueryRowContext(t.Context(), "SELECT count(*) FROM access_tokens").Scan(&tokens); err != nil {
			t.Fatal(err)
		}
		return tokens > 0
	})
	replica.Promote(t)
}

// at returns a configuration of another server.
func at(cfg gormstore.Config, url gormstore.URL) gormstore.Config {
	cfg.URL = url
	return cfg
}
