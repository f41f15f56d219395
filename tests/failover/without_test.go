package failover

import (
	"testing"
	"time"
)

// TestWithout tests the measure itself. The seconds of each exchange are its beginning and its end.
func TestWithout(t *testing.T) {
	t.Parallel()
	const right, wrong = true, false
	at := func(seconds float64) time.Time {
		return time.Unix(0, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	type asked struct {
		began, ended float64
		right        bool
	}
	for name, c := range map[string]struct {
		exchanges []asked
		ended     float64
		want      float64
	}{
		"nobody asks":      {nil, 10, 0},
		"all rest":         {[]asked{{0, 1, right}, {8, 9, right}}, 10, 1},
		"at the beginning": {[]asked{{0, 1, wrong}, {2, 3, wrong}, {4, 5, right}}, 5, 5},
		"at the end":       {[]asked{{0, 1, right}, {2, 3, wrong}, {4, 5, wrong}}, 6, 4},
		"never":            {[]asked{{0, 1, wrong}, {2, 3, wrong}}, 4, 4},
		"one waits, others do not": {[]asked{{0, 1, right}, {0.5, 9, right}, {2, 3, right}, {3, 4, right},
			{4, 8, right}}, 9, 4},
		"one waits in vain": {[]asked{{0, 9, wrong}, {0, 1, right}, {2, 4, right}, {4, 6, right},
			{6, 8, right}}, 9, 3},
		"who asked first waits on": {[]asked{{0, 1, right}, {2, 20, right}, {9, 10, right}, {10, 15, right},
			{15, 20, right}}, 20, 8},
		"who waits was there earlier": {[]asked{{0, 1, right}, {0, 20, right}, {9, 10, right}, {10, 15, right},
			{15, 20, right}}, 20, 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &group{}
			for _, e := range c.exchanges {
				g.exchanges[reading] = append(g.exchanges[reading], exchange{at(e.began), at(e.ended), e.right})
			}
			if got := g.without(reading, at(c.ended)).Seconds(); got != c.want {
				t.Errorf("got %v s, want %v", got, c.want)
			}
		})
	}
}
