// Package schedtest calls schedulers as the engine does: a world has jobs on the nodes of a pool, and carries out what
// the policy decides. Step by step it shows what a scheduler starts, and with drawn jobs it checks what holds for all schedulers.
package schedtest

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/sched"
)

const (
	mb = int64(1) << 20
	gb = int64(1) << 30
)

// Takes returns a demand of thousandths of a core, MiB of memory, and MB/s of disk.
func Takes(cpu, memory, disk int64) job.Vector {
	return job.Vector{CPU: cpu, Memory: memory * mb, Disk: disk * 1e6}
}

// Maps returns a job of count maps with the given demands of their phases map and merge.
func Maps(id job.ID, count int, mapping, merge job.Vector) App {
	return App{id: id, tasks: [2]int{count}, need: job.Resources{CPUs: 1}, takes: map[job.Phase]job.Vector{job.PhaseMap: mapping, job.PhaseMerge: merge}, seconds: 1}
}

// Reduces returns a job of count reduces whose maps are done; their shuffle demands memory and network only.
func Reduces(id job.ID, count int, memory int64) App {
	v := Takes(1000, memory, 0)
	return App{id: id, tasks: [2]int{0, count}, need: job.Resources{CPUs: 1}, seconds: 1,
		takes: map[job.Phase]job.Vector{job.PhaseShuffle: {Memory: v.Memory, Net: 1e6}, job.PhaseSort: v, job.PhaseReduce: v}}
}

// Times returns the word count times.
func Times(count int, word string) string {
	return strings.TrimSpace(strings.Repeat(word+" ", count))
}

// Case is what a scheduler starts on one node: first, and after each end of a phase.
type Case struct {
	name  string
	s     *sched.Scheduler
	has   job.Vector // the node
	jobs  []App
	steps []string // what starts; then by turns whose phase ends, and what starts
}

// Starts returns the case of these jobs on a node. The steps are what starts; then by turns whose phase ends, and what starts.
func Starts(name string, s *sched.Scheduler, node job.Vector, jobs []App, steps []string) Case {
	return Case{name, s, node, jobs, steps}
}

// Check runs the cases.
func Check(t *testing.T, cases []Case) {
	t.Helper()
	for _, c := range cases {
		w := newWorld(c.s.Pool(sched.Auto, true, 1), c.has)
		for i := range c.jobs {
			w.submit(&c.jobs[i], uint64(i))
		}
		for i := 0; i < len(c.steps); i += 2 {
			if i > 0 && !w.ends(c.steps[i-1]) {
				t.Errorf("%s: no %s runs", c.name, c.steps[i-1])
				break
			}
			if got := w.run(); got != c.steps[i] {
				t.Errorf("%s: step %d starts %q, want %q", c.name, i/2, got, c.steps[i])
				break
			}
		}
	}
}

// KeepsMemoryAndEnds checks the invariants of all schedulers, whatever the demands: the memory in use on a
// node never exceeds its capacity, except for an attempt that is alone there, and for one that continues where nothing else could ever free
// memory; and while a task is left, something runs that ends by itself.
func KeepsMemoryAndEnds(t *rapid.T, s *sched.Scheduler) {
	order := rapid.SampledFrom([]sched.Order{sched.Auto, sched.FIFO, sched.Shortest}).Draw(t, "order")
	nodes := make([]job.Vector, rapid.IntRange(1, 3).Draw(t, "nodes"))
	for i := range nodes {
		nodes[i] = Takes(1000*rapid.Int64Range(1, 6).Draw(t, "cores"), 1024*rapid.Int64Range(1, 8).Draw(t, "memory"), 50*rapid.Int64Range(0, 3).Draw(t, "disk"))
		nodes[i].Net = 50e6 * rapid.Int64Range(0, 2).Draw(t, "net")
	}
	batch := rapid.Bool().Draw(t, "batch")
	w := newWorld(s.Pool(order, batch, sched.AgeingShare), nodes...)
	w.check = func(d sched.Decision) {
		if d.Node == nil {
			return
		}
		own, n := job.Vector{}, d.Node
		if r := d.Candidate.Running; r != nil {
			own = r.Holds
		}
		others, takes := n.Used.Memory-own.Memory, d.Candidate.Demand.Memory
		forced := d.Candidate.Running != nil && w.stalled(n)
		if takes > own.Memory && others+takes > n.Capacity.Memory && others > 0 && !forced {
			t.Fatalf("%d bytes beside %d on a node of %d", takes, others, n.Capacity.Memory)
		}
	}
	apps := make([]App, rapid.IntRange(1, 5).Draw(t, "jobs"))
	for i := range apps {
		apps[i] = drawApp(t, nodes[0], job.ID(string(rune('a'+i))))
	}
	var jobs []*sched.Job
	for step := 0; ; step++ {
		if len(jobs) < len(apps) && (step == 0 || rapid.IntRange(0, 3).Draw(t, "comes") == 0) {
			jobs = append(jobs, w.submit(&apps[len(jobs)], uint64(len(jobs))))
		}
		w.run()
		for kills := 0; w.reap(); kills++ {
			w.run()
			if kills > 100 {
				t.Fatalf("attempts are ended and begin again for ever: %s", strings.Join(w.log[max(0, len(w.log)-40):], " "))
			}
		}
		var busy []*act
		for _, a := range w.live {
			if a.busy() {
				busy = append(busy, a)
			}
		}
		if len(busy) == 0 {
			if left := len(w.live) + len(w.Groups); left > 0 {
				t.Fatalf("nothing runs: %d attempts wait, %d groups of tasks: %s", len(w.live), len(w.Groups), strings.Join(w.log, " "))
			}
			if len(jobs) == len(apps) {
				return
			}
			continue
		}
		a := busy[rapid.IntRange(0, len(busy)-1).Draw(t, "ends")]
		switch fate := rapid.IntRange(0, 19).Draw(t, "fate"); {
		case fate == 0 && step < 100:
			w.end(a, true) // it failed
		case fate == 1 && step < 100: // more is known of what a phase takes
			j := jobs[rapid.IntRange(0, len(jobs)-1).Draw(t, "grows")]
			p := job.PhaseNone + 1 + job.Phase(rapid.IntRange(0, int(job.PhaseReduce)-1).Draw(t, "phase"))
			v := j.Owner.(*App).takes[p]
			v.Memory = rapid.Int64Range(0, nodes[0].Memory/mb).Draw(t, "peak") * mb
			j.Owner.(*App).takes[p] = v
			w.tell(j)
		default:
			w.finish(a)
		}
		if step > 1000 {
			t.Fatalf("it goes on for ever: %s", strings.Join(w.log[len(w.log)-50:], " "))
		}
	}
}

// stalled reports whether no attempt on the node can free anything by ending: all wait for a grant or for maps.
func (w *world) stalled(n *sched.Node) bool {
	for _, a := range w.live {
		if a.node == n && a.next == nil && !a.Shuffles() {
			return false
		}
	}
	return true
}

// drawApp draws a job whose tasks the node could run.
func drawApp(t *rapid.T, n job.Vector, id job.ID) App {
	a := App{id: id, takes: make(map[job.Phase]job.Vector), weight: float64(rapid.IntRange(0, 3).Draw(t, "weight"))}
	a.bag = rapid.Bool().Draw(t, "bag")
	a.tasks[0] = rapid.IntRange(0, 5).Draw(t, "tasks")
	if !a.bag {
		a.tasks[1] = rapid.IntRange(0, 5).Draw(t, "reduces")
	}
	a.need = job.Resources{CPUs: int(rapid.Int64Range(1, n.CPU/job.Milli).Draw(t, "cpus"))}
	if rapid.Bool().Draw(t, "mem said") {
		a.need.Mem = rapid.Int64Range(1, n.Memory/mb).Draw(t, "mem") * mb
	}
	a.seconds = rapid.SampledFrom([]float64{0, 0.1, 1, 60}).Draw(t, "seconds")
	for p := job.PhaseNone + 1; p <= job.PhaseReduce; p++ {
		if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
			v := Takes(rapid.Int64Range(0, 3000).Draw(t, "cpu"), rapid.Int64Range(0, n.Memory/mb).Draw(t, "peak"), rapid.Int64Range(0, 200).Draw(t, "rate"))
			v.Net = 1e6 * rapid.Int64Range(0, 200).Draw(t, "fetch")
			a.takes[p] = v
		}
	}
	return a
}
