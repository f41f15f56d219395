package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

// given returns the value of a flag, or nil if the command line does not have it.
func given[T any](cmd *cobra.Command, flag string, value *T) *T {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return value
}

// lifetime is a flag's value: a Go duration, or whole days (d) or weeks (w).
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

// instantOf reads a time, or an age such as 24h.
func instantOf(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	var ago lifetime
	if ago.Set(text) == nil {
		return now.Add(-time.Duration(ago)), nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, Usage("--%s is %s: write a time such as 24h, 7d, 2024-02-29 or 2024-02-29T12:30:00Z", flag, Quote(text))
}

// size is a flag for a number of bytes.
type size int64

func (s *size) Type() string { return "size" }

func (s *size) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

func (s *size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 || strings.Contains(text, ",") { // ParseBytes skips commas
		return errors.New("write a size such as 500kB, 1MB or 1MiB")
	}
	*s = size(n)
	return nil
}

// visibilityFlags say who may read a paste; at most one may be given.
type visibilityFlags struct{ private, public, unlisted bool }

func (v *visibilityFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.private, "private", false, "only its owner may read it")
	cmd.Flags().BoolVar(&v.public, "public", false, "it is shown on its owner's profile")
}

func (v *visibilityFlags) check() error {
	given := 0
	for _, flag := range []bool{v.private, v.public, v.unlisted} {
		if flag {
			given++
		}
	}
	if given > 1 {
		return Usage("a paste is either private, public or unlisted: choose one")
	}
	return nil
}
