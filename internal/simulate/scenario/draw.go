package scenario

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/tomlfile"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// check reports, from the jobs of the first replication, what no simulation could run: a missing
// cluster, jobs that are larger than the cluster, and tasks that are longer than any allocation.
func (s *Scenario) check() error {
	if s.Cluster.Nodes < 1 {
		return job.ConfigError(s.at("cluster"), "the number of nodes of the cluster is missing", "write nodes under [cluster], or give --nodes")
	}
	r := tomlfile.NewReader(s.doc.Document, nil)
	for i := range s.rigid {
		s.checkRigid(r, &s.rigid[i])
	}
	for i := range s.elastic {
		if own := s.elastic[i].own; own != nil && own.spread && s.busy() == 0 {
			r.Bad(s.elastic[i].path+"spread", "spread needs rigid jobs that arrive over some time", "add [[rigid]] jobs from a log or with for, or write submit, repeat and every")
		}
	}
	for i := range s.elastic {
		s.checkNeeds(r, &s.elastic[i])
	}
	if r.Err() == nil && s.Cluster.MaxTime > 0 {
		for i := range s.elastic {
			s.checkTasks(r, i)
		}
	}
	return r.Err()
}

// checkRigid reports jobs that are larger than the cluster.
func (s *Scenario) checkRigid(r *tomlfile.Reader, source *rigidSource) {
	for i, j := range source.jobs {
		if j.Nodes > s.Cluster.Nodes {
			path := source.path
			if source.swf+source.sacct == "" {
				path = fmt.Sprintf("%sjobs[%d].nodes", source.path, i)
			}
			r.Bad(path, fmt.Sprintf("job %d needs %d nodes, but the cluster has %d", j.ID, j.Nodes, s.Cluster.Nodes), "")
			return
		}
	}
}

// checkNeeds reports tasks that need more than a node has.
func (s *Scenario) checkNeeds(r *tomlfile.Reader, source *elasticSource) {
	if source.own == nil {
		return
	}
	for i, n := range source.own.needs {
		if has := (job.Resources{CPUs: s.Cluster.Cores, Mem: s.Cluster.Memory}); !n.Resources().Fits(has) {
			r.Bad(fmt.Sprintf("%sneeds[%d]", source.path, i), fmt.Sprintf("a task needs %s, and a node has %s", n.Resources().Words(), has.Words()), "give the nodes more cores or memory")
		}
	}
}

// checkTasks reports a source with a task that is longer than the queue's maximum wall time.
func (s *Scenario) checkTasks(r *tomlfile.Reader, i int) {
	need := time.Duration(0)
	for _, e := range s.drawElastic(i, 0) {
		need = max(need, s.Cluster.LeastTime(&e))
	}
	if need > s.Cluster.MaxTime {
		r.Bad("cluster.max_time", fmt.Sprintf("the queue accepts wall times of up to %s, but a task of %s needs %s", job.FormatDuration(s.Cluster.MaxTime), s.at(s.elastic[i].path), job.FormatDuration(need)), "allow more time")
	}
}

// config returns the simulation of a replication, counted from 0, under an adaptor, or of the rigid jobs alone if way is nil. What a source
// of jobs draws depends only on the seed, the replication and the source's position in the scenario.
func (s *Scenario) config(replication int, way *Way) sim.Config {
	cfg := sim.Config{Cluster: s.Cluster, Policy: s.Policy, Faults: s.Faults, Seed: s.rng(replication, simulation, 0).Uint64(), Cloud: s.cloud}
	var rigid [][]workload.Rigid
	for i := range s.rigid {
		rigid = append(rigid, s.drawRigid(i, replication))
	}
	cfg.Rigid = workload.MergeRigid(rigid...)
	if way != nil {
		var elastic [][]workload.Elastic
		for i := range s.elastic {
			elastic = append(elastic, s.drawElastic(i, replication))
		}
		cfg.Elastic, cfg.Adaptor = workload.MergeElastic(elastic...), way.Adaptor
	}
	return cfg
}

// The purposes of random numbers.
const (
	simulation uint64 = iota
	rigidJobs
	rigidEstimates
	elasticJobs
)

// rng returns the random source for one purpose.
func (s *Scenario) rng(replication int, purpose uint64, index int) *rand.Rand {
	return rand.New(rand.NewPCG(s.Seed, uint64(replication)<<32|purpose<<24|uint64(index)))
}

func (s *Scenario) drawRigid(i, replication int) []workload.Rigid {
	source := &s.rigid[i]
	jobs := slices.Clone(source.jobs)
	if l := source.lublin; l != nil {
		params := l.params // a copy, because several replications are drawn at once
		params.Nodes = s.Cluster.Nodes
		jobs = workload.Drawn(workload.NewLublin(params, s.rng(replication, rigidJobs, i)).Next, l.jobs, l.length)
	}
	switch source.estimates {
	case estimatesModel:
		m := workload.Estimates{Factor: source.factor, Max: s.Cluster.MaxTime}
		m.Apply(jobs, s.rng(replication, rigidEstimates, i))
	case estimatesExact:
		requestExactly(jobs)
	}
	return jobs
}

// requestExactly makes jobs request the times that they run.
func requestExactly(jobs []workload.Rigid) {
	for i := range jobs {
		jobs[i].Request = max(jobs[i].Run, time.Millisecond)
	}
}

func (s *Scenario) drawElastic(i, replication int) []workload.Elastic {
	source, rng := &s.elastic[i], s.rng(replication, elasticJobs, i)
	switch {
	case source.facebook != nil:
		f := source.facebook
		return workload.Drawn(workload.NewFacebook(f.params, rng).Next, f.jobs, f.length)
	case source.own != nil:
		own := *source.own
		if own.spread {
			own.every = s.busy() / time.Duration(own.repeat)
			own.submit = job.Time(own.every / 2)
		}
		return own.draw(rng)
	}
	return source.jobs
}

// busy returns the time in which rigid jobs arrive: up to the last known submission, and at least
// the length of each source that is drawn.
func (s *Scenario) busy() time.Duration {
	last := time.Duration(0)
	for i := range s.rigid {
		r := &s.rigid[i]
		for _, j := range r.jobs {
			last = max(last, j.Submit.Sub(0))
		}
		if r.lublin != nil {
			last = max(last, r.lublin.length)
		}
	}
	return last.Round(time.Millisecond)
}

// draw draws the tasks of the jobs.
func (o *ownSource) draw(rng *rand.Rand) []workload.Elastic {
	jobs := make([]workload.Elastic, o.repeat)
	for i := range jobs {
		e := workload.Elastic{
			App: o.name, User: o.user, Submit: o.submit.Add(time.Duration(i) * o.every), Maps: o.mapTime.Draw(rng, o.maps),
		}
		if o.reduces > 0 {
			e.Reduces = o.reduceTime.Draw(rng, o.reduces)
		}
		if o.shuffles {
			e.Shuffle = o.shuffleTime.Draw(rng, o.reduces)
		}
		o.drawNeeds(&e, rng)
		if o.firsts {
			e.FirstShuffle = o.first.Draw(rng, o.reduces)
		}
		jobs[i] = e
	}
	return jobs
}

// drawNeeds adds the tasks with needs of their own. All tasks are in random order then.
func (o *ownSource) drawNeeds(e *workload.Elastic, rng *rand.Rand) {
	if o.needs == nil {
		return
	}
	of := make([]job.Needs, len(e.Maps))
	for _, n := range o.needs {
		e.Maps = append(e.Maps, n.time.Draw(rng, n.tasks)...)
		of = append(of, slices.Repeat([]job.Needs{n.Needs}, n.tasks)...)
	}
	rng.Shuffle(len(of), func(i, j int) {
		of[i], of[j], e.Maps[i], e.Maps[j] = of[j], of[i], e.Maps[j], e.Maps[i]
	})
	var list job.NeedsList
	for _, n := range of {
		list.Add(n)
	}
	e.Further, e.Which = list.Further, list.Runs()
}
