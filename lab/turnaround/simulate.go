package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	batchsystem "berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/starts"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	jobs "berth/internal/simulate/workload"
	"berth/lab/physics"
)

// startUp is the time from the start of an allocation on a private Slurm until its workers have connected.
const startUp = time.Second

// simulateAll plays the trials in the simulator in place of clusters, which takes milliseconds each, and returns the table and the mean
// turnaround of the jobs of others. The tasks of a MapReduce job have a core each there, while berth packs those that mostly sleep.
func simulateAll(ctx context.Context, todo []trial, policy batch.Policy) (string, error) {
	var all []outcome
	var others strings.Builder
	sums, n := map[string]float64{}, map[string]float64{}
	for _, t := range todo {
		r, err := t.s.simulate(ctx, t.st, policy, uint64(t.nth))
		if err != nil {
			return "", fmt.Errorf("situation %s, %s: %w", t.s.name, t.st.name, err)
		}
		e := &r.Elastic[0]
		asked := allocation{Nodes: e.Nodes, Limit: fmt.Sprintf("? as the first of %d", e.Allocs)}
		all = append(all, t.outcomes(outcome{Situation: t.s.name, Strategy: t.st.name, Nth: t.nth, Request: t.st.request(t.s),
			Turnaround: e.Turnaround(), Wait: e.Wait(), Used: r.HeldElastic, Allocs: []allocation{asked}})...)
		for i := range r.Rigid {
			sums[t.st.name], n[t.st.name] = sums[t.st.name]+r.Rigid[i].Turnaround(), n[t.st.name]+1
		}
	}
	for _, st := range strategies {
		if n[st.name] > 0 {
			fmt.Fprintf(&others, "; %s %.1f s", st.name, sums[st.name]/n[st.name])
		}
	}
	return tables(compareAll(all)) + "\nMean turnaround of the jobs of others" + others.String() + "\n", nil
}

// simulate plays a situation with one strategy. The seed draws the tasks of the earlier run from which berth has a profile.
func (s *situation) simulate(ctx context.Context, st *strategy, policy batch.Policy, seed uint64) (*sim.Result, error) {
	rigid, err := s.rigid()
	switch {
	case err != nil:
		return nil, err
	case s.short || s.drained > 0:
		return nil, errors.New("the simulator has one partition, of all nodes")
	}
	return sim.Run(ctx, sim.Config{Policy: policy, Seed: seed, Rigid: rigid, Past: s.ended(), Adaptor: st.adaptor(s), Elastic: []jobs.Elastic{s.elastic()},
		Cluster: s.cluster()})
}

// rigid returns the jobs of others: those that run, which fit, those that wait, and those that come later.
func (s *situation) rigid() (all []jobs.Rigid, err error) {
	in := []situation{*s}
	for _, p := range s.parts {
		in = append(in, situation{name: s.name + " " + p.name, running: p.running, waiting: p.waiting, later: p.later})
	}
	for part, x := range in {
		running, waiting, later, err := x.fills()
		if err != nil {
			return nil, err
		}
		for i := range later {
			later[i].at += planTime
		}
		for _, f := range slices.Concat(running, waiting, later) {
			if f.cpus != cpusPerNode {
				return nil, fmt.Errorf("nodes are whole in the simulator, and a job uses %d of %d CPUs", f.cpus, cpusPerNode)
			}
			for range f.copies {
				all = append(all, jobs.Rigid{ID: int64(len(all) + 1), User: -1, Submit: job.Time(f.at), Nodes: f.nodes, Run: f.real, Request: f.limit, Partition: part})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y jobs.Rigid) int { return cmp.Compare(x.Submit, y.Submit) })
	return all, nil
}

// elastic returns the job under test.
func (s *situation) elastic() jobs.Elastic {
	e := jobs.Elastic{ID: 1, User: 1, App: s.job.name, Submit: job.Time(planTime)}
	for _, d := range s.job.durations(seedRun) {
		e.Maps = append(e.Maps, time.Duration(d*float64(time.Second)))
	}
	for range s.job.reduces {
		e.Reduces = append(e.Reduces, time.Duration(s.job.reduceTo*float64(time.Second)))
	}
	return e
}

// ended returns the jobs of the hour before.
func (s *situation) ended() (all []starts.Ended) {
	for i, f := range s.past {
		of := starts.Job{User: batchsystem.Number(""), Nodes: int32(f.nodes), Limit: f.limit}
		all = append(all, starts.Ended{Job: of, At: job.Time(i) * job.Time(time.Hour) / job.Time(len(s.past)), Run: f.real})
	}
	return all
}

// adaptor returns how the simulator makes the strategy's requests.
func (st *strategy) adaptor(s *situation) sim.Adaptor {
	switch {
	case st.direct != nil:
		return physics.Narrow()
	case st.shape == nil:
		a := sim.Adaptor{Way: sim.Berth, History: true, Unknown: st.unknowing(s)}
		if s.parts != nil {
			a.Request = job.Request{Partition: batchsystem.Anywhere, PreemptibleOK: s.preemptible}
		}
		return a
	}
	of, among := st.shape(s), ""
	if s.parts != nil && st.among != "" {
		among = s.listed()
	}
	return sim.Adaptor{Way: sim.Berth, Among: st.among, Request: job.Request{Partition: among, MinNodes: of.nodes, MaxNodes: of.nodes, MaxTime: time.Duration(of.minutes) * time.Minute,
		WallTime: job.WallMax, MaxAllocs: 1, NoScout: true}}
}
