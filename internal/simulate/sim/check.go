package sim

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

func configError(where, what, do string) error {
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: where, What: what, Do: do}
}

// check returns an error of class User if the Config is inconsistent.
func (cfg *Config) check() error {
	if err := cfg.checkCluster(); err != nil {
		return err
	}
	if err := cfg.checkAdaptor(); err != nil {
		return err
	}
	last := job.Time(0)
	for i := range cfg.Rigid {
		if err := cfg.checkRigid(&cfg.Rigid[i], last); err != nil {
			return err
		}
		last = cfg.Rigid[i].Submit
	}
	last = 0
	for i := range cfg.Elastic {
		if err := cfg.checkElastic(&cfg.Elastic[i], last); err != nil {
			return err
		}
		last = cfg.Elastic[i].Submit
	}
	return nil
}

func (cfg *Config) checkCluster() error {
	c := &cfg.Cluster
	switch {
	case c.Nodes < 1:
		return configError("cluster", fmt.Sprintf("it has %d nodes", c.Nodes), "give it at least one node")
	case c.Cores < 0 || c.MaxTime < 0 || c.StartUp < 0:
		return configError("cluster", "cores and times cannot be negative", "")
	case c.Speeds != nil && len(c.Speeds) != c.Nodes:
		return configError("cluster", fmt.Sprintf("it has %d nodes, but %d speeds are given", c.Nodes, len(c.Speeds)), "give one speed for each node, or none at all")
	case slices.ContainsFunc(c.Speeds, func(s float64) bool { return !(s > 0) }):
		return configError("cluster", "every speed must be above 0", "")
	}
	if _, err := batch.ParsePolicy(string(cfg.Policy)); err != nil {
		return configError("policy", err.Error(), "")
	}
	f := &cfg.Faults
	if f.NodeMTBF < 0 || f.Repair < 0 || f.SlowMTBF < 0 || f.SlowFor < 0 || !(f.SlowBy >= 0) || !(f.TaskFails >= 0 && f.TaskFails <= 1) {
		return configError("faults", "times and factors must not be negative, and fractions must be between 0 and 1", "")
	}
	if f.SlowMTBF > 0 && f.SlowBy == 0 {
		return configError("faults", "nodes become slow, but SlowBy is not set", "set SlowBy to the factor by which tasks take longer")
	}
	return nil
}

// node returns what a node has.
func (c *Cluster) node() job.Resources { return job.Resources{CPUs: max(c.Cores, 1), Mem: c.Memory} }

func (cfg *Config) checkAdaptor() error {
	a := &cfg.Adaptor
	if _, err := sched.ParseOrder("order", string(a.Order)); err != nil {
		return err
	}
	switch {
	case a.Way == Rented:
		return cfg.checkCloud()
	case len(cfg.Elastic) == 0 || a.Way == Naive || a.Way == Berth || a.Way == Paper && !a.Unknown:
		return nil
	case a.Way == Paper:
		return configError("adaptor", "the paper's algorithm needs a profile of the application", "use another way, or clear Unknown")
	}
	return configError("adaptor", fmt.Sprintf("there is no way %q", a.Way), fmt.Sprintf("use one of %s, %s, %s", Naive, Paper, Berth))
}

func (cfg *Config) checkRigid(r *workload.Rigid, last job.Time) error {
	where := fmt.Sprintf("job %d", r.ID)
	switch {
	case r.Submit < last:
		return configError(where, "its submission time is before that of the previous job", "")
	case r.Nodes < 1 || r.Nodes > cfg.Cluster.Nodes:
		return configError(where, fmt.Sprintf("it needs %d nodes, but the cluster has %d", r.Nodes, cfg.Cluster.Nodes), "")
	case r.Run < 0 || r.Request < 1:
		return configError(where, fmt.Sprintf("it runs for %v and requests %v", r.Run, r.Request), "")
	}
	return nil
}

func (cfg *Config) checkElastic(e *workload.Elastic, last job.Time) error {
	where := fmt.Sprintf("job %d", e.ID)
	longest := time.Duration(0)
	for _, ds := range [][]time.Duration{e.Maps, e.Reduces, e.FirstShuffle, e.Shuffle} {
		for _, d := range ds {
			if d < 0 {
				return configError(where, fmt.Sprintf("a task takes %v", d), "")
			}
			longest = max(longest, d)
		}
	}
	wrong := func(shuffle []time.Duration) bool { return shuffle != nil && len(shuffle) != len(e.Reduces) }
	switch {
	case e.Submit < last:
		return configError(where, "its submission time is before that of the previous job", "")
	case e.After != 0 && !slices.ContainsFunc(cfg.Elastic, func(b workload.Elastic) bool { return b.ID == e.After && b.ID < e.ID }):
		return configError(where, fmt.Sprintf("it comes after job %d, but no earlier job has this number", e.After), "")
	case e.Further != nil && (len(e.Reduces) > 0 || cfg.Adaptor.Way == Rented):
		return configError(where, "its tasks have needs of their own, but it is no bag on the cluster", "")
	case job.CheckRuns(e.Which, len(e.Maps), 1+len(e.Further)) != nil:
		return configError(where, job.CheckRuns(e.Which, len(e.Maps), 1+len(e.Further)).Error(), "")
	case slices.ContainsFunc(e.Further, func(n job.Needs) bool { return n.CPUs < 1 || !n.Resources().Fits(cfg.Cluster.node()) }):
		return configError(where, "one of its tasks needs more than a node has", "give the nodes more cores or memory")
	case len(e.Maps) == 0:
		return configError(where, "it has no tasks", "")
	case wrong(e.FirstShuffle) || wrong(e.Shuffle):
		return configError(where, "the number of its shuffles differs from the number of its reduces", "")
	}
	fastest := 1.0
	if cfg.Cluster.Speeds != nil {
		fastest = slices.Max(cfg.Cluster.Speeds)
	}
	if need := cfg.Cluster.StartUp + time.Duration(float64(longest)/fastest); cfg.Cluster.MaxTime > 0 && need > cfg.Cluster.MaxTime {
		return configError(where, fmt.Sprintf("the queue accepts wall times of up to %v, but one of its tasks needs %v", cfg.Cluster.MaxTime, need), "allow more time")
	}
	return nil
}
