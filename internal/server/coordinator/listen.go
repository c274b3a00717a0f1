package coordinator

import (
	"berth/internal/core/job"
	"berth/internal/wire"
)

// listenForWorkers begins to listen on the Unix socket to which all workers dial whose connections begin on this machine, and, if the
// user says where, on a port for those on nodes (Options.Listen). Without that there is no port until the first of them gets
// its keys (nodeAddresses), because anybody can connect to a port.
func (s *Server) listenForWorkers() error {
	place, err := wire.ParseListenAddress(s.opts.Listen)
	if err != nil {
		return err
	}
	l, err := wire.Listen(s.home.WorkerSocket(), s.id, s.refused)
	if err != nil {
		return err
	}
	s.accept(l)
	if place.Host != "" || place.To > 0 {
		_, err = s.nodeAddresses()
	}
	return err
}

// accept takes workers' connections until the loop has ended.
func (s *Server) accept(l *wire.Listener) {
	go func() {
		<-s.stopped
		_ = l.Close()
	}()
	go func() {
		for {
			conn, hello, err := l.Accept()
			if err != nil {
				return // the listener is closed; whom it turns away it tells to refused
			}
			go s.serve(conn, hello)
		}
	}()
}

// nodeAddresses returns where workers on nodes of a batch system dial, and begins to listen there if nobody has asked before.
func (s *Server) nodeAddresses() ([]string, error) {
	s.listening.Lock()
	defer s.listening.Unlock()
	if s.nodeAddrs != nil {
		return s.nodeAddrs, nil
	}
	place, err := wire.ParseListenAddress(s.opts.Listen)
	if err != nil {
		return nil, err
	}
	if place.Host == "" {
		place.Host = wire.Everywhere
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
	s.accept(l)
	s.nodeAddrs, s.port = l.Addresses(), l.Addr().String()
	s.log.Info("coordinator listens for workers on nodes", "workers", s.port)
	return s.nodeAddrs, nil
}

// address returns where the coordinator listens for workers: its port, or the socket if it has none.
func (s *Server) address() string {
	s.listening.Lock()
	defer s.listening.Unlock()
	if s.port == "" {
		return s.home.WorkerSocket()
	}
	return s.port
}

// socketAddress returns where workers dial whose connections begin on this machine.
func (s *Server) socketAddress() ([]string, error) { return []string{s.home.WorkerSocket()}, nil }

// issue issues keys to a worker that dials to these addresses.
func (s *Server) issue(node job.NodeID, path string, addresses func() ([]string, error)) error {
	addrs, err := addresses()
	if err != nil {
		return err
	}
	id, err := s.ca.IssueWorker(node)
	if err != nil {
		return err
	}
	return wire.WriteBundle(path, addrs, id)
}
