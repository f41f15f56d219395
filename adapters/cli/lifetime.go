package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// lifetime is a flag for how long something lives: Go's durations, and whole days (d) and weeks (w).
type lifetime time.Duration

func (l *lifetime) String() string {
	if *l == 0 {
		return ""
	}
	return time.Duration(*l).String()
}

func (l *lifetime) Type() string { return "duration" }

func (l *lifetime) Set(text string) error {
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if count, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseUint(count, 10, 16)
			if err != nil || n == 0 || n > uint64(math.MaxInt64/unit) { // 65535 weeks are more than a duration holds
				return errLifetime
			}
			*l = lifetime(time.Duration(n) * unit)
			return nil
		}
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 {
		return errLifetime
	}
	*l = lifetime(parsed)
	return nil
}

var errLifetime = errors.New("write a time such as 30m, 12h, 90d or 2w")
