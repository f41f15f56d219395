package token

import (
	"time"
)

const (
	// SessionIdle is how long a session lasts from its last use.
	SessionIdle = 30 * 24 * time.Hour
	// SessionAge is how long a session lasts at most.
	SessionAge = 180 * 24 * time.Hour
	// RecentSession is how old a session may be for acts that could take over an account.
	RecentSession = time.Hour
	// MaxSessions is how many sessions a user has at most: the oldest end.
	MaxSessions = 100
)

// SignedInRecently reports whether the viewer has begun a session within the last hour.
func (v Viewer) SignedInRecently(now time.Time) bool {
	return v.SignedIn() && v.Token.Kind == Session && now.Before(v.Token.CreatedAt.Add(RecentSession))
}
