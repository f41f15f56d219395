package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// TestCountedCreationsAtOnce creates twenty pastes of two clients at once on two nodes. Each client must get exactly
// its quota.
func TestCountedCreationsAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, cfg gormstore.Config) {
		nodes := []*gormstore.Pastes{gormstore.NewPastes(database.Open(t, cfg)), gormstore.NewPastes(database.Open(t, cfg))}
		quota := paste.Quota{Pastes: 5, Window: time.Hour}
		var (
			mu        sync.Mutex
			successes = make(map[paste.Client]int)
			callers   sync.WaitGroup
		)
		for i := range 20 {
			client := []paste.Client{"a", "a", "a", "b", "b"}[i%5]
			callers.Go(func() {
				created := newDocument(fmt.Sprint("paste", i), "", "code")
				_, err := nodes[i%2].CreateAllowed(t.Context(), netip.Addr{}, paste.Allowance{Rate: quota}, client, created)
				_, readErr := nodes[0].DocumentByID(t.Context(), created.ID)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && readErr == nil:
					successes[client]++
				case !fault.Is(err, fault.Exhausted) || !fault.Is(readErr, fault.NotFound):
					t.Errorf("paste %d: got %v, and %v when reading it, want it stored or refused", i, err, readErr)
				}
			})
		}
		callers.Wait()
		if successes["a"] != quota.Pastes || successes["b"] != quota.Pastes {
			t.Errorf("got %v pastes, want %d of each client", successes, quota.Pastes)
		}
	})
}

// TestClientsAreStoredAsHashes checks that only half of the salted hash of an address is stored, and that PostgreSQL
// does not send it to replicas and archives.
func TestClientsAreStoredAsHashes(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		for i := range 2 {
			created := newDocument(fmt.Sprint("paste", i), "", "code")
			allowance := paste.Allowance{Rate: paste.Quota{Pastes: 5, Window: time.Hour}}
			if _, err := s.pastes.CreateAllowed(t.Context(), netip.Addr{}, allowance, "192.0.2.1", created); err != nil {
				t.Fatal(err)
			}
		}
		inHex := "hex(%s)"
		if isPostgres(cfg) {
			inHex = "encode(%s, 'hex')"
			got := column(t, s.db, "SELECT relpersistence::text FROM pg_class WHERE relname = 'paste_quotas'")
			if !slices.Equal(got, []string{"u"}) {
				t.Errorf("got the persistence %q, want unlogged", got)
			}
		}
		salt := column(t, s.db, "SELECT "+fmt.Sprintf(inHex, "salt")+" FROM paste_quota_salt")
		if len(salt) != 1 || len(salt[0]) != 64 {
			t.Fatalf("got the salts %q, want one of 32 bytes", salt)
		}
		input, err := hex.DecodeString(salt[0])
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(append(input, "192.0.2.1"...))
		stored := column(t, s.db, "SELECT lower("+fmt.Sprintf(inHex, "client")+") FROM paste_quotas")
		if want := hex.EncodeToString(hash[:16]); !slices.Equal(stored, []string{want}) {
			t.Errorf("got %q, want %q", stored, want)
		}
	})
}

// TestQuotaAfterTheClockWasPutBack checks that after a clock was far ahead, no client is refused for that long.
func TestQuotaAfterTheClockWasPutBack(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		quota, count := paste.Quota{Pastes: 2, Window: time.Hour}, 0
		create := func() error {
			count++
			created := newDocument(fmt.Sprint("paste", count), "", "code")
			_, err := s.pastes.CreateAllowed(t.Context(), netip.Addr{}, paste.Allowance{Rate: quota}, "192.0.2.1", created)
			return err
		}
		if err := create(); err != nil {
			t.Fatal(err)
		}
		exec(t, s.db, "UPDATE paste_quotas SET full_at = '2100-01-01 00:00:00+00:00'")
		for range quota.Pastes {
			if err := create(); err != nil {
				t.Errorf("got %v, want no error within the quota", err)
			}
		}
		if err := create(); !fault.Is(err, fault.Exhausted) {
			t.Errorf("got %v, want fault.Exhausted", err)
		}
	})
}

// TestCountedCreationsBesideASweep creates pastes of a client that has its whole quota again, while the sweep forgets
// such clients. None may be refused.
func TestCountedCreationsBesideASweep(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, cfg gormstore.Config) {
		pastes, sweeper := gormstore.NewPastes(database.Open(t, cfg)), gormstore.NewPastes(database.Open(t, cfg))
		quota := paste.Quota{Pastes: 1_000_000, Window: time.Microsecond}
		done := make(chan struct{})
		var sweepLoop, callers sync.WaitGroup
		sweepLoop.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := sweeper.ForgetClients(t.Context(), 100); err != nil {
					t.Error(err)
				}
			}
		})
		for caller := range 8 {
			callers.Go(func() {
				for i := range 50 {
					document := newDocument(fmt.Sprint("paste", caller, "-", i), "", "code")
					if _, err := pastes.CreateAllowed(t.Context(), netip.Addr{}, paste.Allowance{Rate: quota}, "a",
						document); err != nil {
						t.Errorf("got %v, want no error", err)
					}
				}
			})
		}
		callers.Wait()
		close(done)
		sweepLoop.Wait()
	})
}
