// Package quantity parses times and sizes as people write them, in commands and on pages. Its errors say what it takes.
package quantity

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/common/model"
)

// Duration parses a time such as 12h, 7d or 2w. 0 is an error.
func Duration(text string) (time.Duration, error) {
	d, err := model.ParseDuration(text)
	if err != nil || d == 0 {
		return 0, errors.New("a time such as 30m, 12h, 90d or 1w2d, the largest unit first")
	}
	return time.Duration(d), nil
}

// Instant parses a point in time, or an age such as 24h.
func Instant(text string) (time.Time, error) {
	if ago, err := Duration(text); err == nil {
		return time.Now().Add(-ago), nil
	}
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errors.New("a time such as 24h, 7d, 2024-02-29 or 2024-02-29T12:30:00Z")
}

// Size parses a number of bytes.
func Size(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 || strings.Contains(text, ",") { // ParseBytes skips commas
		return 0, errors.New("a size such as 500kB, 1MB or 1MiB")
	}
	return int64(n), nil
}
