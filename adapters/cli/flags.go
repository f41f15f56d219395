package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gluepot/gluepot/domain/moderation"
)

// The errors of flags' values say what the flag takes.
var (
	errTime    = errors.New("a time such as 30m, 12h, 90d or 2w")
	errInstant = errors.New("a time such as 24h, 7d, 2024-02-29 or 2024-02-29T12:30:00Z")
	errSize    = errors.New("a size such as 500kB, 1MB or 1MiB")
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

func (l *lifetime) Type() string { return "time" }

func (l *lifetime) Set(text string) error {
	for suffix, unit := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if count, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseUint(count, 10, 16)
			if err != nil || n == 0 || n > uint64(math.MaxInt64/unit) { // 65535 weeks are more than a duration holds
				return errTime
			}
			*l = lifetime(time.Duration(n) * unit)
			return nil
		}
	}
	parsed, err := time.ParseDuration(text)
	if err != nil || parsed <= 0 {
		return errTime
	}
	*l = lifetime(parsed)
	return nil
}

// instant is a flag's value: a time, or an age such as 24h.
type instant time.Time

func (i *instant) Type() string { return "time" }

func (i *instant) String() string {
	if time.Time(*i).IsZero() {
		return ""
	}
	return time.Time(*i).String()
}

func (i *instant) Set(text string) error {
	var ago lifetime
	if ago.Set(text) == nil {
		*i = instant(time.Now().Add(-time.Duration(ago)))
		return nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			*i = instant(at)
			return nil
		}
	}
	return errInstant
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
		return errSize
	}
	*s = size(n)
	return nil
}

// reason is a flag for the audit log's reason.
type reason string

func (r *reason) Type() string   { return "reason" }
func (r *reason) String() string { return string(*r) }

func (r *reason) Set(text string) error {
	if moderation.ValidateReason(text) != nil {
		return fmt.Errorf("one line of at most %d bytes", moderation.MaxReason)
	}
	*r = reason(text)
	return nil
}

// add adds the flag, which must be given.
func (r *reason) add(cmd *cobra.Command) {
	cmd.Flags().Var(r, "reason", "why, for the audit log")
	_ = cmd.MarkFlagRequired("reason") // never fails: the flag is there
}

// choice is a flag for one of several words.
type choice struct {
	chosen string
	words  []string
}

func (c *choice) Type() string   { return "choice" }
func (c *choice) String() string { return c.chosen }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		return errors.New(strings.Join(c.words, " or "))
	}
	c.chosen = text
	return nil
}

// visibilityFlags say who may read a paste; at most one may be given.
type visibilityFlags struct{ private, public bool }

func (v *visibilityFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.private, "private", false, "only its owner may read it")
	cmd.Flags().BoolVar(&v.public, "public", false, "it is shown on its owner's profile")
	cmd.MarkFlagsMutuallyExclusive("private", "public")
}
