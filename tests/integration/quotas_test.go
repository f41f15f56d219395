package integration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// awaited is a context that says when somebody begins to wait for its end.
type awaited struct {
	context.Context

	begun func()
}

// Done implements context.Context.
func (a awaited) Done() <-chan struct{} {
	a.begun()
	return a.Context.Done()
}

// TestMergedCountedCreations has twenty pastes of two clients stored by two statements: each client gets its quota and no more.
func TestMergedCountedCreations(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.MaxConnections = 4 // one statement that creates at once
	store, db := database.Open(t, cfg), database.SQL(t, cfg)
	pastes := gormstore.NewPastes(store)
	quota := paste.Quota{Pastes: 5, Window: time.Hour}
	var (
		mu      sync.Mutex
		granted = make(map[paste.Client]int)
		running sync.WaitGroup
	)
	create := func(ctx context.Context, client paste.Client, i int) {
		created := newDocument(fmt.Sprint("paste", i), "", "code")
		used, err := pastes.CreateCounted(ctx, client, quota, created)
		mu.Lock()
		defer mu.Unlock()
		_, reading := pastes.DocumentByID(t.Context(), created.ID)
		switch {
		case err == nil && reading == nil && used.Left() < quota.Pastes:
			granted[client]++
		case !fault.Is(err, fault.Exhausted) || !fault.Is(reading, fault.NotFound):
			t.Errorf("paste %d: got %+v, error %v, and reading it %v, want it stored or refused", i, used, err, reading)
		}
	}
	lock := begin(t, db, "1min")
	exec(t, lock, "LOCK TABLE paste_quotas IN ACCESS EXCLUSIVE MODE")
	running.Go(func() { create(t.Context(), "a", 0) })
	waitForWaiters(t, db, 1)
	const queued = 19
	waiting := make(chan struct{}, queued)
	for i := range queued {
		once := sync.OnceFunc(func() { waiting <- struct{}{} })
		running.Go(func() { create(awaited{t.Context(), once}, []paste.Client{"a", "a", "a", "b", "b"}[i%5], i+1) })
	}
	for range queued {
		<-waiting
	}
	if err := lock.Commit(); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	if granted["a"] != quota.Pastes || granted["b"] != quota.Pastes {
		t.Errorf("got %v pastes, want %d of each client", granted, quota.Pastes)
	}
	if sizes := store.Statistics().Batches["creations"]; sizes.Statements != 2 || sizes.Lookups != 1+queued {
		t.Errorf("got %d statements for %d pastes, want 2 for %d", sizes.Statements, sizes.Lookups, 1+queued)
	}
}

// TestClientsAreStoredAsHashes wants half of the salted hash of an address to be all that is stored of it, and none of it in
// what PostgreSQL sends to replicas and archives.
func TestClientsAreStoredAsHashes(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		for i := range 2 {
			created := newDocument(fmt.Sprint("paste", i), "", "code")
			if _, err := s.pastes.CreateCounted(t.Context(), "192.0.2.1", paste.Quota{Pastes: 5, Window: time.Hour}, created); err != nil {
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
		salted, err := hex.DecodeString(salt[0])
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(append(salted, "192.0.2.1"...))
		stored := column(t, s.db, "SELECT lower("+fmt.Sprintf(inHex, "client")+") FROM paste_quotas")
		if want := hex.EncodeToString(hash[:16]); !slices.Equal(stored, []string{want}) {
			t.Errorf("got %q, want %q", stored, want)
		}
	})
}

// TestQuotaAfterTheClockWasPutBack wants nobody to be refused for as long as a clock was wrong.
func TestQuotaAfterTheClockWasPutBack(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		quota, stored := paste.Quota{Pastes: 2, Window: time.Hour}, 0
		create := func() (paste.Usage, error) {
			stored++
			return s.pastes.CreateCounted(t.Context(), "192.0.2.1", quota, newDocument(fmt.Sprint("paste", stored), "", "code"))
		}
		if _, err := create(); err != nil {
			t.Fatal(err)
		}
		exec(t, s.db, "UPDATE paste_quotas SET full_at = '2100-01-01 00:00:00+00:00'")
		for left := quota.Pastes - 1; left >= 0; left-- {
			if used, err := create(); err != nil || used.Left() != left || used.Full > quota.Window {
				t.Errorf("got %+v, error %v, want %d left", used, err, left)
			}
		}
		if used, err := create(); !fault.Is(err, fault.Exhausted) {
			t.Errorf("got %+v, error %v, want it refused", used, err)
		}
	})
}
