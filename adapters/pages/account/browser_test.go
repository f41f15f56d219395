package account

import (
	"strings"
	"testing"
)

func TestBrowserOf(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": "Firefox on Linux",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605 (KHTML, like Gecko) " +
			"Version/18.5 Safari/604": "Safari on iOS",
		"": "Unknown browser", "\xff\x00": "Unknown browser", strings.Repeat("x", 10_000): "Unknown browser",
		"\u202ex": "Unknown browser",
	} {
		if got := browserOf(agent); got != want {
			t.Errorf("%.20q: got %q, want %q", agent, got, want)
		}
	}
}
