package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/workload"
)

// profileKey is what jobs have in common that share a profile: their commands.
type profileKey struct {
	app  string
	kind job.Kind
}

// sampled is how many tasks of each sort a profile is measured on at most.
const sampled = 1000

// pooled is the tasks of all jobs of an application.
type pooled struct {
	maps    []time.Duration
	reduces []reduceTimes
}

// reduceTimes is how long a reduce takes, and its shuffle before the last map has ended and after it.
type reduceTimes struct{ run, first, other time.Duration }

// profilesOf returns the profiles of all applications, each as of one or more earlier runs that
// shared a sample of the tasks of all jobs of the application, drawn from the seed. They stay
// what they are: what is measured during the simulation goes into the plans of its own job alone.
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

// sample returns up to sampled tasks of each sort.
func (p *pooled) sample(rng *rand.Rand) *pooled {
	return &pooled{maps: draw(rng, p.maps), reduces: draw(rng, p.reduces)}
}

// draw returns up to sampled of the values, drawn without replacement; all of them where there
// are no more.
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

// profile returns what so many runs measure that had an equal part of those tasks each.
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

// run adds what a run with just those tasks measures. Reduces by turns begin before the last
// map has ended and after it, so that both sorts of shuffle are known.
func (p *pooled) run(prof *predict.Profile, kind job.Kind) {
	var c predict.Collector
	last := epoch
	for _, d := range p.maps {
		end := epoch.Add(d)
		last = max(last, end)
		if kind == job.Bag {
			c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, Start: epoch, End: end}})
		} else {
			c.Add(job.MapTask, []job.PhaseStat{{Phase: job.PhaseMap, Start: epoch, End: end}})
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
	prof.AddRun(size, epoch, c.Measures())
}
