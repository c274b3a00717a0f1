package starts

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/starts"
	"berth/internal/simulate/workload"
)

// draws is how many draws a prediction has.
const draws = 50

// works are the work of the jobs that choose their size, in hours of the whole machine.
var works = []float64{1, 1.0 / 8}

// sizes are the sizes that they can have, as fractions of the machine.
var sizes = []float64{1.0 / 8, 1.0 / 4, 1.0 / 2, 1}

// Compare predicts the starts of jobs that had to wait, drawn by a seed, on a log that EASY backfilling has run.
// ok is false if no job had to wait.
func Compare(nodes int, jobs []workload.Rigid, samples int, seed uint64) (r Report, ok bool) {
	l := replayed(nodes, jobs)
	var limits, history predictor
	by := make([]chooser, len(works))
	for _, i := range l.sample(samples, seed) {
		m := l.moment(i)
		views := m.views(seed)
		j := l.job(i)
		limits.add(l, i, views[0].Waits(int(j.Nodes), j.Limit))
		history.add(l, i, views[1].Waits(int(j.Nodes), j.Limit))
		for k, work := range works {
			by[k].add(nodes, work, views)
		}
	}
	if len(limits.jobs) == 0 {
		return r, false
	}
	r = Report{Rows: []Row{limits.row("limits"), history.row("history")}}
	for i := range r.Rows {
		r.Rows[i].MAERatio = r.Rows[i].MAE / max(r.Rows[0].MAE, 1)
	}
	for k, work := range works {
		r.Choice = append(r.Choice, by[k].choices(work*float64(nodes))...)
	}
	return r, true
}

// sample draws jobs that had to wait, the first days left out, in the order of submission.
func (l *log) sample(n int, seed uint64) []int {
	var all []int
	for i := range l.jobs {
		if l.wait(i) > 0 && l.jobs[i].Submit.Sub(l.jobs[0].Submit) >= starts.Kept {
			all = append(all, i)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 27))
	rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	all = all[:min(n, len(all))]
	slices.Sort(all)
	return all
}

// views returns the queue as it moves by the limits, by draws from the history, and as it will move.
func (m *moment) views(seed uint64) [3]starts.Draws {
	return [3]starts.Draws{
		{starts.Follow(&m.queue, toLimits{&m.queue})},
		starts.NewPast(&m.history, m.queue.Now).Draw(&m.queue, draws, seed<<32+uint64(m.at)<<8),
		{starts.Follow(&m.queue, m)},
	}
}

// predictor is what one way of predicting gave.
type predictor struct {
	log    *log
	jobs   []int
	bands  []starts.Band
	errors []time.Duration
	held   int
}

func (p *predictor) add(l *log, i int, waits starts.Waits) {
	p.log = l
	band, wait := waits.Band(), l.wait(i)
	if band.Calibrated(p.came(i)).Holds(wait) {
		p.held++
	}
	p.jobs, p.bands, p.errors = append(p.jobs, i), append(p.bands, band), append(p.errors, waits.Median()-wait)
}

// came returns the predictions whose starts are known when job i comes, and of those that still wait, those that are
// known to be wrong.
func (p *predictor) came(i int) []starts.Came {
	var came []starts.Came
	now := p.log.jobs[i].Submit
	for n, k := range p.jobs {
		wait := min(p.log.starts[k], now).Sub(p.log.jobs[k].Submit)
		if p.log.starts[k] <= now || wait > p.bands[n].High {
			came = append(came, starts.Came{Band: p.bands[n], Wait: wait})
		}
	}
	return came
}

func (p *predictor) row(name string) Row {
	r := Row{Predictor: name, Jobs: len(p.jobs)}
	for _, e := range p.errors {
		if e.Abs() <= 10*time.Minute {
			r.Within10Min++
		}
		r.MAE += e.Abs().Seconds()
	}
	n := float64(len(p.jobs))
	r.Within10Min, r.MAE, r.Coverage = r.Within10Min/n, r.MAE/n, float64(p.held)/n
	return r
}

// ways are the ways of choosing, in the order of the report.
var ways = []string{"limits", "history", "oracle", "widest", "narrowest"}

// chooser sums up the turnarounds of jobs of one work.
type chooser struct {
	sums [5]float64
	jobs int
}

// add lets a job choose its size in each way. It asks for just the time that it needs.
func (c *chooser) add(nodes int, work float64, views [3]starts.Draws) {
	var expected [3][]float64
	for _, size := range sizes {
		n := max(1, int(math.Round(size*float64(nodes))))
		run := time.Duration(work * float64(nodes) / float64(n) * float64(time.Hour))
		for v, view := range views {
			expected[v] = append(expected[v], (view.Waits(n, run).Mean() + run).Seconds())
		}
	}
	least := func(x []float64) int { return slices.Index(x, slices.Min(x)) }
	for w, k := range []int{least(expected[0]), least(expected[1]), least(expected[2]), len(sizes) - 1, 0} {
		c.sums[w] += expected[2][k]
	}
	c.jobs++
}

func (c *chooser) choices(work float64) []Choice {
	var all []Choice
	for w, by := range ways {
		all = append(all, Choice{work, by, c.sums[w] / float64(c.jobs)})
	}
	return all
}
