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
	open  bool           // a window is
	told  int            // in the window
	more  int            // in the window, beyond those told
	hosts map[string]int // where those came from; some, if there are very many
	last  error          // why the last of them was refused
}

// note takes in that a connection was refused.
func (r *refusals) note(log *slog.Logger, from net.Addr, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open {
		r.open, r.told, r.more, r.hosts = true, 0, 0, make(map[string]int)
		time.AfterFunc(refusalWindow, func() { r.close(log) })
	}
	if r.told < toldRefusals {
		r.told++
		log.Warn("connection refused", "from", from, "err", err)
		return
	}
	r.more++
	r.last = err
	host, _, splitErr := net.SplitHostPort(from.String())
	if splitErr != nil {
		host = from.String()
	}
	if _, known := r.hosts[host]; known || len(r.hosts) < maxHosts {
		r.hosts[host]++
	}
}

// close ends a window, and tells what it has not told.
func (r *refusals) close(log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = false
	if r.more > 0 {
		log.Warn(fmt.Sprintf("%d more connections refused in the last minute", r.more), "from", r.from(), "last", r.last)
	}
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
