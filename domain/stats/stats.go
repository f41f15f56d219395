// Package stats is about how much of everything there is.
package stats

import (
	"context"
	"time"
)

// Totals counts everything at one instant.
type Totals struct {
	Counts
	Bytes

	OpenReports int64 // of pastes that their readers can still see

	Largest []Holder // the users with most bytes of content and history, at most MostHolders
	Days    []Day    // today in UTC first, then the days before, MostDays in all
}

// How long the lists of Totals are.
const (
	MostHolders = 10
	MostDays    = 30
)

// Bytes are the sizes of what is stored.
type Bytes struct {
	ContentBytes  int64 // of all pastes, expired ones included
	HistoryBytes  int64 // likewise
	DatabaseBytes int64 // on disk
}

// Holder is a user with the size of the user's pastes, expired ones included.
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
	Tokens        int64 // revoked and expired ones included, sessions not
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
