// Package stats counts what an installation stores.
package stats

import (
	"context"
	"time"
)

// Totals counts everything at one instant.
type Totals struct {
	Counts
	Bytes

	OpenReports int64 // of pastes that readers can still see

	Largest []Holder // at most MostHolders users with the largest content and history
	Days    []Day    // MostDays days in UTC, today first
}

// How long the lists of Totals are.
const (
	MostHolders = 10
	MostDays    = 30
)

// Bytes are the sizes of what is stored.
type Bytes struct {
	ContentBytes  int64 // of all pastes, including expired ones
	HistoryBytes  int64 // of all pastes, including expired ones
	DatabaseBytes int64 // on disk
}

// Holder is a user with the number and size of the user's pastes, including expired ones.
type Holder struct {
	Username      string
	Pastes, Bytes int64
}

// Day is how many of the stored pastes were created on a day.
type Day struct {
	Begin  time.Time // in UTC
	Pastes int64
}

// Counts are numbers of rows.
type Counts struct {
	Users         int64
	Tokens        int64 // including revoked and expired ones, without sessions
	ActivePastes  int64
	ExpiredPastes int64 // not swept yet
	WaitingStars  int64 // stars for pastes that are not stored
}

// Counter counts everything.
type Counter interface {
	// Totals returns the totals at the moment of reading. It fails with fault.Unavailable when the store does not answer.
	Totals(ctx context.Context) (Totals, error)
}
