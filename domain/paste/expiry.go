package paste

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Lifetime is how long a paste lives, as clients of PasteMyst spell it. Imported pastes can have any text.
type Lifetime string

// Never is the lifetime of a paste that does not expire.
const Never Lifetime = "never"

// Durations in seconds. As in PasteMyst, a year has 365.25 days.
const (
	hour  = 60 * 60
	day   = 24 * hour
	month = 2_629_800
	year  = 12 * month
)

// lifetimes lists all but Never, shortest first.
var lifetimes = [...]struct {
	lifetime Lifetime
	seconds  int64
	name     string // in lower case, for ExpiryUnix
}{
	{"1h", hour, "onehour"},
	{"2h", 2 * hour, "twohours"},
	{"10h", 10 * hour, "tenhours"},
	{"1d", day, "oneday"},
	{"2d", 2 * day, "twodays"},
	{"1w", 7 * day, "oneweek"},
	{"1m", month, "onemonth"},
	{"1y", year, "oneyear"},
}

var errLifetime = invalid("expiresIn", "it must be one of never, 1h, 2h, 10h, 1d, 2d, 1w, 1m and 1y.")

// ParseLifetime parses a lifetime, whose spelling must match exactly. It fails with a fault.Invalid.
func ParseLifetime(text string) (Lifetime, error) {
	if _, ok := Lifetime(text).seconds(); !ok {
		return "", errLifetime
	}
	return Lifetime(text), nil
}

// seconds returns how long the lifetime is, 0 for Never.
func (l Lifetime) seconds() (seconds int64, ok bool) {
	if l == Never {
		return 0, true
	}
	for _, ok := range lifetimes {
		if ok.lifetime == l {
			return ok.seconds, true
		}
	}
	return 0, false
}

// End returns when a paste with that time of creation expires: a whole second, or the zero time for never.
func (l Lifetime) End(created time.Time) time.Time {
	seconds, _ := l.seconds()
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(created.Unix()+seconds, 0).UTC()
}

var errCreatedAt = invalid("createdAt",
	"it must be a time in whole seconds since 1970, not negative and not too large.")

// ExpiryUnix returns when a paste with that time of creation expires, both in seconds since 1970; 0 is never. expiresIn
// is a lifetime, or a name that one client of PasteMyst sends, ignoring case: OneHour, TwoHours and so on. It fails
// with a fault.Invalid that names the parameter that is missing or wrong, or too large for a result of 64 bits.
func ExpiryUnix(createdAt, expiresIn string) (int64, error) {
	start, err := strconv.ParseUint(createdAt, 10, 63)
	if err != nil {
		return 0, errCreatedAt
	}
	folded := strings.ToLower(expiresIn)
	if folded == string(Never) {
		return 0, nil
	}
	for _, l := range lifetimes {
		if l.name != folded && string(l.lifetime) != expiresIn {
			continue
		}
		if start > math.MaxInt64-uint64(l.seconds) {
			return 0, errCreatedAt
		}
		return int64(start) + l.seconds, nil
	}
	return 0, errLifetime
}

// DeletesAt returns when the paste expires, in seconds since 1970; 0 is never.
func (p Paste) DeletesAt() int64 {
	if p.ExpiresAt.IsZero() {
		return 0
	}
	return p.ExpiresAt.Unix()
}

// ExpiresIn returns the lifetime to show to clients: the requested one or, if an import has none, the one closest to
// the time between creation and expiry.
func (d Document) ExpiresIn() Lifetime {
	if d.Lifetime != "" {
		return d.Lifetime
	}
	if d.ExpiresAt.IsZero() {
		return Never
	}
	var nearest Lifetime
	smallest, duration := int64(math.MaxInt64), d.ExpiresAt.Unix()-d.CreatedAt.Unix()
	for _, l := range lifetimes {
		if distance := max(l.seconds-duration, duration-l.seconds); distance < smallest {
			smallest, nearest = distance, l.lifetime
		}
	}
	return nearest
}

// Lifetimes bound how long new pastes live. The zero value sets no bound.
type Lifetimes struct {
	Default Lifetime // of a paste whose request has none
	Longest Lifetime
}

// Within fills empty lifetimes from others, which also bound them: the longest is at most theirs, and an empty default
// becomes theirs, or the longest if that is shorter. It fails when a lifetime is unknown or too long.
func (l Lifetimes) Within(others Lifetimes) (Lifetimes, error) {
	for _, lifetime := range []Lifetime{l.Default, l.Longest} {
		if _, ok := lifetime.seconds(); lifetime != "" && !ok {
			return Lifetimes{}, fmt.Errorf("%q is not one of never, 1h, 2h, 10h, 1d, 2d, 1w, 1m and 1y", string(lifetime))
		}
	}
	outer := cmp.Or(others.Longest, Never)
	longest := cmp.Or(l.Longest, outer)
	if longest.length() > outer.length() {
		return Lifetimes{}, fmt.Errorf("the longest lifetime is %s, but that of all pastes is %s: choose a shorter one",
			longest, outer)
	}
	if l.Default.length() > longest.length() && l.Default != "" {
		return Lifetimes{}, fmt.Errorf("the default lifetime %s is longer than the longest, %s", l.Default, longest)
	}
	bound := Lifetimes{Longest: longest}
	bound.Default = cmp.Or(l.Default, others.Default, longest)
	if !bound.Allows(bound.Default) {
		bound.Default = longest
	}
	return bound, nil
}

// length orders lifetimes. Never and the empty lifetime, which sets no bound, are the longest.
func (l Lifetime) length() int64 {
	if seconds, _ := l.seconds(); seconds > 0 {
		return seconds
	}
	return math.MaxInt64
}

// Allows reports whether a paste may live that long.
func (l Lifetimes) Allows(lifetime Lifetime) bool { return lifetime.length() <= l.Longest.length() }

// Bound returns the lifetime of a new paste: the default for nil, and at most the longest. It returns an invalid
// lifetime as it is.
func (l Lifetimes) Bound(choice *string) *string {
	bound := string(l.Default)
	if choice != nil {
		lifetime, err := ParseLifetime(*choice)
		if err != nil || l.Allows(lifetime) {
			return choice
		}
		bound = string(l.Longest)
	}
	if bound == "" {
		return nil
	}
	return &bound
}
