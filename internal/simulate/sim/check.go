package sim

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

func configError(where, what, do string) error {
	return job.ConfigError(where, what, do)
}

// check returns an error of class User if the jobs do not fit the cluster, or the adaptor the jobs. What is wrong with a cluster or a job
// by itself is refused by those who read them.
func (cfg *Config) check() error {
	if n := cfg.Cluster.Nodes; n < 1 {
		return configError("cluster", fmt.Sprintf("it has %d nodes", n), "give it at least one node")
	}
	if err := cfg.checkAdaptor(); err != nil {
		return err
	}
	last := job.Time(0)
	for i := range cfg.Rigid {
		r := &cfg.Rigid[i]
		if err := ordered(r.ID, r.Submit, &last); err != nil {
			return err
		}
		if r.Nodes < 1 || r.Nodes > cfg.Cluster.Nodes {
			return jobError(r.ID, fmt.Sprintf("it needs %d nodes, but the cluster has %d", r.Nodes, cfg.Cluster.Nodes), "")
		}
	}
	last = 0
	for i := range cfg.Elastic {
		e := &cfg.Elastic[i]
		if err := ordered(e.ID, e.Submit, &last); err != nil {
			return err
		}
		if err := cfg.checkElastic(e); err != nil {
			return err
		}
	}
	return nil
}

func jobError(id int64, what, do string) error {
	return configError(fmt.Sprintf("job %d", id), what, do)
}

// ordered returns an error if a job is submitted before the last one.
func ordered(id int64, submit job.Time, last *job.Time) error {
	if submit < *last {
		return jobError(id, "its submission time is before that of the previous job", "")
	}
	*last = submit
	return nil
}

// node returns what a node has.
func (c *Cluster) node() job.Resources { return job.Resources{CPUs: max(c.Cores, 1), Mem: c.Memory} }

func (cfg *Config) checkAdaptor() error {
	a, c := &cfg.Adaptor, cfg.Cloud
	switch {
	case a.Way == Paper && a.Unknown && len(cfg.Elastic) > 0:
		return configError("adaptor", "the paper's algorithm needs a profile of the application", "use another way, or clear Unknown")
	case a.Way == Rented && (c == nil || len(c.Types) == 0):
		return configError("cloud", "there are no machines to rent", "give the types of machines")
	case a.Way == Rented && a.Shared:
		return configError("adaptor", "rented machines cannot be shared by jobs", "clear Shared")
	}
	return nil
}

func (cfg *Config) checkElastic(e *workload.Elastic) error {
	longest := time.Duration(0)
	for _, ds := range [][]time.Duration{e.Maps, e.Reduces, e.FirstShuffle, e.Shuffle} {
		for _, d := range ds {
			longest = max(longest, d)
		}
	}
	fastest := 1.0
	if cfg.Cluster.Speeds != nil {
		fastest = slices.Max(cfg.Cluster.Speeds)
	}
	need := cfg.Cluster.StartUp + time.Duration(float64(longest)/fastest)
	switch rented := cfg.Adaptor.Way == Rented; {
	case rented && len(e.Reduces) > 0:
		return jobError(e.ID, "only bags of tasks can run on rented machines", "remove the job, or use another way")
	case e.Further != nil && (len(e.Reduces) > 0 || rented):
		return jobError(e.ID, "its tasks have needs of their own, but it is no bag on the cluster", "")
	case e.After != 0 && !slices.ContainsFunc(cfg.Elastic, func(b workload.Elastic) bool { return b.ID == e.After && b.ID < e.ID }):
		return jobError(e.ID, fmt.Sprintf("it comes after job %d, but no earlier job has this number", e.After), "")
	case cfg.Cluster.MaxTime > 0 && need > cfg.Cluster.MaxTime:
		return jobError(e.ID, fmt.Sprintf("the queue accepts wall times of up to %v, but one of its tasks needs %v", cfg.Cluster.MaxTime, need), "allow more time")
	}
	return nil
}
