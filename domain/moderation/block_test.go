package moderation

import (
	"net/netip"
	"testing"
)

func TestAddressOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8::1%eth0": "2001:db8::1",
	} {
		if got := AddressOf(From(t.Context(), netip.MustParseAddr(text))); got.String() != want {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
	if got := AddressOf(t.Context()); got.IsValid() {
		t.Errorf("got %v, want no address", got)
	}
}
