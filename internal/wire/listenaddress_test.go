package wire

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"berth/internal/core/job"
)

func TestParseListenAddress(t *testing.T) {
	good := map[string]ListenAddress{
		"":                      {},
		"login1":                {Host: "login1"},
		" login1.cluster ":      {Host: "login1.cluster"},
		"10.0.0.1":              {Host: "10.0.0.1"},
		"10.0.0.1:7000":         {Host: "10.0.0.1", From: 7000, To: 7000},
		"login1:7000-7100":      {Host: "login1", From: 7000, To: 7100},
		"login1:0":              {Host: "login1"},
		":7000":                 {From: 7000, To: 7000},
		":7000-7100":            {From: 7000, To: 7100},
		"*":                     {Host: Everywhere},
		"*:7000":                {Host: Everywhere, From: 7000, To: 7000},
		"0.0.0.0:7000-65535":    {Host: Everywhere, From: 7000, To: 65535},
		"::":                    {Host: Everywhere},
		"[::]:7000":             {Host: Everywhere, From: 7000, To: 7000},
		"fd00::1":               {Host: "fd00::1"},
		"[fd00::1]":             {Host: "fd00::1"},
		"[fd00::1]:7000-7000":   {Host: "fd00::1", From: 7000, To: 7000},
		"fe80::1%eth0":          {Host: "fe80::1%eth0"},
		"node-with-digits-0:80": {Host: "node-with-digits-0", From: 80, To: 80},
	}
	for s, want := range good {
		p, err := ParseListenAddress(s)
		if err != nil || p != want {
			t.Errorf("%q: %+v, %v; want %+v", s, p, err, want)
			continue
		}
		if again, err := ParseListenAddress(p.String()); err != nil || again != p {
			t.Errorf("%q is shown as %q, which is %+v, %v", s, p, again, err)
		}
	}
	for _, s := range []string{"7000", "7000-7100:1", "login1:", "login1:x", "login1:7100-7000", "login1:-1", "login1:0-5", "login1:1-",
		"login1:70000", "login1:7000-70000", "a b", "http://login1", "user@login1", "login1:1:2", "[fd00::1:7000", "a,b"} {
		if p, err := ParseListenAddress(s); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), ListenVar) {
			t.Errorf("%q: %+v, %v", s, p, err)
		}
	}
}

func FuzzParseListenAddress(f *testing.F) {
	for _, s := range []string{"", "login1:7000-7100", "[fd00::1]:1", "*:0", "::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseListenAddress(s)
		if err != nil {
			return
		}
		if p.From < 0 || p.From > p.To || p.To > 65535 {
			t.Errorf("%q: %+v", s, p)
		}
		if again, err := ParseListenAddress(p.String()); err != nil || again != p {
			t.Errorf("%q is shown as %q, which is %+v, %v", s, p, again, err)
		}
	})
}

// The first port of a range that is free is taken; with none the range is named.
func TestListenAtAPortOfARange(t *testing.T) {
	a := newAuthority(t)
	ignore := func(net.Addr, error) {}
	first := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer first.Close()
	from := first.Addr().(*net.TCPAddr).Port
	p := ListenAddress{Host: "127.0.0.1", From: from, To: min(from+50, 65535)}
	l := must[*Listener](t)(ListenAt(p, a.coordinator, ignore))
	defer l.Close()
	if got := l.Addr().(*net.TCPAddr).Port; got <= p.From || got > p.To {
		t.Errorf("port %d of %v", got, p)
	}
	p.To = p.From
	if _, err := ListenAt(p, a.coordinator, ignore); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), p.String()) {
		t.Errorf("no free port: %v", err)
	}
}

func TestListenAtHosts(t *testing.T) {
	a := newAuthority(t)
	tests := []struct {
		host string
		says string // of the error; empty: none
	}{
		{"localhost", ""},
		{"127.0.0.1", ""},
		{Everywhere, ""},
		{"203.0.113.1", "not an address of this machine"}, // reserved for documentation (RFC 5737)
		{"no-such-machine.invalid", "no machine has the name"},
	}
	for _, tt := range tests {
		l, err := ListenAt(ListenAddress{Host: tt.host}, a.coordinator, func(net.Addr, error) {})
		switch {
		case tt.says != "":
			if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: %v", tt.host, err)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.host, err)
		default:
			if got := l.bound().Addr(); got.IsUnspecified() != (tt.host == Everywhere) || tt.host != Everywhere && !got.IsLoopback() {
				t.Errorf("%s: listens at %v", tt.host, got)
			}
			l.Close()
		}
	}
}

// What a listener tells is where it is reached: at its one address, or on all interfaces
// by local workers at the loopback one too, by others at any but that.
func TestAddressesReachTheListener(t *testing.T) {
	a := newAuthority(t)
	ignore := func(net.Addr, error) {}
	one := must[*Listener](t)(ListenAt(ListenAddress{Host: "127.0.0.1"}, a.coordinator, ignore))
	defer one.Close()
	if got, want := one.Addresses(), one.Addr().String(); len(got) != 1 || got[0] != want {
		t.Errorf("at one address: %q, want %q", got, want)
	}
	all := must[*Listener](t)(ListenAt(ListenAddress{Host: Everywhere}, a.coordinator, ignore))
	defer all.Close()
	port := strconv.Itoa(all.Addr().(*net.TCPAddr).Port)
	worker := a.worker(t, "a1/0")
	c, err := Dial(t.Context(), &Bundle{Addrs: []string{"127.0.0.1:" + port}, Identity: worker})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	addrs := all.Addresses()
	if len(addrs) > maxAddrs {
		t.Errorf("%d addresses", len(addrs))
	}
	for _, addr := range addrs {
		host, p, err := net.SplitHostPort(addr)
		if ip := net.ParseIP(host); err != nil || p != port || ip != nil && ip.IsLoopback() && len(addrs) > 1 {
			t.Errorf("%s, %v", addr, err)
		}
	}
	if c, err := Dial(t.Context(), &Bundle{Addrs: addrs, Identity: worker}); err == nil {
		c.Close()
	} else {
		t.Errorf("none of %q leads here: %v", addrs, err)
	}
}

// The order of addresses on machines of several kinds.
func TestAddressesOfAMachine(t *testing.T) {
	ips := func(list ...string) (all []netip.Addr) {
		for _, s := range list {
			all = append(all, netip.MustParseAddr(s))
		}
		return all
	}
	many := machine{names: []string{"h"}}
	for i := range 100 {
		many.own = append(many.own, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	tests := []struct {
		name string
		m    machine
		at   string
		want []string
	}{
		{"login node of two networks, whose name is the second one's",
			machine{names: []string{"login1", "login1.cluster"}, own: ips("127.0.0.1", "172.17.0.1", "10.0.0.1", "::1", "fe80::1", "fd00::1"), named: ips("10.0.0.1")},
			"[::]:7", []string{"10.0.0.1:7", "172.17.0.1:7", "[fd00::1]:7", "login1:7", "login1.cluster:7"}},
		{"its name is the loopback's, as Debian has it",
			machine{names: []string{"login1"}, own: ips("127.0.0.1", "10.0.0.1"), named: ips("127.0.1.1")},
			"[::]:7", []string{"10.0.0.1:7", "login1:7"}},
		{"IPv4 alone is listened on", machine{own: ips("fd00::1", "10.0.0.1")}, "0.0.0.0:7", []string{"10.0.0.1:7"}},
		{"an address twice, once mapped", machine{own: ips("10.0.0.1", "::ffff:10.0.0.1")}, "[::]:7", []string{"10.0.0.1:7"}},
		{"no network", machine{names: []string{"laptop"}, own: ips("127.0.0.1", "::1")}, "[::]:7", nil},
		{"too many", many, "[::]:7", []string{"10.0.0.0:7", "10.0.0.1:7", "10.0.0.2:7", "10.0.0.3:7", "10.0.0.4:7", "10.0.0.5:7", "10.0.0.6:7",
			"10.0.0.7:7", "10.0.0.8:7", "10.0.0.9:7", "10.0.0.10:7", "10.0.0.11:7", "10.0.0.12:7", "10.0.0.13:7", "10.0.0.14:7", "h:7"}},
	}
	for _, tt := range tests {
		got := tt.m.addresses(netip.MustParseAddrPort(tt.at))
		if strings.Join(got, " ") != strings.Join(tt.want, " ") {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}
