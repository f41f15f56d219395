package gormstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// TestPragmas asks every connection of the pool: a pragma in the wrong place reaches only one of them.
func TestPragmas(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.URL = URL("sqlite://" + filepath.Join(t.TempDir(), "odd name?#%20.db"))
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // nothing was written
	if err := store.Create(); err != nil {
		t.Fatal(err)
	}
	if err := store.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range maxSQLiteConnections {
		conn, err := store.sql.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // they must all be open at once
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "0"} {
			var got string
			if err := conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, want %q (error %v)", pragma, got, want, err)
			}
		}
	}
	if got := store.sql.Stats().OpenConnections; got != maxSQLiteConnections {
		t.Errorf("got %d connections, want %d", got, maxSQLiteConnections)
	}
}

// TestSQLiteWithoutRoom fills a database to its greatest size, which SQLite reports as it does a full disk.
func TestSQLiteWithoutRoom(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.URL, cfg.MaxConnections, cfg.ConnectTimeout = URL("sqlite://"+filepath.Join(t.TempDir(), "small.db")), 1, time.Minute
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // the test has ended
	if err := errors.Join(store.Create(), store.Connect(t.Context()), store.Migrate(t.Context())); err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := store.sql.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := store.sql.ExecContext(t.Context(), fmt.Sprint("PRAGMA max_page_count = ", pages+1)); err != nil {
		t.Fatal(err)
	}
	pastes := NewPastes(store)
	batch := make([]paste.Document, 1000)
	for i := range batch {
		batch[i].Paste = paste.Paste{ID: paste.ID(fmt.Sprint("one of many pastes ", i)), CreatedAt: time.Now()}
	}
	started := time.Now()
	_, err = pastes.Import(t.Context(), batch, paste.RefuseOrphans)
	if !fault.Is(err, fault.Unavailable) || fault.MessageOf(err) != messageNoRoom {
		t.Errorf("got %v, want %q", err, messageNoRoom)
	}
	if took := time.Since(started); took > cfg.ConnectTimeout/2 {
		t.Errorf("got it after %v, want it without waiting for the limit of %v", took, cfg.ConnectTimeout)
	}
	if err := pastes.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: "small", CreatedAt: time.Now()}}); err != nil {
		t.Errorf("what has room after that: got %v, want no error", err)
	}
}

func TestNoRoomIsNamed(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{
		syscall.ENOSPC, &fs.PathError{Op: "mkdir", Path: "data", Err: syscall.EDQUOT}, &pgconn.PgError{Code: "53100"},
	} {
		if err := translate(fmt.Errorf("writing: %w", cause)); !fault.Is(err, fault.Unavailable) || fault.MessageOf(err) != messageNoRoom {
			t.Errorf("%v: got %v, want %q", cause, err, messageNoRoom)
		}
	}
	for code, want := range map[string]string{
		"53300": messageCrowded, "57P03": messageStarting, "57014": messageUnavailable, "42703": messageOutdated,
		"42501": messageNoRight, "3F000": messageNoSchema,
	} {
		err := translate(&pgconn.PgError{Code: code})
		if !fault.Is(err, fault.Unavailable) || fault.MessageOf(err) != want {
			t.Errorf("%s: got %v, want %q", code, err, want)
		}
	}
}
