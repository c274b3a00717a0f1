package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/simulate/workload"
)

// profileKey identifies the jobs that share a profile: same application, same kind.
type profileKey struct {
	app  string
	kind job.Kind
}

// sampled is the largest number of tasks of each kind in a profile.
const sampled = 1000

// pooled is the tasks of all jobs of an application.
type pooled struct {
	maps    []time.Duration
	reduces []reduceTimes
}

// reduceTimes is the duration of a reduce, of its shuffle if it begins before the last map has
// ended, and of its shuffle otherwise.
type reduceTimes struct{ run, first, other time.Duration }

// profilesOf returns the profiles of all applications. Each profile is measured by one or more
// earlier runs on a sample, drawn from the seed, of the tasks of all jobs of the application.
// Profiles do not change during the simulation: what a job measures affects only the plans of that
// job.
func profilesOf(cfg *Config) map[profileKey]*predict.Profile {
	out := make(map[profileKey]*predict.Profile)
	if cfg.Adaptor.Unknown {
		return out
	}
	pools := make(map[string]*pooled)
	var apps []string
	for i := range cfg.Elastic {
		e := &cfg.Elastic[i]
		p := pools[e.App]
		if p == nil {
			p = &pooled{}
			pools[e.App] = p
			apps = append(apps, e.App)
		}
		p.add(e)
	}
	for i, name := range apps {
		s := pools[name].sample(rand.New(rand.NewPCG(cfg.Seed, profileStream+uint64(i))))
		out[profileKey{name, job.Bag}] = s.profile(name, job.Bag, cfg.Adaptor.Runs)
		if len(s.reduces) > 0 {
			out[profileKey{name, job.MapReduce}] = s.profile(name, job.MapReduce, cfg.Adaptor.Runs)
		}
	}
	return out
}

func (p *pooled) add(e *workload.Elastic) {
	p.maps = append(p.maps, e.Maps...)
	for i, d := range e.Reduces {
		t := reduceTimes{run: d}
		if e.FirstShuffle != nil {
			t.first = e.FirstShuffle[i]
		}
		if e.Shuffle != nil {
			t.other = e.Shuffle[i]
		}
		p.reduces = append(p.reduces, t)
	}
}

// sample returns up to sampled tasks of each kind.
func (p *pooled) sample(rng *rand.Rand) *pooled {
	return &pooled{maps: draw(rng, p.maps), reduces: draw(rng, p.reduces)}
}

// draw returns sampled values, drawn without replacement, or all values if there are not more.
func draw[T any](rng *rand.Rand, values []T) []T {
	if len(values) <= sampled {
		return values
	}
	all := slices.Clone(values)
	for i := range sampled {
		k := i + rng.IntN(len(all)-i)
		all[i], all[k] = all[k], all[i]
	}
	return all[:sampled]
}

// profile returns the profile that a number of runs measure, each on an equal part of the tasks.
func (p *pooled) profile(name string, kind job.Kind, runs int) *predict.Profile {
	prof := &predict.Profile{App: name}
	runs = min(max(runs, 1), len(p.maps))
	for r := range runs {
		q := &pooled{maps: part(p.maps, r, runs), reduces: part(p.reduces, r, runs)}
		q.run(prof, kind)
	}
	return prof
}

// part returns part i of n of the values.
func part[T any](d []T, i, n int) []T { return d[len(d)*i/n : len(d)*(i+1)/n] }

// run adds the measurements of one run. Every second reduce begins before the last map has ended, so
// that both kinds of shuffle are measured.
func (p *pooled) run(prof *predict.Profile, kind job.Kind) {
	var c predict.Collector
	last := Epoch
	for _, d := range p.maps {
		end := Epoch.Add(d)
		last = max(last, end)
		if kind == job.Bag {
			c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, Start: Epoch, End: end}})
		} else {
			c.Add(job.MapTask, []job.PhaseStat{{Phase: job.PhaseMap, Start: Epoch, End: end}})
		}
	}
	size := predict.Size{Kind: kind, Tasks: len(p.maps)}
	if kind == job.MapReduce {
		size.Reduces = len(p.reduces)
		for i, t := range p.reduces {
			start, shuffled := last-1, last.Add(t.first)
			if i%2 == 1 {
				start, shuffled = last, last.Add(t.other)
			}
			c.Add(job.ReduceTask, []job.PhaseStat{{Phase: job.PhaseShuffle, Start: start, End: shuffled},
				{Phase: job.PhaseReduce, Start: shuffled, End: shuffled.Add(t.run)}})
		}
	}
	prof.AddRun(size, Epoch, c.Measures())
}
