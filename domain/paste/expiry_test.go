package paste

import (
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

var lifetimeSeconds = map[Lifetime]int64{
	"never": 0, "1h": 3600, "2h": 7200, "10h": 36_000, "1d": 86_400, "2d": 172_800, "1w": 604_800, "1m": 2_629_800,
	"1y": 31_557_600,
}

func TestLifetimes(t *testing.T) {
	t.Parallel()
	for lifetime, seconds := range lifetimeSeconds {
		got, err := ParseLifetime(string(lifetime))
		if err != nil || got != lifetime {
			t.Errorf("got %v, %v, want %v", got, err, lifetime)
		}
		want := time.Time{}
		if seconds > 0 {
			want = created.Truncate(time.Second).Add(time.Duration(seconds) * time.Second)
		}
		end := lifetime.End(created)
		if !end.Equal(want) || end.Location() != time.UTC {
			t.Errorf("%v after %v: got %v, want %v", lifetime, created, end, want)
		}
		deletesAt := Paste{ExpiresAt: end}.DeletesAt()
		unix, err := ExpiryUnix(strconv.FormatInt(created.Unix(), 10), string(lifetime))
		if err != nil || unix != deletesAt || seconds > 0 && unix != created.Unix()+seconds || seconds == 0 && unix != 0 {
			t.Errorf("%v: got %d, %v, want %d", lifetime, unix, err, deletesAt)
		}
		if got := (Document{Paste: Paste{CreatedAt: created, ExpiresAt: end}}).ExpiresIn(); got != lifetime {
			t.Errorf("got %v between %v and %v, want %v", got, created, end, lifetime)
		}
	}
	for _, text := range []string{"", "3h", "1H", " 1h", "1h ", "Never", "0", "1", "OneHour", "1w\x00"} {
		_, err := ParseLifetime(text)
		wantFault(t, text, err, fault.Invalid, "expiresIn")
	}
	if got := (Lifetime("of an import")).End(created); !got.IsZero() {
		t.Errorf("an unknown lifetime: got %v, want the zero time", got)
	}
}

func TestLifetimeNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Lifetime{
		"OneHour": "1h", "TwoHours": "2h", "TenHours": "10h", "OneDay": "1d", "TwoDays": "2d", "OneWeek": "1w",
		"OneMonth": "1m", "OneYear": "1y",
		"Never": Never, "NEVER": Never, "oneweek": "1w", "ONEYEAR": "1y", "1w": "1w", "never": Never,
	} {
		seconds, _ := want.seconds()
		if got, err := ExpiryUnix("0", name); err != nil || got != seconds {
			t.Errorf("%q: got %v, %v, want %v", name, got, err, seconds)
		}
	}
	for _, name := range []string{"", "1W", "TwoWeeks", "one hour", "OneHours"} {
		_, err := ExpiryUnix("0", name)
		wantFault(t, name, err, fault.Invalid, "expiresIn")
	}
}

func TestNearestLifetime(t *testing.T) {
	t.Parallel()
	for duration, want := range map[time.Duration]Lifetime{
		0: "1h", time.Second: "1h", 6 * time.Hour: "2h", 7 * time.Hour: "10h", 30 * 24 * time.Hour: "1m",
		1e6 * time.Hour: "1y",
	} {
		if got := (Document{Paste: Paste{CreatedAt: created, ExpiresAt: created.Add(duration)}}).ExpiresIn(); got != want {
			t.Errorf("%v: got %v, want %v", duration, got, want)
		}
	}
}

func TestExpiresIn(t *testing.T) {
	t.Parallel()
	for want, d := range map[Lifetime]Document{
		"of an import": {Content: Content{Lifetime: "of an import"}},
		Never:          {Paste: Paste{CreatedAt: created}},
		"2h":           {Paste: Paste{CreatedAt: created, ExpiresAt: created.Add(2 * time.Hour)}},
	} {
		if got := d.ExpiresIn(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestExpiryUnix(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		created  string
		lifetime Lifetime
		want     int64 // -1: refused
	}{
		{"1588441258", "1w", 1589046058},
		{"1588441258", "OneWeek", 1589046058},
		{"1588441258", Never, 0},
		{"0", "1h", 3600},
		{"9223372036854772207", "1h", math.MaxInt64},
		{"9223372036854772208", "1h", -1},
		{"9223372036854775807", Never, 0},
		{"9223372036854775808", Never, -1},
		{"9223372036854775807", "1y", -1},
		{"", Never, -1},
		{"-1", "1h", -1},
		{"+1", "1h", -1},
		{"1.5", "1h", -1},
		{"1e3", "1h", -1},
		{"0x10", "1h", -1},
		{"1_000", "1h", -1},
		{" 1", "1h", -1},
		{"١", "1h", -1},
	} {
		got, err := ExpiryUnix(c.created, string(c.lifetime))
		if c.want < 0 {
			wantFault(t, c.created, err, fault.Invalid, "createdAt")
		} else if err != nil || got != c.want {
			t.Errorf("%s after %s: got %d, %v, want %d", c.lifetime, c.created, got, err, c.want)
		}
	}
	_, err := ExpiryUnix("", "")
	wantFault(t, "both are wrong", err, fault.Invalid, "createdAt")
}
