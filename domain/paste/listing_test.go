package paste

import (
	"testing"
	"time"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	places := []Place{{}, {at.Add(time.Second), "a"}, {at, "b"}, {at, "a"}, {at.Add(-time.Second), "z"}}
	for i, p := range places {
		for j, q := range places {
			if got := p.Before(q); got != (i < j) {
				t.Errorf("%v before %v: got %v, want %v", p, q, got, i < j)
			}
		}
	}
}
