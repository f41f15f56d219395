package moderation

import (
	"net/netip"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// Block keeps a network from writing.
type Block struct {
	Network   netip.Prefix
	Reason    string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// ParseNetwork parses a network such as 192.0.2.0/24 or 2001:db8::/32, or an address. It fails with fault.Invalid.
func ParseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil && address.Zone() == "" {
		return netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Addr().Is4In6() {
		return netip.Prefix{}, fault.New(fault.Invalid,
			"That is not a network. Enter one such as 192.0.2.0/24 or 2001:db8::/32, or an IP address.")
	}
	return network.Masked(), nil
}

// ErrBlocked is the fault.Forbidden for a client in a blocked network.
var ErrBlocked = fault.New(fault.Forbidden,
	"Your network is blocked: you can read pastes, but cannot write or sign in. Ask the operator.")

// NetworksOf returns all networks that contain an address, largest first, or none for the zero Addr.
func NetworksOf(address netip.Addr) []string {
	if address = address.WithZone("").Unmap(); !address.IsValid() {
		return nil
	}
	var text []byte // one for all networks: every write calls this, so allocations matter
	for bits := range address.BitLen() + 1 {
		network, _ := address.Prefix(bits) // bits are in its range
		text = append(network.AppendTo(text), ' ')
	}
	return strings.Fields(string(text))
}
