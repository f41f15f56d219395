package paste

import (
	"cmp"
	"fmt"
	"math"
)

// Lifetimes bound how long new pastes live. The zero value is no bound.
type Lifetimes struct {
	Default Lifetime // of a paste that asks for none
	Longest Lifetime
}

// Within fills empty lifetimes from others, which also bound them: the longest is at most theirs, and an unset default is
// theirs as far as the longest allows. It fails when a lifetime is unknown or too long.
func (l Lifetimes) Within(others Lifetimes) (Lifetimes, error) {
	for _, lifetime := range []Lifetime{l.Default, l.Longest} {
		if _, known := lifetime.seconds(); lifetime != "" && !known {
			return Lifetimes{}, fmt.Errorf("%q is not one of never, 1h, 2h, 10h, 1d, 2d, 1w, 1m and 1y", string(lifetime))
		}
	}
	outer := cmp.Or(others.Longest, Never)
	longest := cmp.Or(l.Longest, outer)
	if longest.length() > outer.length() {
		return Lifetimes{}, fmt.Errorf("the longest lifetime is %s, but that of all pastes is %s: choose a shorter one", longest, outer)
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

// length orders lifetimes: Never, and the empty one, which is no bound, are the longest.
func (l Lifetime) length() int64 {
	if seconds, _ := l.seconds(); seconds > 0 {
		return seconds
	}
	return math.MaxInt64
}

// Allows reports whether a paste may live that long.
func (l Lifetimes) Allows(wanted Lifetime) bool { return wanted.length() <= l.Longest.length() }

// Bound returns the lifetime of a paste that asks for one, or for none with nil. It is cut to the longest; an invalid one is
// returned as it is.
func (l Lifetimes) Bound(wanted *string) *string {
	bound := string(l.Default)
	if wanted != nil {
		lifetime, err := ParseLifetime(*wanted)
		if err != nil || l.Allows(lifetime) {
			return wanted
		}
		bound = string(l.Longest)
	}
	if bound == "" {
		return nil
	}
	return &bound
}
