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
	// maxAddrs bounds the addresses of a coordinator.
	maxAddrs = 16
	// lookupTime is how long may be spent to find out how this machine is called elsewhere.
	lookupTime = 2 * time.Second
)

// machine is what is known of how other machines may reach this one.
type machine struct {
	names []string     // the host's, and its canonical one
	own   []netip.Addr // of its interfaces
	named []netip.Addr // what its name stands for
}

// Local returns where workers on this machine dial, host:port.
func (l *Listener) Local() string {
	at := l.bound()
	if at.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	return at.String()
}

// Addresses returns where workers on other machines may dial, host:port, the likeliest to
// be reached first. Where the listener has one address that is all; where it listens on all
// interfaces it is this machine's addresses, of which some may lead nowhere from some
// nodes, and at last its names. Names come last because a machine's own name often stands
// for its loopback address on that machine itself: a worker there would serve map outputs
// where no other node finds them. On a machine without a network it is the loopback address.
func (l *Listener) Addresses() []string {
	at := l.bound()
	if !at.Addr().IsUnspecified() {
		return []string{at.String()}
	}
	if all := thisMachine().addresses(at); len(all) > 0 {
		return all
	}
	return []string{l.Local()}
}

func (l *Listener) bound() netip.AddrPort {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	at := tcp.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}

// addresses returns where a listener on all interfaces may be reached.
func (m machine) addresses(at netip.AddrPort) []string {
	var ips []netip.Addr
	for _, ip := range m.own {
		ip = ip.Unmap()
		if !ip.IsGlobalUnicast() || at.Addr().Is4() && !ip.Is4() || slices.Contains(ips, ip) {
			continue // loopback and link-local ones lead elsewhere from elsewhere
		}
		ips = append(ips, ip)
	}
	slices.SortStableFunc(ips, func(a, b netip.Addr) int { return m.rank(a) - m.rank(b) })
	var all []string
	for _, ip := range ips {
		all = append(all, netip.AddrPortFrom(ip, at.Port()).String())
	}
	if len(all) == 0 {
		return nil // its names lead nowhere either
	}
	all = all[:min(len(all), maxAddrs-len(m.names))]
	for _, name := range m.names {
		all = append(all, net.JoinHostPort(name, strconv.Itoa(int(at.Port()))))
	}
	return all
}

// rank orders addresses: what the machine's name stands for, then IPv4, then the others.
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

// thisMachine looks up what there is to know; what cannot be found out is left out.
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
