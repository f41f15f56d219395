package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// proxies are the addresses and networks whose headers are believed.
type proxies []netip.Prefix

// parseProxies returns one error that names every wrong text.
func parseProxies(texts []string) (parsed proxies, err error) {
	for _, text := range texts {
		prefix, prefixErr := netip.ParsePrefix(text)
		if address, addrErr := netip.ParseAddr(text); addrErr == nil && address.Zone() == "" {
			prefix = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())
		} else if prefixErr != nil {
			err = errors.Join(err, fmt.Errorf("the trusted proxy %q is neither an IP address nor a network such as 10.0.0.0/8", text))
		}
		parsed = append(parsed, prefix)
	}
	return parsed, err
}

// include ignores the zone of a link-local address: netip never matches an address with a zone.
func (p proxies) include(address netip.Addr) bool {
	address = address.WithZone("")
	for _, prefix := range p {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

// TrustsProxy reports whether an address is that of a trusted proxy.
func (a *API) TrustsProxy(address netip.Addr) bool { return a.proxies.include(address) }

// asked returns the request with the scheme and host that the client used. From a trusted proxy these are the first values of
// X-Forwarded-Proto and X-Forwarded-Host, from the outermost proxy. An invalid host is ignored.
func (a *API) asked(r *http.Request, proxied bool) *http.Request {
	shown, public := new(http.Request), *r.URL
	*shown = *r
	shown.URL, public.Scheme = &public, a.scheme(r, proxied)
	if host := firstOf(r.Header["X-Forwarded-Host"]); proxied && host != "" && httpguts.ValidHostHeader(host) {
		shown.Host = host
	}
	return shown
}

func (a *API) scheme(r *http.Request, proxied bool) string {
	if r.TLS != nil || proxied && strings.EqualFold(firstOf(r.Header["X-Forwarded-Proto"]), "https") {
		return "https"
	}
	return "http"
}

// firstOf returns the first element of a header that is a list, or "".
func firstOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	first, _, _ := strings.Cut(lines[0], ",")
	return strings.Trim(first, " \t")
}

// address returns the client's address, or the zero Addr.
func (a *API) address(r *http.Request) netip.Addr {
	client, _ := a.proxies.client(r)
	address, _ := netip.ParseAddr(client) // a Unix socket has none
	return address
}

// maxHops bounds how many addresses of X-Forwarded-For are read.
const maxHops = 16

// client returns the client's address, and whether a trusted proxy forwarded the request. Each proxy appends its peer's address to
// X-Forwarded-For, so the client is the last address that is not a trusted proxy's. Clients can forge the addresses before that.
func (p proxies) client(r *http.Request) (client string, proxied bool) {
	client = r.RemoteAddr
	if colon := strings.LastIndexByte(client, ':'); colon >= 0 {
		client = strings.Trim(client[:colon], "[]")
	}
	if len(p) == 0 {
		return client, false
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.include(peer.Addr().Unmap()) {
		return client, false
	}
	hops := 0
	for _, line := range slices.Backward(r.Header["X-Forwarded-For"]) {
		for rest, more := line, true; more && hops < maxHops; hops++ {
			hop := rest
			comma := strings.LastIndexByte(rest, ',')
			if more = comma >= 0; more {
				rest, hop = rest[:comma], rest[comma+1:]
			}
			address, err := netip.ParseAddr(strings.Trim(hop, " \t"))
			if err != nil {
				return client, true
			}
			if client = address.Unmap().WithZone("").String(); !p.include(address.Unmap()) {
				return client, true
			}
		}
	}
	return client, true
}
