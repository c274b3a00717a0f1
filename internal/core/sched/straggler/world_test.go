package straggler_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/lab/loads"
)

// world is a simple simulation around a rule, in steps of the interval: nodes with one slot each, tasks in order, duplicates first. It
// replaces the engine, to test rules on thousands of jobs.
type world struct {
	rule      straggler.Rule
	share     float64 // bound on extra core time
	source    job.ProgressSource
	duplicate bool // may be done
	abort     bool
	jobs      loads.Job
	spells    []loads.Spells
	past      straggler.Past
	now       job.Time
	running   []*attempt // by node; nil: free
	queue     []int      // tasks to be begun again
	avoid     map[int]int
	next      int
	done      []bool
	numbers   []int
	penalty   []job.Time
	left      int
	used      float64 // core seconds
	lost      float64 // of those that were killed
	look      func(v *straggler.View)
	acts      func(v *straggler.View, d straggler.Verdict)
}

type attempt struct {
	id    job.Attempt
	node  int
	began job.Time
	ends  job.Time
	dup   bool
	track straggler.Track
}

const (
	tick   = job.Time(straggler.Interval)
	report = job.Time(2 * time.Second)
)

func newWorld(rule straggler.Rule, e loads.Job, spells []loads.Spells) *world {
	return &world{rule: rule, share: 0.05, jobs: e, spells: spells, running: make([]*attempt, len(spells)), done: make([]bool, len(e.Maps)),
		numbers: make([]int, len(e.Maps)), penalty: make([]job.Time, len(spells)), left: len(e.Maps), avoid: map[int]int{},
		source: job.ProgressHits, duplicate: true, abort: true}
}

func spellsOf(o loads.Outliers, nodes int, seed uint64) (all []loads.Spells) {
	for i := range nodes {
		all = append(all, o.Draw(rand.New(rand.NewPCG(seed, uint64(i))), job.Time(24*time.Hour)))
	}
	return all
}

// run returns when the last task was done.
func (w *world) run() job.Time { return w.until(math.MaxInt64) }

// until is run up to an instant.
func (w *world) until(end job.Time) job.Time {
	var last job.Time
	for w.left > 0 && w.now < end {
		w.begin()
		w.now += tick
		for n, a := range w.running {
			if a != nil && a.ends <= w.now && !w.done[a.id.Task] {
				last = max(last, a.ends)
				w.end(n, a)
			}
		}
		for _, a := range w.running {
			if a == nil {
				continue
			}
			// The attempts of a node are measured each two seconds, as workers report, at other instants than those of others.
			phase := job.Time(a.node*7%10) * job.Time(200*time.Millisecond)
			for at := (w.now-tick-phase)/report*report + report + phase; at <= w.now; at += report {
				if at > a.began {
					a.track.Add(at.Sub(a.began), w.progress(a, at))
				}
			}
		}
		w.assess()
	}
	return last
}

func (w *world) progress(a *attempt, at job.Time) job.Progress {
	work := w.spells[a.node].Work(a.began, at)
	pace := &w.jobs.Paces[a.id.Task]
	if w.source == job.ProgressCPU {
		return job.Progress{Attempt: a.id, Source: w.source, N: work, Fraction: -1, CPU: time.Duration(work * 1e9)}
	}
	return job.Progress{Attempt: a.id, Source: w.source, N: pace.At(min(work/w.jobs.Maps[a.id.Task].Seconds(), 1)), Fraction: -1, CPU: time.Duration(work * 1e9)}
}

func (w *world) end(n int, a *attempt) {
	w.done[a.id.Task] = true
	w.left--
	w.used += w.spells[a.node].Work(a.began, a.ends)
	a.track.Add(a.ends.Sub(a.began), w.progress(a, a.ends))
	w.past.Add(a.ends.Sub(a.began), &a.track)
	w.running[n] = nil
	for m, b := range w.running {
		if b != nil && b.id.Task == a.id.Task {
			w.kill(m, b)
		}
	}
}

func (w *world) kill(n int, a *attempt) {
	w.used += w.spells[a.node].Work(a.began, w.now)
	w.lost += w.now.Sub(a.began).Seconds()
	w.running[n] = nil
}

func (w *world) begin() {
	for i := 0; i < len(w.queue); {
		t := w.queue[i]
		n := w.free(w.avoid[t])
		if !w.done[t] && n < 0 {
			i++
			continue
		}
		w.queue = append(w.queue[:i], w.queue[i+1:]...)
		if !w.done[t] {
			w.start(t, n)
		}
	}
	for w.next < len(w.jobs.Maps) {
		n := w.free(-1)
		if n < 0 {
			return
		}
		w.start(w.next, n)
		w.next++
	}
}

func (w *world) free(avoid int) int {
	for n, a := range w.running {
		if a == nil && n != avoid && w.penalty[n] <= w.now {
			return n
		}
	}
	return -1
}

func (w *world) start(t, n int) {
	w.numbers[t]++
	a := &attempt{id: job.Attempt{Job: "bag-1", Task: t, N: w.numbers[t]}, node: n, began: w.now, ends: w.spells[n].Until(w.now, w.jobs.Maps[t].Seconds())}
	for _, b := range w.running {
		a.dup = a.dup || b != nil && b.id.Task == t
	}
	w.running[n] = a
}

func (w *world) view() *straggler.View {
	v := &straggler.View{Now: w.now, Interval: straggler.Interval, Past: &w.past, Left: w.left, Slots: len(w.running), Cores: 1, Duplicate: w.duplicate, Abort: w.abort}
	live := map[int]int{}
	committed := 0.0
	for _, a := range w.running {
		if a != nil {
			live[a.id.Task]++
			if a.dup {
				committed += w.now.Sub(a.began).Seconds()
			}
		}
	}
	for _, t := range w.queue {
		live[t]++
	}
	for _, a := range w.running {
		if a != nil {
			v.Running = append(v.Running, straggler.Running{Attempt: a.id, Node: job.NodeID(rune('a' + a.node)), Began: a.began, Duplicate: a.dup, Duplicates: live[a.id.Task] - 1, Track: &a.track})
		}
	}
	slices.SortFunc(v.Running, func(a, b straggler.Running) int {
		return cmp.Or(a.Attempt.Task-b.Attempt.Task, a.Attempt.N-b.Attempt.N)
	})
	for n, a := range w.running {
		if a == nil && w.penalty[n] <= w.now && len(w.queue) == 0 && w.next == len(w.done) {
			v.FreeSlots = append(v.FreeSlots, straggler.FreeSlot{Node: job.NodeID(rune('a' + n)), Count: 1})
		}
	}
	v.Ready = len(w.done) - w.next + len(w.queue)
	total := 0.0
	for _, d := range w.jobs.Maps {
		total += d.Seconds()
	}
	v.Mean = time.Duration(total / float64(len(w.jobs.Maps)) * 1e9)
	v.Budget = time.Duration((w.share*total - w.lost - committed) * 1e9)
	return v
}

func (w *world) assess() {
	v := w.view()
	if w.look != nil {
		w.look(v)
	}
	for _, d := range w.rule.Assess(v) {
		n, a := w.find(d.Attempt)
		if d.Act == straggler.Keep {
			continue
		}
		if w.acts != nil {
			w.acts(v, d)
		}
		w.penalty[n] = w.now.Add(10 * time.Minute)
		w.avoid[a.id.Task] = n
		w.queue = append(w.queue, a.id.Task)
		if d.Act == straggler.Abort {
			w.kill(n, a)
		}
	}
}

func (w *world) find(id job.Attempt) (int, *attempt) {
	for n, a := range w.running {
		if a != nil && a.id == id {
			return n, a
		}
	}
	panic("a verdict on an attempt that does not run")
}
