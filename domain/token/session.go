package token

import (
	"time"
)

const (
	// SessionIdle is how long a session lasts after its last use.
	SessionIdle = 30 * 24 * time.Hour
	// SessionAge is how long a session lasts at most.
	SessionAge = 180 * 24 * time.Hour
	// RecentSession is the maximum age of a session for acts that could take over an account.
	RecentSession = time.Hour
	// MaxSessions is the maximum number of a user's sessions. Beyond it, the oldest end.
	MaxSessions = 100
)

// SignedInRecently reports whether the viewer's session began within RecentSession.
func (v Viewer) SignedInRecently(now time.Time) bool {
	return v.SignedIn() && v.Token.Kind == Session && now.Before(v.Token.CreatedAt.Add(RecentSession))
}
