package db

import (
	"context"
	"database/sql"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/search"
)

var errPreparing = fault.New(fault.Conflict,
	"Another 'gluepot search rebuild' is building the index. Try again when it has finished.")

const searchIndexLock = "hashtext('gluepot: search index')"

// PrepareSearch creates the search index unless it exists. Others can write at the same time. It fails with
// search.ErrNoIndex when the database cannot have the index, and with fault.Conflict when another caller is creating
// it.
//
// The lock belongs to the session that creates the index, because PostgreSQL may go on after this program is killed.
func (s *Store) PrepareSearch(ctx context.Context) error {
	switch {
	case s.cfg.RefuseWrites:
		return errReadOnly
	case s.pgx == nil: // SQLite's index is in the schema
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
	err = createSearchIndex(ctx, conn)
	if err != nil && diagnose(err) == errNoPrivilege { // for the schema that the extension is in
		return search.ErrNoIndex
	}
	return Translate(err)
}

func createSearchIndex(ctx context.Context, conn *sql.Conn) error {
	var valid bool
	if err := conn.QueryRowContext(ctx, postgresDialect.Searchable).Scan(&valid); err != nil || valid {
		return err
	}
	// An interrupted call has left an invalid index.
	if _, err := conn.ExecContext(ctx, "DROP INDEX CONCURRENTLY IF EXISTS paste_texts_by_trigram"); err != nil {
		return err
	}
	var columns sql.NullString
	if err := conn.QueryRowContext(ctx, "SELECT prepare_search()").Scan(&columns); err != nil {
		return err
	}
	if !columns.Valid {
		return search.ErrNoIndex
	}
	_, err := conn.ExecContext(ctx, "CREATE INDEX CONCURRENTLY paste_texts_by_trigram ON "+columns.String)
	return err
}
