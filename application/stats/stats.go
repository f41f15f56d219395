// Package stats has the use case that counts what an installation stores.
package stats

import (
	"context"
	"sync/atomic"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/stats"
)

// UseCases is what can be asked about the installation as a whole.
type UseCases struct {
	Sum  *Sum
	Show *Show
}

// New returns the use cases over their ports.
func New(counter stats.Counter) *UseCases {
	sum := &Sum{counter: counter}
	return &UseCases{Sum: sum, Show: &Show{sum}}
}

// Sum counts everything.
type Sum struct {
	counter stats.Counter
	last    atomic.Pointer[stats.Totals]
}

// Do returns the totals of one instant. It fails with fault.Unavailable when the
// store does not answer.
func (s *Sum) Do(ctx context.Context) (stats.Totals, error) {
	totals, err := s.counter.Totals(ctx)
	if err == nil {
		s.last.Store(&totals)
	}
	return totals, err
}

// Last returns what Do returned last, or zero totals.
func (s *Sum) Last() stats.Totals {
	if last := s.last.Load(); last != nil {
		return *last
	}
	return stats.Totals{}
}

// Show shows administrators what Sum counts.
type Show struct{ sum *Sum }

// Do is Sum.Do for the operator and administrators. It fails with fault.Forbidden for others.
func (s *Show) Do(ctx context.Context, actor audit.Actor) (stats.Totals, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return stats.Totals{}, err
	}
	return s.sum.Do(ctx)
}
