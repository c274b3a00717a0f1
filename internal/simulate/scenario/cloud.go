package scenario

import (
	"os"
	"time"

	"berth/internal/core/catalogue"
	"berth/internal/core/job"
	"berth/internal/core/tomlfile"
	"berth/internal/simulate/sim"
)

// readCloud reads the machines that can be rented. A scenario with a cloud and without a cluster
// gets a cluster of one unused node.
func (s *Scenario) readCloud(t *tomlfile.Table) {
	if t == nil {
		return
	}
	s.cloud = &sim.Cloud{Bytes: t.Size("input") + t.Size("output"), Server: t.Size("server"), BootSpread: t.Number("boot_spread", 0, 10, 0)}
	if s.catalogue = t.Text("catalogue", ""); s.catalogue == "" {
		t.Bad("catalogue", "catalogue is missing", "name a TOML file with the types of machines (docs/rented.md has an example)")
	}
	t.Done()
}

// loadCloud reads the catalogue of machine types.
func (s *Scenario) loadCloud() error {
	if s.cloud == nil {
		return nil
	}
	path := s.relative("cloud.catalogue", s.catalogue)
	data, err := os.ReadFile(path)
	if err != nil {
		return job.InputError(s.at("cloud.catalogue"), "cannot read the catalogue", "").Because(err)
	}
	c, err := catalogue.Read(path, data, catalogue.Task{Seconds: 1, Need: job.Resources{CPUs: 1}, Speeds: true})
	s.cloud.Types, s.cloud.Transfer = c.Types, c.Transfer
	if s.Cluster.Nodes == 0 {
		s.Cluster.Nodes = 1
	}
	return err
}

// readRented reads the keys of an adaptor that concern rented machines.
func readRented(t *tomlfile.Table, a *sim.Adaptor) {
	a.Deadline = span(t, "deadline", time.Second, 0)
	a.Budget = t.Number("budget", 0, 1e9, 0)
	a.Once = !t.Flag("replan", true)
}
