package db

import (
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/model"
)

// Clock returns the time by the process's clock.
func (s *Store) Clock() time.Time { return s.cfg.Clock() }

// Now returns an argument of statements: the time at which they run, which decides what has expired. It is PostgreSQL's
// clock, and on SQLite Clock.
func (s *Store) Now() any {
	if s.dialect.clock == "" {
		return model.Instant(s.Clock())
	}
	return gorm.Expr(s.dialect.clock)
}

// Ago is Now for the time d ago.
func (s *Store) Ago(d time.Duration) any {
	if s.dialect.clock == "" {
		return model.Instant(s.Clock().Add(-d))
	}
	return gorm.Expr(s.dialect.clock+" - make_interval(secs => ?)", d.Seconds())
}

// Time reads the clock of Now.
func (s *Store) Time(tx *gorm.DB) (now time.Time, err error) {
	if s.dialect.clock == "" {
		return model.Instant(s.Clock()), nil
	}
	err = tx.Raw("SELECT ?", s.Now()).Row().Scan(&now)
	return model.Instant(now), err
}
