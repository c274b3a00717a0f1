package wire

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxAddrs is the largest number of addresses of a coordinator.
	maxAddrs = 16
	// lookupTime is how long the lookup of this machine's names and addresses may take.
	lookupTime = 2 * time.Second
)

// machine describes how other machines may reach this one.
type machine struct {
	names []string     // the host name and the canonical name
	own   []netip.Addr // addresses of its interfaces
	named []netip.Addr // addresses to which its name resolves
}

// Addresses returns the addresses, host:port, to which workers on other machines may connect, the
// one most likely to be reachable first. If the listener is bound to one address, that is the only
// one. If it listens on all interfaces, they are this machine's addresses, some of which may be
// unreachable from some nodes, and then its names. Names come last because on many machines the own
// name resolves to the loopback address: a worker there would serve map outputs at an address that
// no other node can reach. On a machine without a network it is the loopback address.
func (l *Listener) Addresses() []string {
	at := l.bound()
	if !at.Addr().IsUnspecified() {
		return []string{at.String()}
	}
	if all := thisMachine().addresses(at); len(all) > 0 {
		return all
	}
	return []string{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()}
}

func (l *Listener) bound() netip.AddrPort {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// addresses returns the addresses of a listener on all interfaces.
func (m machine) addresses(at netip.AddrPort) []string {
	var ips []netip.Addr
	for _, ip := range m.own {
		ip = ip.Unmap()
		if !ip.IsGlobalUnicast() || at.Addr().Is4() && !ip.Is4() || slices.Contains(ips, ip) {
			continue // loopback and link-local addresses mean another machine elsewhere
		}
		ips = append(ips, ip)
	}
	slices.SortStableFunc(ips, func(a, b netip.Addr) int { return m.rank(a) - m.rank(b) })
	var all []string
	for _, ip := range ips {
		all = append(all, netip.AddrPortFrom(ip, at.Port()).String())
	}
	if len(all) == 0 {
		return nil // then other machines cannot resolve its names either
	}
	all = all[:min(len(all), maxAddrs-len(m.names))]
	for _, name := range m.names {
		all = append(all, net.JoinHostPort(name, strconv.Itoa(int(at.Port()))))
	}
	return all
}

// rank orders addresses: first those of the machine's name, then IPv4, then the others.
func (m machine) rank(ip netip.Addr) int {
	rank := 0
	if !slices.ContainsFunc(m.named, func(n netip.Addr) bool { return n.Unmap() == ip }) {
		rank += 2
	}
	if !ip.Is4() {
		rank++
	}
	return rank
}

// thisMachine looks up the names and addresses of this machine, and omits what cannot be found.
func thisMachine() machine {
	var m machine
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	if host, err := os.Hostname(); err == nil && host != "" && host != "localhost" {
		m.names = []string{host}
		m.named, _ = net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if full, err := net.DefaultResolver.LookupCNAME(ctx, host); err == nil {
			if full = strings.TrimSuffix(full, "."); full != host && full != "" {
				m.names = append(m.names, full)
			}
		}
	}
	ifaces, _ := net.Interfaces()
	for _, i := range ifaces {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, _ := i.Addrs()
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				m.own = append(m.own, p.Addr())
			}
		}
	}
	return m
}
