package cli

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
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

// pasteLifetime is a flag for how long a paste lives: as the API spells it, or as lifetime does. The API's 1m is a month, and Go's a
// minute: here the one is 1month, the other 1min, and m alone neither.
type pasteLifetime struct {
	spelled paste.Lifetime
	other   lifetime
}

func (l *pasteLifetime) String() string {
	if l.spelled != "" {
		return string(l.spelled)
	}
	return l.other.String()
}

func (l *pasteLifetime) Type() string { return "duration" }

func (l *pasteLifetime) Set(text string) error {
	*l = pasteLifetime{}
	if text == "1month" {
		l.spelled = oneMonth
		return nil
	}
	count, isMinutes := strings.CutSuffix(text, "min")
	if !isMinutes && strings.Trim(text, "0123456789.") == "m" {
		return errMonthOrMinutes
	}
	if spelled, err := paste.ParseLifetime(text); err == nil {
		l.spelled = spelled
		return nil
	}
	if isMinutes {
		text = count + "m"
	}
	if l.other.Set(text) != nil {
		return errPasteLifetime
	}
	return nil
}

// oneMonth is how the API spells a month.
const oneMonth paste.Lifetime = "1m"

var (
	errPasteLifetime  = errors.New("write never, 1month, 1y, or a time such as 30min, 12h, 90d or 2w")
	errMonthOrMinutes = errors.New("that can be months or minutes: write 1month, 30d or 30min")
)
