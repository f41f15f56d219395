// Package stats has the use case that counts what an installation stores.
package stats

import (
	"context"
	"sync/atomic"

	"github.com/gluepot/gluepot/domain/stats"
)

// UseCases is what can be asked about the installation as a whole.
type UseCases struct {
	Sum *Sum
}

// New returns the use cases over their ports.
func New(counter stats.Counter) *UseCases { return &UseCases{Sum: &Sum{counter: counter}} }

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
