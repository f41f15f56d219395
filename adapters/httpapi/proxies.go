package httpapi

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// proxies are the addresses and networks whose headers are believed.
type proxies []netip.Prefix

// parseProxies parses addresses and networks. It returns one error that names every wrong text.
func parseProxies(texts []string) (all proxies, err error) {
	for _, text := range texts {
		prefix, prefixErr := netip.ParsePrefix(text)
		if address, addrErr := netip.ParseAddr(text); addrErr == nil && address.Zone() == "" {
			prefix = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())
		} else if prefixErr != nil {
			err = errors.Join(err,
				fmt.Errorf("GLUEPOT_HTTP_TRUSTED_PROXIES has %q: give IP addresses, and networks such as 10.0.0.0/8", text))
		}
		all = append(all, prefix)
	}
	return all, err
}

// include reports whether an address is one of the proxies. It ignores the zone of a link-local address: netip never
// matches an address with a zone.
func (p proxies) include(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address.WithZone("")) })
}

// TrustsProxy reports whether an address is a trusted proxy's.
func (a *API) TrustsProxy(address netip.Addr) bool { return a.proxies.include(address) }

// original returns the request as the client sent it, and whether a trusted proxy forwarded it. It has the scheme and
// host that the client used, and the client's address, without a port, as RemoteAddr. Scheme and host are the last
// values of X-Forwarded-Proto and X-Forwarded-Host: proxies append theirs, so clients can forge the values before. An
// invalid host is ignored. The result is a copy, because handlers must not modify a request.
func (p proxies) original(r *http.Request) (original *http.Request, proxied bool) {
	clone, location := *r, *r.URL
	clone.URL, location.Scheme = &location, "http"
	clone.RemoteAddr, proxied = p.client(r)
	if r.TLS != nil || proxied && strings.EqualFold(lastOf(r.Header["X-Forwarded-Proto"]), "https") {
		location.Scheme = "https"
	}
	if host := lastOf(r.Header["X-Forwarded-Host"]); proxied && host != "" && httpguts.ValidHostHeader(host) {
		clone.Host = host
	}
	return &clone, proxied
}

// lastOf returns the last element of a header that is a list, or "".
func lastOf(lines []string) string {
	list := strings.Join(lines, ",")
	return strings.Trim(list[strings.LastIndexByte(list, ',')+1:], " \t")
}

// maxHops bounds how many addresses of X-Forwarded-For are read.
const maxHops = 16

// client returns the client's address, and whether a trusted proxy forwarded the request. A peer on a Unix socket is
// trusted. Each proxy appends its peer's address to X-Forwarded-For, so the client is the last address that is not a
// trusted proxy's. Clients can forge the addresses before that.
func (p proxies) client(r *http.Request) (client string, proxied bool) {
	client = r.RemoteAddr
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); !ok || local.Network() != "unix" {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil {
			return client, false
		}
		if client = peer.Addr().String(); !p.include(peer.Addr().Unmap()) {
			return client, false
		}
	}
	forwarded := strings.Join(r.Header["X-Forwarded-For"], ",")
	for range maxHops {
		comma := strings.LastIndexByte(forwarded, ',')
		hop := strings.Trim(forwarded[comma+1:], " \t")
		address, err := netip.ParseAddr(hop)
		if err != nil {
			withPort, err := netip.ParseAddrPort(hop) // as some gateways write it
			if err != nil {
				break
			}
			address = withPort.Addr()
		}
		client = address.Unmap().WithZone("").String()
		if comma < 0 || !p.include(address.Unmap()) {
			break
		}
		forwarded = forwarded[:comma]
	}
	return client, true
}
