package limit

import (
	"net/http"
	"strconv"
	"time"
)

// Use is how much of a limit a client has used.
type Use struct {
	Name   string // in the header fields
	Quota  int    // in Window
	Window time.Duration
	Left   int
	Full   time.Duration // until the whole quota is available again
}

// Tell adds the use to the RateLimit-Policy and RateLimit header fields (draft-ietf-httpapi-ratelimit-headers). The
// zero Use adds nothing.
func (u Use) Tell(header http.Header) {
	if u.Quota == 0 {
		return
	}
	name := strconv.Quote(u.Name)
	add(header, "Ratelimit-Policy", name+";q="+strconv.Itoa(u.Quota)+";w="+Seconds(u.Window)) // as net/http spells them
	add(header, "Ratelimit", name+";r="+strconv.Itoa(u.Left)+";t="+Seconds(u.Full))
}

// add appends an item to a header field that is a list.
func add(header http.Header, field, item string) {
	if others := header[field]; len(others) > 0 {
		item = others[0] + ", " + item
	}
	header[field] = []string{item}
}

// Seconds returns a duration in whole seconds, rounded up, so that a client waits long enough.
func Seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
