// Package stats has the use case that sums an installation up.
package stats

import (
	"context"

	"github.com/gluepot/gluepot/domain/stats"
)

// Sum counts everything.
type Sum struct{ counter stats.Counter }

// NewSum returns the use case.
func NewSum(counter stats.Counter) *Sum { return &Sum{counter: counter} }

// Do returns the totals, all of which were true at one instant. It fails with fault.Unavailable when the
// store does not answer.
func (s *Sum) Do(ctx context.Context) (stats.Totals, error) { return s.counter.Totals(ctx) }
