package gormstore

import (
	"context"

	"github.com/gluepot/gluepot/domain/stats"
)

// Stats counts everything.
type Stats struct{ store *Store }

// NewStats returns the statistics of a store.
func NewStats(store *Store) *Stats { return &Stats{store: store} }

var _ stats.Counter = (*Stats)(nil)

// Totals implements stats.Counter. One statement sees everything at one instant. Its time grows with the number of users, tokens
// and stars on both databases, and with that of pastes on SQLite: it is for operators, not for requests.
func (s *Stats) Totals(ctx context.Context) (stats.Totals, error) {
	leave, err := enter(ctx, s.store.sql.bulk)
	if err != nil {
		return stats.Totals{}, err
	}
	defer leave()
	var (
		t      stats.Totals
		stored int64
	)
	fields := []any{&t.Users, &t.Tokens, &stored, &t.ExpiredPastes, &t.WaitingStars}
	if err := s.store.queryRow(ctx, fromPrimary, s.store.queries.totals, fields, s.store.timed()...); err != nil {
		return stats.Totals{}, err
	}
	t.ActivePastes = stored - t.ExpiredPastes
	return t, nil
}
