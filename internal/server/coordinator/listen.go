package coordinator

import (
	"berth/internal/core/job"
	"berth/internal/wire"
)

// reach is where workers dial.
type reach struct {
	local []string // those on this machine
	nodes []string // those on nodes of a batch system
}

// listenForWorkers begins to listen where Options.Listen says. Where that names no host it
// is on all interfaces if nodes of a batch system may dial, or a port is named, which is
// for their sake; else for this machine alone.
func (s *Server) listenForWorkers(batch bool) (*wire.Listener, error) {
	place, err := wire.ParseListenAddress(s.opts.Listen)
	if err != nil {
		return nil, err
	}
	switch {
	case place.Host != "":
	case batch || place.To > 0:
		place.Host = wire.Everywhere
	default:
		place.Host = "127.0.0.1"
	}
	l, err := wire.ListenAt(place, s.id, s.refused)
	if err != nil && s.opts.StandIn && place.Host != wire.Everywhere { // the user named the login node
		place.Host = wire.Everywhere
		s.log.Warn("the stand-in listens on all interfaces", "err", err)
		l, err = wire.ListenAt(place, s.id, s.refused)
	}
	if err != nil {
		return nil, err
	}
	s.address = l.Addr().String()
	s.reach = reach{local: []string{l.Local()}, nodes: l.Addresses()}
	return l, nil
}

// issuer returns how a driver issues keys to its workers, which dial at those addresses.
func (s *Server) issuer(addrs []string) func(node job.NodeID, path string) error {
	return func(node job.NodeID, path string) error {
		id, err := s.ca.IssueWorker(node)
		if err != nil {
			return err
		}
		return wire.WriteBundle(path, addrs, id)
	}
}
