package integration

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/tests/database"
)

// TestWriteTogether lets a change fail in the middle, at its end, and after a read, in each mode of pgx. Either all of
// it must be stored, or nothing.
func TestWriteTogether(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			cfg := database.Postgres(t)
			db := database.SQL(t, cfg)
			exec(t, db, "CREATE TABLE one (id int PRIMARY KEY, other int REFERENCES one DEFERRABLE INITIALLY DEFERRED)")
			cfg = database.WithParameter(t, cfg, "default_query_exec_mode", mode)
			store := database.Open(t, cfg)
			insert := func(tx *gorm.DB, id, other any) error {
				return tx.Exec("INSERT INTO one VALUES (?, ?)", id, other).Error
			}
			for range 2 { // the second time the statements may be prepared
				for what, change := range map[string]func(tx *gorm.DB) error{
					"a duplicate in the middle": func(tx *gorm.DB) error {
						return errors.Join(insert(tx, 1, nil), insert(tx, 1, nil), insert(tx, 2, nil))
					},
					"an unknown table": func(tx *gorm.DB) error {
						return errors.Join(insert(tx, 1, nil), tx.Exec("INSERT INTO nothing VALUES (1)").Error)
					},
					"a constraint that is checked at the end": func(tx *gorm.DB) error { return insert(tx, 1, 99) },
					"the caller": func(tx *gorm.DB) error {
						return errors.Join(insert(tx, 1, nil), errors.New("no"))
					},
					"after a read": func(tx *gorm.DB) error {
						var count int64
						return errors.Join(insert(tx, 1, nil), tx.Table("one").Count(&count).Error, insert(tx, 2, nil),
							insert(tx, 2, nil))
					},
				} {
					err := store.WriteTogether(t.Context(), change)
					if ids := column(t, db, "SELECT id FROM one"); err == nil || len(ids) != 0 {
						t.Errorf("%s: got the rows %v, error %v, want none and an error", what, ids, err)
					}
				}
			}
			if err := store.WriteTogether(t.Context(), func(tx *gorm.DB) error { return insert(tx, 1, 1) }); err != nil {
				t.Errorf("got %v, want no error", err)
			}
			if ids := column(t, db, "SELECT id FROM one"); len(ids) != 1 {
				t.Errorf("got the rows %v, want one", ids)
			}
		})
	}
}
