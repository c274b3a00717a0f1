package wire

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"berth/internal/core/job"
)

// ListenVar is the environment variable that says where the coordinator listens for workers
// (ParseListenAddress).
const ListenVar = "BERTH_LISTEN"

// Everywhere is the host of an ListenAddress that means all interfaces.
const Everywhere = "*"

// ListenAddress is the host and the ports at which a coordinator listens for workers.
type ListenAddress struct {
	Host     string // name, address or Everywhere; empty: not given
	From, To int    // the first free port of this range is used; 0: any port
}

// ParseListenAddress parses HOST, HOST:PORT or HOST:FROM-TO. HOST may be omitted, also before a
// port; ListenAddress.Host is empty then. "*", "0.0.0.0" and "::" mean all interfaces. An IPv6
// address with a port is written in brackets.
func ParseListenAddress(s string) (ListenAddress, error) {
	host, ports := strings.TrimSpace(s), ""
	if ip, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(ip, "]") {
		host = strings.TrimSuffix(ip, "]")
	} else if !isAddress(host) && strings.Contains(host, ":") {
		var err error
		if host, ports, err = net.SplitHostPort(host); err != nil || ports == "" {
			return ListenAddress{}, placeError(s)
		}
	}
	p := ListenAddress{Host: host}
	if isPorts(host) || !isAddress(host) && !isName(host) {
		return ListenAddress{}, placeError(s)
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsUnspecified() {
		p.Host = Everywhere
	}
	if ports == "" {
		return p, nil
	}
	from, to, isRange := strings.Cut(ports, "-")
	if !isRange {
		to = from
	}
	var bad error
	if p.From, bad = strconv.Atoi(from); bad == nil {
		p.To, bad = strconv.Atoi(to)
	}
	if bad != nil || p.From < 0 || p.From > p.To || p.To > 65535 || isRange && p.From == 0 {
		return ListenAddress{}, placeError(s)
	}
	return p, nil
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

// isName reports whether a host can be a name: it has no space, no control character, and no
// character with a meaning in addresses and URLs.
func isName(host string) bool {
	return utf8.ValidString(host) && !strings.ContainsFunc(host, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune("/,@:[]%", r)
	})
}

// isPorts reports whether a host is a port or a range of ports without its colon.
func isPorts(s string) bool { return s != "" && strings.Trim(s, "0123456789-") == "" }

func placeError(s string) error {
	return job.ConfigError(ListenVar, fmt.Sprintf("%q is not an address to listen at", s), "write HOST, HOST:PORT or HOST:FROM-TO, for example login1, 10.0.0.1:7000 or :7000-7100")
}

// String returns the endpoint in the form that ParseListenAddress parses.
func (p ListenAddress) String() string {
	switch {
	case p.To == 0:
		return p.Host
	case p.From == p.To:
		return net.JoinHostPort(p.Host, strconv.Itoa(p.From))
	default:
		return net.JoinHostPort(p.Host, fmt.Sprintf("%d-%d", p.From, p.To))
	}
}

// ListenAt is Listen at the first free port of an endpoint.
func ListenAt(p ListenAddress, id *Identity, refused func(net.Addr, error)) (*Listener, error) {
	host, err := p.bindTo()
	if err != nil {
		return nil, err
	}
	for port := p.From; port <= p.To; port++ {
		l, err := Listen(net.JoinHostPort(host, strconv.Itoa(port)), id, refused)
		if err == nil {
			return l, nil
		}
		if errors.Is(err, syscall.EADDRNOTAVAIL) {
			return nil, job.ConfigError(ListenVar, fmt.Sprintf("%s is not an address of this machine", p.Host), "choose one of the addresses that the command `ip address` shows").Because(err)
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, job.ConfigError(ListenVar, fmt.Sprintf("no port of %s is free", p), "choose other ports")
}

// bindTo returns the address on which to listen. A name that resolves only to the loopback address,
// as hosts files often define it for the own machine, is refused because other machines could not
// connect.
func (p ListenAddress) bindTo() (string, error) {
	switch {
	case p.Host == Everywhere || p.Host == "":
		return "", nil
	case isAddress(p.Host):
		return p.Host, nil
	}
	found, err := net.LookupHost(p.Host)
	if err != nil {
		return "", job.ConfigError(ListenVar, "no machine has the name "+p.Host, "use the name or an address of this machine").Because(err)
	}
	for _, a := range found {
		if ip := net.ParseIP(a); ip != nil && !ip.IsLoopback() || p.Host == "localhost" {
			return a, nil
		}
	}
	return "", job.ConfigError(ListenVar, fmt.Sprintf("%s resolves to %s on this machine, which other machines cannot reach", p.Host, found[0]), "use an address of this machine")
}
