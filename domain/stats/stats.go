// Package stats is about how much of everything there is.
package stats

import "context"

// Totals is how much of everything there was at one instant.
type Totals struct {
	Users         int64
	Tokens        int64 // revoked and expired ones included
	ActivePastes  int64
	ExpiredPastes int64 // not swept yet
	WaitingStars  int64 // stars for pastes that are not stored
}

// Counter counts everything.
type Counter interface {
	// Totals returns what there is at the moment of reading. It fails with fault.Unavailable when the
	// store does not answer.
	Totals(ctx context.Context) (Totals, error)
}
