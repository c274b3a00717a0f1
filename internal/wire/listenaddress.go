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

	"berth/internal/job"
)

// ListenVar is the variable in which a user says where the coordinator listens for
// workers (ParseListenAddress).
const ListenVar = "BERTH_LISTEN"

// Everywhere is the host of a ListenAddress that stands for all interfaces.
const Everywhere = "*"

// ListenAddress is where a coordinator listens for workers.
type ListenAddress struct {
	Host     string // name, address or Everywhere; empty: not said
	From, To int    // the ports it may take, the first that is free; 0: any
}

// ParseListenAddress reads HOST, HOST:PORT or HOST:FROM-TO. HOST may be left out, before a port
// too; then ListenAddress.Host is empty. "*", "0.0.0.0" and "::" stand for all interfaces. An
// IPv6 address with a port is written in brackets.
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

// isName reports whether a host may be a name: no space, no control character, and
// nothing that stands for something else in addresses and URLs.
func isName(host string) bool {
	return utf8.ValidString(host) && !strings.ContainsFunc(host, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune("/,@:[]%", r)
	})
}

// isPorts reports whether a host is a port or range of ports whose colon was forgotten.
func isPorts(s string) bool { return s != "" && strings.Trim(s, "0123456789-") == "" }

func placeError(s string) error {
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: ListenVar, What: fmt.Sprintf("%q is no address to listen at", s),
		Do: "write HOST, HOST:PORT or HOST:FROM-TO, as in login1, 10.0.0.1:7000 or :7000-7100"}
}

// String returns the address as ParseListenAddress reads it.
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

// ListenAt is Listen at the first free port of an address.
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
			return nil, &job.Error{Class: job.User, Code: job.CodeConfig, Where: ListenVar, Err: err,
				What: fmt.Sprintf("%s is not an address of this machine", p.Host), Do: "ip address shows those it has"}
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return nil, &job.Error{Class: job.User, Code: job.CodeConfig, Where: ListenVar,
		What: fmt.Sprintf("no port of %s is free", p), Do: "name other ports"}
}

// bindTo returns the address to listen on. A name that leads to this machine alone, as
// hosts files often have it for a machine's own, would be of no use to others.
func (p ListenAddress) bindTo() (string, error) {
	switch {
	case p.Host == Everywhere || p.Host == "":
		return "", nil
	case isAddress(p.Host):
		return p.Host, nil
	}
	found, err := net.LookupHost(p.Host)
	if err != nil {
		return "", &job.Error{Class: job.User, Code: job.CodeConfig, Where: ListenVar, What: "no machine is called " + p.Host, Err: err,
			Do: "name one, or an address of this machine"}
	}
	for _, a := range found {
		if ip := net.ParseIP(a); ip != nil && !ip.IsLoopback() || p.Host == "localhost" {
			return a, nil
		}
	}
	return "", &job.Error{Class: job.User, Code: job.CodeConfig, Where: ListenVar,
		What: fmt.Sprintf("%s is %s here, which no other machine reaches", p.Host, found[0]), Do: "name an address of this machine"}
}
