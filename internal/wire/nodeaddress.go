package wire

import (
	"fmt"
	"path/filepath"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// Workers that this machine's processes start or hold reach each other by Unix sockets in the folders of their allocations, which are
// side by side.

// NodeAddress returns the address of such a worker, such as "0.a1:1" for a1/0. It has the form host:port, as HTTP needs, and is no address of
// any network.
func NodeAddress(n job.NodeID) string {
	_, rank, _ := strings.Cut(string(n), "/")
	return rank + "." + string(n.Alloc()) + ":1"
}

var nodeAddressPattern = pattern.Lazy(`^([0-9]{1,9})\.([A-Za-z0-9_-]+):1$`)

// longestAlloc is the longest id of an allocation. It is not part of the pattern, as a pattern with large counts is slow to compile.
const longestAlloc = 64

// NodeSocket returns the path of the socket of the worker with an address. bundle is the path of any worker's keys. Hosts send the address, so it
// must not lead to any other file.
func NodeSocket(bundle, addr string) (string, error) {
	m := nodeAddressPattern().FindStringSubmatch(addr)
	if m == nil || len(m[2]) > longestAlloc {
		return "", fmt.Errorf("%q is not an address of a node", addr)
	}
	return filepath.Join(filepath.Dir(filepath.Dir(bundle)), m[2], m[1]+".sock"), nil
}
