// Package stats has the use case that sums an installation up.
package stats

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Totals is how much of everything there is.
type Totals struct {
	Users         int64
	Tokens        int64 // revoked and expired ones included
	ActivePastes  int64
	ExpiredPastes int64 // not swept yet
	WaitingStars  int64 // stars for pastes that are not stored
}

// Sum counts everything.
type Sum struct {
	users  user.Counter
	tokens token.Counter
	pastes paste.Counter
	totals paste.Totals
	now    func() time.Time
}

// NewSum returns the use case.
func NewSum(users user.Counter, tokens token.Counter, pastes paste.Counter, totals paste.Totals, now func() time.Time) *Sum {
	return &Sum{users: users, tokens: tokens, pastes: pastes, totals: totals, now: now}
}

// Do returns the totals, with both counts of pastes judged at the same instant. It fails with
// fault.Unavailable when the store does not answer.
func (s *Sum) Do(ctx context.Context) (t Totals, err error) {
	now := s.now()
	if t.Users, err = s.users.Count(ctx); err != nil {
		return Totals{}, err
	}
	if t.Tokens, err = s.tokens.Count(ctx); err != nil {
		return Totals{}, err
	}
	if t.ActivePastes, err = s.pastes.ActiveCount(ctx, now); err != nil {
		return Totals{}, err
	}
	if t.ExpiredPastes, err = s.totals.ExpiredCount(ctx, now); err != nil {
		return Totals{}, err
	}
	if t.WaitingStars, err = s.totals.WaitingStars(ctx); err != nil {
		return Totals{}, err
	}
	return t, nil
}
