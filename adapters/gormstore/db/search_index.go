package db

import (
	"context"
	"database/sql"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/search"
)

var errPreparing = fault.New(fault.Conflict,
	"Another 'gluepot search rebuild' is making the index. Try again when it has ended.")

const searchIndexLock = "hashtext('gluepot: search index')"

// PrepareSearch makes the index of searches, unless it is there. Others can write meanwhile. It fails with
// search.ErrNoIndex when the database cannot have one, and with fault.Conflict when another caller is making it.
//
// The lock is of the session that makes the index, because PostgreSQL may go on after this program was killed.
func (s *Store) PrepareSearch(ctx context.Context) error {
	switch {
	case s.cfg.RefuseWrites:
		return errRefused
	case s.pgx == nil: // SQLite's is in the schema
		return nil
	}
	conn, err := s.pools[0].Conn(ctx)
	if err != nil {
		return Translate(err)
	}
	defer conn.Close() //nolint:errcheck // it goes back to the pool
	var locked bool
	err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock("+searchIndexLock+")").Scan(&locked)
	if err != nil {
		return Translate(err)
	}
	if !locked {
		return errPreparing
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = conn.ExecContext(ctx, "SELECT pg_advisory_unlock("+searchIndexLock+")") // a broken session holds no lock
	}()
	err = makeSearchIndex(ctx, conn)
	if err != nil && diagnose(err) == noRight { // for the schema that the extension is in
		return search.ErrNoIndex
	}
	return Translate(err)
}

func makeSearchIndex(ctx context.Context, conn *sql.Conn) error {
	var valid bool
	if err := conn.QueryRowContext(ctx, postgresDialect.Searchable).Scan(&valid); err != nil || valid {
		return err
	}
	// One that was interrupted has left an index that is not valid.
	if _, err := conn.ExecContext(ctx, "DROP INDEX CONCURRENTLY IF EXISTS paste_texts_by_trigram"); err != nil {
		return err
	}
	var on sql.NullString
	if err := conn.QueryRowContext(ctx, "SELECT prepare_search()").Scan(&on); err != nil {
		return err
	}
	if !on.Valid {
		return search.ErrNoIndex
	}
	_, err := conn.ExecContext(ctx, "CREATE INDEX CONCURRENTLY paste_texts_by_trigram ON "+on.String)
	return err
}
