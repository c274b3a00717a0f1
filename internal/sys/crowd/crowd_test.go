package crowd

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// visitor is a pipe's end from an address.
type visitor struct {
	net.Conn
	from   net.Addr
	closed bool
}

func (v *visitor) RemoteAddr() net.Addr { return v.from }
func (v *visitor) Close() error         { v.closed = true; return v.Conn.Close() }

func visit(from string) (server *visitor, client net.Conn) {
	client, conn := net.Pipe()
	return &visitor{Conn: conn, from: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 7000))}, client
}

// TestCrowdIsFair: whoever comes, only a connection of the address that has the most is closed, and of those the oldest.
func TestCrowdIsFair(t *testing.T) {
	addresses := []string{"10.0.0.1", "10.0.0.2", "127.0.0.1", "127.9.9.9", "::ffff:10.0.0.1", "fd00::1", "fd00::2", "fd00:0:0:1::1"}
	groups := []int{0, 1, 2, 2, 0, 3, 3, 4} // who has the one of them has the other
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 12).Draw(t, "most")
		c := newCrowd(most)
		type member struct {
			*visitor
			group int
		}
		var in []member // the oldest first
		// due reports whether i is the oldest one of a group that has the most.
		due := func(i int) bool {
			sizes, oldest := make([]int, 5), true
			for k, m := range in {
				sizes[m.group]++
				oldest = oldest && (k >= i || m.group != in[i].group)
			}
			return oldest && sizes[in[i].group] == slices.Max(sizes)
		}
		check := func(what string, closed int, come ...member) {
			for range closed { // in any order in which each of them is due
				i := 0
				for i < len(in) && !(in[i].closed && due(i)) {
					i++
				}
				if i == len(in) {
					t.Fatalf("%s: what was closed was not the oldest of the address with the most", what)
				}
				in = slices.Delete(in, i, i+1)
			}
			in = append(in, come...)
			if slices.ContainsFunc(in, func(m member) bool { return m.closed }) || c.n != len(in) || c.n > most {
				t.Fatalf("%s: %d are there of at most %d, want %d", what, c.n, most, len(in))
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch what := rapid.SampledFrom([]string{"enter", "enter", "enter", "enter", "leave", "thin"}).Draw(t, "what"); {
			case what == "enter":
				k := rapid.IntRange(0, len(addresses)-1).Draw(t, "address")
				v, _ := visit(addresses[k])
				full := 0
				if len(in) == most {
					full = 1
				}
				for _, all := range c.from {
					for i := range all {
						all[i].since = time.Time{} // all have had their time
					}
				}
				c.Enter(nil, v)
				check("entering from "+addresses[k], full, member{v, groups[k]})
			case what == "thin":
				half := len(in) - len(in)/2
				if c.Thin() != (half > 0) {
					t.Fatal("Thin says the opposite")
				}
				check("thinning", half)
			case len(in) > 0:
				i := rapid.IntRange(0, len(in)-1).Draw(t, "who")
				if v := in[i].visitor; !c.Leave(v) || c.Leave(v) || v.closed {
					t.Fatal("one that was there did not leave, or left twice")
				}
				in = slices.Delete(in, i, i+1)
			}
		}
	})
}
