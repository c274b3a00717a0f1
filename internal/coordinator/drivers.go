package coordinator

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"berth/internal/driver"
	"berth/internal/driver/batch"
	"berth/internal/driver/local"
	"berth/internal/driver/slurm"
	"berth/internal/engine"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/predict"
)

// hasSlurm reports whether Slurm's commands are installed here. Whether a controller
// answers is not asked: it may be away while a coordinator starts, and come back.
func hasSlurm() bool {
	_, err := exec.LookPath("sbatch")
	return err == nil
}

// addDrivers adds the drivers for the places that can be reached from here.
func (s *Server) addDrivers() error {
	if !s.opts.StandIn {
		if err := s.addLocal(); err != nil {
			return err
		}
	}
	if s.batchHere() {
		s.addSlurm()
	}
	return nil
}

// addLocal adds the driver for this machine.
func (s *Server) addLocal() error {
	m, err := local.ThisMachine()
	if err != nil {
		return err
	}
	s.nodeType = predict.NodeType(m.CPUModel, len(m.CPUs))
	dir := filepath.Join(s.home.Server(), "allocs")
	if err := local.Sweep(dir, s.known()); err != nil {
		s.log.Warn("an allocation that is over leaves something", "err", err)
	}
	s.places.add(local.Name, local.New(local.Options{
		Exe: s.opts.Exe, Dir: dir, Scratch: local.DefaultScratch(), Machine: m,
		Issue:  issuer(s.callers.ca, s.reach.local),
		Report: s.input, Now: s.now, Log: s.log,
	}))
	return nil
}

func (s *Server) slurmDir() string { return filepath.Join(s.home.Server(), slurm.Name) }

// addSlurm adds the driver for the Slurm clusters that jobs of this machine go to. It runs in the loop, or before it.
// What its nodes need lies in the state folder, which they see, and so does map output,
// so that it outlives the allocation that made it, unless --scratch says otherwise.
func (s *Server) addSlurm() {
	d := batch.New(batch.Options{
		System: func(env []string) batch.System { return slurm.Open(env) },
		Exe:    s.opts.Exe, Dir: s.slurmDir(), Scratch: filepath.Join(s.home.Dir, "scratch"),
		Issue:  issuer(s.callers.ca, s.reach.nodes),
		Report: s.input, Now: s.now, Wall: wallNow, Log: s.log, Env: os.Environ(),
		StandIn: s.standIns(), Inside: s.opts.Inside, Wake: s.policy.standIn == home.StandInOn,
	})
	if err := d.Sweep(append(s.known(), s.engine.Uncleared()...)); err != nil {
		s.log.Warn("an allocation that is over leaves something", "err", err)
	}
	s.places.add(slurm.Name, d)
}

// known returns the allocations that are not over.
func (s *Server) known() []job.AllocID {
	var ids []job.AllocID
	for _, a := range s.engine.Allocs() {
		ids = append(ids, a.ID)
	}
	return ids
}

// clear lets the driver remove what is left of an elastic allocation, and tells the engine when it
// is gone. It is begun after the calls before it, as the allocation may have to be released
// first, and no call waits for it: folders on a file system that does not answer take for ever.
func (s *Server) clear(a engine.Clear) {
	delete(s.shapes, a.Alloc)
	ok := s.places.call(a.On, func(ctx context.Context, d driver.Driver) { go s.clearNow(ctx, d, a.Alloc) })
	if !ok { // once its driver is there again, it removes what no coordinator knows (Sweep)
		go s.input(engine.Cleared{Alloc: a.Alloc})
	}
}

func (s *Server) clearNow(ctx context.Context, d driver.Driver, id job.AllocID) {
	if err := d.Clear(ctx, id); err != nil {
		s.log.Warn("an allocation leaves something", "alloc", id, "err", err)
		return // the next coordinator tries again
	}
	s.input(engine.Cleared{Alloc: id})
}
