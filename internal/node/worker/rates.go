package worker

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
	"berth/internal/sys/statedir"
)

// idleProbe is how long nothing must have run on the node before its disk is measured. The measurement would slow a task
// down, and its result would be too low.
const idleProbe = 5 * time.Second

// rates is the speed of the disk and of the network of the worker's node. The user's values are used if there are any. Otherwise the
// network is as fast as its link, and the disk is measured once when the node is idle; the result is stored for later workers.
type rates struct {
	cfg  *Config
	host string
	told struct{ disk, net int64 }
	kept int64 // speed of the disk measured by an earlier worker; 0: none
	once sync.Once
}

// keptDisk is the stored speed of a node's disk, in a file of Config.Nodes with the name of the node.
type keptDisk struct {
	Scratch string `json:"scratch"` // the folder that was measured
	Disk    int64  `json:"disk_bps"`
}

func newRates(cfg *Config) *rates {
	r := &rates{cfg: cfg}
	var err error
	if r.host, err = os.Hostname(); err != nil {
		r.host = string(cfg.Node)
	}
	r.told.disk, r.told.net = cfg.Rates.Of(r.host, cfg.Constraint)
	if r.told.disk > 0 || cfg.Nodes == "" {
		return r
	}
	var k keptDisk
	if statedir.ReadJSON(r.file(), &k) == nil && k.Scratch == cfg.Disk && k.Disk > 0 {
		r.kept = k.Disk
	}
	return r
}

// file returns the path of the node's stored speed.
func (r *rates) file() string {
	return filepath.Join(r.cfg.Nodes, strings.ReplaceAll(r.host, "/", "-")+".json")
}

// capacity returns the resources that the worker offers. address is the one at which map outputs are served. What the user did not set is the
// worker's share of the node's resources.
func (r *rates) capacity(address string) job.Resources {
	c, share := r.cfg.Capacity, int64(max(1, r.cfg.Sharers))
	c.Disk = cmp.Or(r.told.disk, r.kept/share)
	if c.Net = r.told.net; c.Net == 0 {
		if host, _, err := net.SplitHostPort(address); err == nil {
			c.Net = probe.LinkRate(host) / share
		}
	}
	return c
}

// measure measures the disk and stores the result, unless the speed is known or a measurement has failed.
func (r *rates) measure(dir string) {
	if r.cfg.Nodes == "" || r.told.disk > 0 || r.kept > 0 {
		return
	}
	r.once.Do(func() {
		n, err := probe.DiskRate(dir)
		if err == nil {
			err = r.keep(n)
		}
		if err != nil {
			r.cfg.Log.Info("the node's disk is not measured", "err", err)
			return
		}
		r.cfg.Log.Info("the node's disk was measured", "dir", dir, "bytes_s", n)
	})
}

func (r *rates) keep(disk int64) error {
	if err := os.MkdirAll(r.cfg.Nodes, 0o700); err != nil {
		return err
	}
	return statedir.WriteJSON(r.file(), keptDisk{r.cfg.Disk, disk})
}
