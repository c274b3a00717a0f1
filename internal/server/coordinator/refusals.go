package coordinator

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	refusalWindow = time.Minute
	toldRefusals  = 5 // that have a line of their own in a window
	toldHosts     = 4 // that are named in the line about the others
	maxHosts      = 64
)

// refusals tells the log of connections that were refused: each of the first few in a
// minute, of the others how many there were and where they came from. Anybody who reaches the
// port can be refused as often as he likes, and the log is on the disk of the journals.
type refusals struct {
	mu    sync.Mutex
	n     int            // in the window; 0: none is open
	hosts map[string]int // where those beyond the first few came from; some, if there are very many
	last  error          // why the last of them was refused
}

// note takes in that a connection was refused.
func (r *refusals) note(log *slog.Logger, from net.Addr, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n++; r.n == 1 {
		r.hosts = make(map[string]int)
		time.AfterFunc(refusalWindow, func() { r.close(log) })
	}
	if r.n <= toldRefusals {
		log.Warn("connection refused", "from", from, "err", err)
		return
	}
	r.last = err
	host := from.String()
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if _, known := r.hosts[host]; known || len(r.hosts) < maxHosts {
		r.hosts[host]++
	}
}

// close ends a window, and tells what it has not told.
func (r *refusals) close(log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if more := r.n - toldRefusals; more > 0 {
		log.Warn(fmt.Sprintf("%d more connections refused in the last minute", more), "from", r.from(), "last", r.last)
	}
	r.n = 0
}

// from names the hosts that were refused most often.
func (r *refusals) from() string {
	hosts := slices.SortedFunc(maps.Keys(r.hosts), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.hosts[b], r.hosts[a]), strings.Compare(a, b))
	})
	var names []string
	for _, h := range hosts[:min(len(hosts), toldHosts)] {
		names = append(names, fmt.Sprintf("%s (%d)", h, r.hosts[h]))
	}
	if len(hosts) > toldHosts {
		names = append(names, "and others")
	}
	return strings.Join(names, ", ")
}
