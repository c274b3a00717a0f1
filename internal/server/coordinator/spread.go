package coordinator

import (
	"net"
	"runtime"

	"berth/internal/core/job"
)

// spread is on how many cores at once the coordinator's own code runs.
type spread struct {
	most int       // as many as the Go runtime chose, or as GOMAXPROCS says
	set  func(int) // runtime.GOMAXPROCS
	now  int
}

func newSpread() spread {
	most := runtime.GOMAXPROCS(0)
	return spread{most: most, now: most, set: func(n int) { runtime.GOMAXPROCS(n) }}
}

// adapt chooses one core while all workers are on the coordinator's machine, where tasks use every core, and the most
// otherwise. With more than one the runtime wakes a further thread for each message that arrives, which
// finds nothing to do: a thirtieth of a millisecond for each short task, taken from the tasks.
func (s *spread) adapt(sessions map[job.NodeID]*session) {
	n := s.most
	for _, ses := range sessions {
		n = 1
		if !ses.near {
			n = s.most
			break
		}
	}
	if n != s.now {
		s.now = n
		s.set(n)
	}
}

// isNear reports whether the worker at the other end of a connection runs on this machine.
func isNear(addr net.Addr, apart bool) bool {
	_, here := addr.(*net.UnixAddr)
	return here && !apart // a worker on a host of ssh is reached through a process of this machine
}
