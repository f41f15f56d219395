// Package stats has the use case that sums an installation up.
package stats

import (
	"context"

	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/trace"
)

// UseCases is what can be asked about the installation as a whole.
type UseCases struct {
	Sum *Sum
}

// New returns the use cases over their ports.
func New(counter stats.Counter) *UseCases { return &UseCases{Sum: &Sum{counter: counter}} }

// Sum counts everything.
type Sum struct{ counter stats.Counter }

// Do returns the totals, all of which were true at one instant. It fails with fault.Unavailable when the
// store does not answer.
func (s *Sum) Do(ctx context.Context) (_ stats.Totals, err error) {
	ctx, end := trace.Start(ctx, "stats.Sum")
	defer func() { end(err) }()
	return s.counter.Totals(ctx)
}
