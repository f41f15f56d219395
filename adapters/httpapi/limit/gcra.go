package limit

import (
	"sync"
	"time"
)

// gcra limits how often something may happen for each of very many keys, by the generic cell rate algorithm (ITU-T I.371):
// of each key it keeps one instant, at which all of its burst will be there again.
type gcra struct {
	interval time.Duration // in which one more may happen
	burst    int           // how many may happen at once
	kept     *lastSeen
}

// newGCRA allows each key so many in a period, and so many of them at once.
func newGCRA(many int, period time.Duration, burst int) *gcra {
	return &gcra{interval: period / time.Duration(many), burst: burst, kept: new(lastSeen)}
}

// verdict is what a key may do.
type verdict struct {
	allowed   bool
	remaining int           // how many more may happen at once
	retry     time.Duration // until one may, when it is not allowed now
	full      time.Duration // until all of the burst is there again
}

// take counts one for a key, if it is allowed.
func (g *gcra) take(key uint64, now time.Time) (v verdict) {
	g.kept.update(key, func(at int64) int64 {
		at, v = g.judge(at, now)
		return at
	})
	return v
}

// look says what take would, without counting.
func (g *gcra) look(key uint64, now time.Time) verdict {
	_, v := g.judge(g.kept.at(key), now)
	return v
}

// maxDebt is for how long at most a key waits after having been charged with more than its burst.
const maxDebt = time.Hour

// charge counts one that has happened, whether it is allowed or not: what came too many is waited for.
func (g *gcra) charge(key uint64, now time.Time) {
	most := now.Add(g.interval*time.Duration(g.burst) + maxDebt).UnixNano()
	g.kept.update(key, func(at int64) int64 {
		return min(max(at, now.UnixNano())+int64(g.interval), most)
	})
}

func (g *gcra) judge(at int64, now time.Time) (int64, verdict) {
	whole := g.interval * time.Duration(g.burst)
	used := max(time.Unix(0, at).Sub(now), 0)
	if next := used + g.interval; next <= whole {
		return now.Add(next).UnixNano(), verdict{allowed: true, remaining: int((whole - next) / g.interval), full: next}
	}
	return at, verdict{retry: used + g.interval - whole, full: used}
}

// lastSeen keeps an instant, in Unix nanoseconds, for each of the 65,536 keys or so whose instants are latest, in memory of
// one size: a table of sets of eight. A key that a later one has taken the place of begins anew, which is to its
// advantage. Keys are hashes that no client can choose.
type lastSeen struct{ sets [1 << 13]seenSet }

type seenSet struct {
	mu   sync.Mutex
	keys [8]uint64
	at   [8]int64
}

// update replaces the instant of a key, which is zero when there is none. Zero forgets the key.
func (s *lastSeen) update(key uint64, change func(at int64) int64) {
	set := &s.sets[key%uint64(len(s.sets))]
	set.mu.Lock()
	defer set.mu.Unlock()
	oldest := 0
	for i := range set.keys {
		if set.keys[i] == key && set.at[i] != 0 {
			set.at[i] = change(set.at[i])
			return
		}
		if set.at[i] < set.at[oldest] {
			oldest = i
		}
	}
	if at := change(0); at != 0 {
		set.keys[oldest], set.at[oldest] = key, at
	}
}

// at returns the instant of a key, or zero.
func (s *lastSeen) at(key uint64) int64 {
	set := &s.sets[key%uint64(len(s.sets))]
	set.mu.Lock()
	defer set.mu.Unlock()
	for i := range set.keys {
		if set.keys[i] == key {
			return set.at[i]
		}
	}
	return 0
}
