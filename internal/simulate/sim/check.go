package sim

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// check returns an error of class User for a job that the adaptor cannot run, or the queue cannot. What is wrong with a cluster, an adaptor
// or a job by itself is refused by those who read them.
func (cfg *Config) check() error {
	for i := range cfg.Elastic {
		e := &cfg.Elastic[i]
		if need := cfg.Cluster.LeastTime(e); cfg.Cluster.MaxTime > 0 && need > cfg.Cluster.MaxTime {
			return jobError(e.ID, fmt.Sprintf("the queue accepts wall times of up to %v, but one of its tasks needs %v", cfg.Cluster.MaxTime, need), "allow more time")
		}
		if cfg.Adaptor.Way != Rented {
			continue
		}
		if len(e.Reduces) > 0 {
			return jobError(e.ID, "only bags of tasks can run on rented machines", "remove the job, or use another way")
		}
		if e.Further != nil {
			return jobError(e.ID, "its tasks have needs of their own, but it is no bag on the cluster", "")
		}
	}
	return nil
}

func jobError(id int64, what, do string) error {
	return job.ConfigError(fmt.Sprintf("job %d", id), what, do)
}

// LeastTime returns the wall time that an allocation needs for the longest task of a job.
func (c *Cluster) LeastTime(e *workload.Elastic) time.Duration {
	longest, fastest := time.Duration(0), 1.0
	for _, ds := range [][]time.Duration{e.Maps, e.Reduces, e.FirstShuffle, e.Shuffle} {
		for _, d := range ds {
			longest = max(longest, d)
		}
	}
	if c.Speeds != nil {
		fastest = slices.Max(c.Speeds)
	}
	return c.StartUp + time.Duration(float64(longest)/fastest)
}
