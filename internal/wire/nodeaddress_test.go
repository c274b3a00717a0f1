package wire

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestNodeAddresses checks that an address that a host sends leads only to sockets of nodes.
func TestNodeAddresses(t *testing.T) {
	for _, n := range []job.NodeID{"a1/0", "a12/345"} {
		alloc, rank, _ := strings.Cut(string(n), "/")
		if got, err := NodeSocket("/state/ssh/a9/3.pem", NodeAddress(n)); err != nil || got != fmt.Sprintf("/state/ssh/%s/%s.sock", alloc, rank) {
			t.Errorf("%s: %q, %v", n, got, err)
		}
	}
	for _, addr := range []string{"", "0.a1", "0.../x:1", "0.a1/../../x:1", "../0.a1:1", "x.a1:1", "127.0.0.1:80", "0.a1:1\n", "0." + strings.Repeat("a", 65) + ":1"} {
		if got, err := NodeSocket("/state/ssh/a9/3.pem", addr); err == nil {
			t.Errorf("%q leads to %s", addr, got)
		}
	}
}
