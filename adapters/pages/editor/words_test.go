package editor

import (
	"testing"
	"time"
)

func TestInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Millisecond: "1 second", 90 * time.Second: "90 seconds", 121 * time.Second: "3 minutes", time.Hour: "60 minutes",
		150 * time.Minute: "3 hours",
	} {
		if got := inWords(d); got != want {
			t.Errorf("got %s for %v, want %s", got, d, want)
		}
	}
}
