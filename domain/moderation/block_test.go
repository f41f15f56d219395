package moderation

import (
	"net/netip"
	"slices"
	"testing"
)

// TestNetworksOf checks that every network around an address is returned, normalized or not.
func TestNetworksOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"192.0.2.7": "192.0.2.7/32", "::ffff:192.0.2.7": "192.0.2.7/32", "2001:db8::1%eth0": "2001:db8::1/128",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			address := netip.MustParseAddr(text)
			got := NetworksOf(address)
			if len(got) != address.WithZone("").Unmap().BitLen()+1 || got[len(got)-1] != want {
				t.Errorf("got %q, want every network up to %s", got, want)
			}
			if !slices.Contains(got, "0.0.0.0/0") && !slices.Contains(got, "::/0") {
				t.Errorf("got %q, want the whole internet among them", got)
			}
		})
	}
	if got := NetworksOf(netip.Addr{}); got != nil {
		t.Errorf("no address: got %q, want none", got)
	}
}
