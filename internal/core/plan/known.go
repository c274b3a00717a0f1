package plan

import (
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// enough is how many tasks of this run must be measured before they replace the profile: the mean of five lies within
// half of their standard deviation of the true mean.
const enough = 5

// known is the knowledge about the durations of a job's tasks.
type known struct {
	ok      bool
	inv     predict.Invariants
	guessed bool   // the durations of reduces are guessed
	runs    int    // measured runs, or measured tasks of this run: the spread shrinks with it
	source  string // what it is based on, in words
}

// knowledgeOf returns the knowledge about the tasks of a job of that size, and sets the expected durations of the kinds of a mix. A kind of which
// nothing is known alone has the durations of all tasks, or if these are unknown those of the other kinds.
func knowledgeOf(q *Question, size predict.Size, m taskMix) known {
	all := knowAll(q, size)
	var kinds []predict.Weighted
	own := 0
	for i := range m {
		k := all
		m[i].seconds = 0
		if x := m[i].index; x < len(q.Own) && q.Own[x].enough(m[i].tasks, all.ok) {
			alone := Question{Profile: q.Own[x].Profile, Measured: q.Own[x].Measured}
			if r := q.Remaining; r != nil && x < len(r.Needs) {
				alone.Remaining = &job.Remaining{Needs: r.Needs[x : x+1]}
			}
			if of := knowAll(&alone, predict.Size{Kind: size.Kind, Tasks: m[i].tasks}); of.ok {
				own++
				k = of
			}
		}
		if k.ok {
			m[i].seconds = k.inv.Map.Avg
			kinds = append(kinds, predict.Weighted{Invariant: k.inv.Map, Tasks: m[i].tasks})
			all.runs = max(all.runs, k.runs)
		}
	}
	if own == 0 {
		return all
	}
	if !all.ok {
		all.source = "measurements of tasks with the same needs"
	}
	all.ok, all.inv.Map = true, predict.Mixture(kinds)
	for i := range m {
		if m[i].seconds == 0 {
			m[i].seconds = all.inv.Map.Avg
		}
	}
	return all
}

// enough reports whether so much is known of tasks with the same needs that it replaces what is known of all tasks, if something is.
func (o *Own) enough(tasks int, known bool) bool {
	return !known || o.Profile != nil || o.Measured != nil && samples(o.Measured.Measures, job.Bag) >= min(enough, tasks)
}

// knowAll returns the knowledge about the tasks of a job of that size. Measurements of this run replace the profile of
// earlier runs once there are enough of them.
func knowAll(q *Question, size predict.Size) known {
	measured := 0
	if q.Measured != nil {
		measured = samples(q.Measured.Measures, size.Kind)
	}
	profile := nearProfile(q.Profile, size)
	if measured > 0 && (measured >= min(enough, size.Tasks) || profile == nil) {
		if k := knowFrom(q.Measured, profile, size); k.ok {
			k.inv.Map = k.inv.Map.WithRunning(q.ages())
			k.runs = measured
			k.source = "measured on " + job.Count(measured, taskNoun(size.Kind)) + " of this run" + k.source
			return k
		}
	}
	if profile == nil {
		return known{source: "no profile of this application yet"}
	}
	k := knowFrom(profile, nil, size)
	k.runs = profile.Runs
	k.source = source(profile, size) + k.source
	return k
}

// ages returns for how many seconds the tasks have worked that run.
func (q *Question) ages() (all []float64) {
	if q.Remaining == nil {
		return nil
	}
	for _, n := range q.Remaining.Needs {
		for _, a := range n.Ages {
			all = append(all, a.Seconds())
		}
	}
	return all
}

// shorten takes off what tasks have worked in attempts that asked for another one. Of a task that has worked for nearly as long as is
// expected of it, or longer, a quarter of that time is expected to be left.
func (k *known) shorten(r *job.Remaining) {
	if !k.ok || r == nil || r.Kept == 0 || r.Tasks == 0 {
		return
	}
	if mean, worked := k.inv.Map.Avg, r.Kept.Seconds()/float64(r.Tasks); mean > 0 {
		k.inv.Map = k.inv.Map.Times(max(mean-worked, worked/4) / mean)
	}
}

// samples returns how many bag tasks or maps were measured.
func samples(m predict.Measures, kind job.Kind) int {
	part := predict.BagTask
	if kind == job.MapReduce {
		part = predict.MapTask
	}
	return int(m.Get(part).Time.Count)
}

// knowFrom returns the knowledge of one profile. Reduces that it never measured come from the profile other, or are
// guessed.
func knowFrom(p, other *predict.Profile, size predict.Size) known {
	inv, ok := p.Invariants(size)
	if ok {
		return known{ok: true, inv: inv}
	}
	if size.Kind != job.MapReduce || p.Measures.Get(predict.MapTask).Time.Count == 0 {
		return known{source: ", in which not every stage of this job was measured"}
	}
	if other != nil {
		if past, ok := other.Invariants(size); ok {
			inv.FirstShuffle, inv.OtherShuffle, inv.Reduce = past.FirstShuffle, past.OtherShuffle, past.Reduce
			return known{ok: true, inv: inv, source: "; reduces by the profile of earlier runs"}
		}
	}
	rate := guessReduces(&inv, p, size)
	return known{ok: true, inv: inv, guessed: true, source: "; no reduce was measured yet: guessed from " + rate}
}

// guessReduces sets the durations of reduces where none was ever measured: the same time per byte as maps, shuffle
// included, for the bytes that maps write. Where the bytes of maps are unknown a reduce counts as long as a map. It
// returns the basis of the guess in words.
func guessReduces(inv *predict.Invariants, p *predict.Profile, size predict.Size) (basis string) {
	maps := p.Measures.Get(predict.MapTask)
	f, basis := 1.0, "how long maps take"
	if in := float64(maps.BytesIn); in > 0 && maps.BytesOut > 0 && size.Reduces > 0 {
		perReduce := float64(maps.BytesOut) / float64(maps.Time.Count) * float64(size.Tasks) / float64(size.Reduces)
		f, basis = perReduce/(in/float64(maps.Time.Count)), "the bytes that maps put out, at the rate of maps"
	}
	inv.Reduce = inv.Map.Times(f)
	inv.FirstShuffle, inv.OtherShuffle = predict.Invariant{}, predict.Invariant{}
	return basis
}

func taskNoun(kind job.Kind) string {
	if kind == job.MapReduce {
		return "map"
	}
	return "task"
}
