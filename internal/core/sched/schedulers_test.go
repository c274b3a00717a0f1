package sched

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

const (
	mb = int64(1) << 20
	gb = int64(1) << 30
)

// takes returns a demand of thousandths of a core, MiB of memory, and MB/s of disk.
func takes(cpu, memory, disk int64) job.Vector {
	return job.Vector{CPU: cpu, Memory: memory * mb, Disk: disk * 1e6}
}

// maps returns a job of count maps with the given demands of their phases map and merge.
func maps(id job.ID, count int, mapping, merge job.Vector) app {
	return app{id: id, tasks: [2]int{count}, need: job.Resources{CPUs: 1}, takes: map[job.Phase]job.Vector{job.PhaseMap: mapping, job.PhaseMerge: merge}, seconds: 1}
}

// reduces returns a job of count reduces whose maps are done; their shuffle demands memory and network only.
func reduces(id job.ID, count int, memory int64) app {
	v := takes(1000, memory, 0)
	return app{id: id, tasks: [2]int{0, count}, need: job.Resources{CPUs: 1}, seconds: 1,
		takes: map[job.Phase]job.Vector{job.PhaseShuffle: {Memory: v.Memory, Net: 1e6}, job.PhaseSort: v, job.PhaseReduce: v}}
}

// times returns the word count times.
func times(count int, word string) string {
	return strings.TrimSpace(strings.Repeat(word+" ", count))
}

// TestSchedulers checks what each scheduler starts on one node: first, and after each end of a phase.
func TestSchedulers(t *testing.T) {
	node := job.Vector{CPU: 4000, Memory: 8 * gb, Disk: 100e6, Net: 100e6}
	small := job.Vector{CPU: 2000, Memory: 8 * gb, Disk: 100e6, Net: 100e6}
	light := takes(100, 100, 0)
	for _, c := range []struct {
		name  string
		s     Scheduler
		has   job.Vector
		jobs  []app
		steps []string // what starts; then by turns whose phase ends, and what starts
	}{
		{"slots are counted, whatever maps take", Slots, node, []app{maps("a", 20, takes(4000, 100, 90), light)}, []string{times(8, "a.map")}},
		{"slots for reduces are others", Slots, node, []app{reduces("a", 20, 100), maps("b", 20, light, light)},
			[]string{"a.shuffle b.map a.shuffle b.map a.shuffle b.map a.shuffle b.map a.shuffle b.map a.shuffle b.map b.map b.map"}},
		{"slots do not count memory twice", Slots, node, []app{maps("a", 20, takes(100, 3000, 0), light)}, []string{"a.map a.map"}},
		{"slots go to the job with the fewest tasks", Slots, node, []app{maps("a", 2, light, light), maps("b", 9, light, light)},
			[]string{"a.map b.map a.map " + times(5, "b.map"), "a.map", "b.map"}},

		{"containers have whole cores: 1.6 are 2", Containers, node, []app{maps("a", 9, takes(1600, 100, 0), light)}, []string{"a.map a.map"}},
		{"containers have whole cores: 0.1 is 1", Containers, node, []app{maps("a", 9, light, light)}, []string{times(4, "a.map")}},
		{"containers are multiples of 512 MiB", Containers, job.Vector{CPU: 4000, Memory: 3 * gb}, []app{maps("a", 9, takes(100, 600, 0), light)}, []string{times(3, "a.map")}},
		{"containers are as large as the largest phase", Containers, node, []app{maps("a", 9, light, takes(2000, 100, 0))}, []string{"a.map a.map"}},
		{"containers go to the job that came first", Containers, node, []app{maps("a", 5, light, light), maps("b", 1, light, light)}, []string{times(4, "a.map"), "a.map", "a.map", "a.map", "b.map"}},

		{"packing takes what aligns best of the half of the classes", Packing, node,
			[]app{maps("a", 1, takes(500, 500, 0), takes(500, 500, 0)), maps("b", 1, takes(2000, 500, 0), takes(2000, 500, 0)),
				maps("c", 1, takes(1500, 500, 0), takes(1500, 500, 0)), maps("d", 1, takes(900, 500, 50), takes(900, 500, 50))},
			[]string{"b.map a.map c.map", "b.map", "d.map"}},
		{"packing counts the mean of cores over the phases", Packing, node, []app{maps("a", 9, takes(1900, 500, 0), takes(100, 500, 0))}, []string{times(4, "a.map")}},
		{"packing fills the disk no further than it is", Packing, node, []app{maps("a", 9, takes(100, 500, 40), takes(100, 500, 40))}, []string{"a.map a.map"}},

		{"prism gives the next start to the job with the highest deficit", Prism, node, []app{maps("a", 9, takes(1000, 500, 0), light), maps("b", 9, takes(1000, 500, 0), light)},
			[]string{"a.map b.map a.map b.map", "a.map", "a.merge", "a.merge", "a.map"}},
		{"prism counts what jobs hold of their dominant resource", Prism, node, []app{maps("a", 9, takes(2000, 500, 0), light), maps("b", 9, takes(500, 500, 0), light)},
			[]string{"a.map b.map b.map b.map b.map"}},
		{"prism starts no phase on a part of what it takes", Prism, node, []app{maps("a", 9, takes(100, 500, 60), light)}, []string{"a.map"}},
		{"prism has what a phase gives back for others", Prism, node, []app{maps("a", 2, takes(3000, 500, 0), light)}, []string{"a.map", "a.map", "a.merge a.map"}},

		{"phases: one that uses the disk beside one that computes", Phases, small, []app{maps("a", 9, takes(1000, 500, 0), light), maps("b", 1, takes(200, 500, 90), light)},
			[]string{"b.map a.map a.map"}},
		{"phases: no more that compute than there are cores", Phases, small, []app{maps("a", 3, takes(1000, 500, 0), light)}, []string{"a.map a.map", "a.map", "a.merge a.map"}},
		{"phases: the least work left is first", Phases, small, []app{maps("a", 50, takes(1000, 500, 0), light), maps("b", 2, takes(1000, 500, 0), takes(1000, 500, 0))},
			[]string{"b.map b.map", "b.map", "a.map"}},
		{"phases: what merges as it maps does not ask", Phases, small, []app{maps("a", 1, takes(1000, 500, 0), takes(900, 400, 0))}, []string{"a.map", "a.map", ""}},
		{"phases: one that waits for memory has it before tasks that begin", Phases, node,
			[]app{maps("a", 1, takes(1000, 1000, 0), takes(1000, 7000, 0)), maps("b", 2, takes(1000, 3000, 0), takes(1000, 3000, 0)), maps("c", 3, takes(1000, 2000, 0), light)},
			[]string{"a.map b.map b.map", "a.map", "", "b.map", "", "b.map", "a.merge", "a.merge", "c.map c.map c.map"}},
		{"phases: memory is never overcommitted", Phases, node, []app{maps("a", 9, takes(100, 3000, 0), takes(100, 3000, 0))}, []string{"a.map a.map"}},
		{"phases: rates are, by a quarter", Phases, small, []app{maps("a", 9, takes(100, 100, 45), takes(100, 100, 45))}, []string{"a.map a.map a.map"}},
		{"phases: no rate keeps a core idle", Phases, node, []app{maps("a", 9, takes(100, 100, 900), takes(100, 100, 900))}, []string{times(4, "a.map")}},
		{"phases: nor does a reduce that shuffles", Phases, small, []app{reduces("a", 2, 100), maps("b", 9, takes(1000, 100, 900), takes(1000, 100, 900))},
			[]string{"b.map a.shuffle a.shuffle b.map"}},

		{"cores are whole and held to the end", Cores, node, []app{maps("a", 9, light, light)}, []string{times(4, "a.map"), "a.map", "a.map"}},
		{"cores: a shuffle has none", Cores, node, []app{reduces("a", 9, 100), maps("b", 9, light, light)},
			[]string{times(4, "a.shuffle") + " " + times(4, "b.map"), "a.shuffle", "", "b.map", "a.sort a.shuffle"}},
	} {
		w := newWorld(c.s.Policy(Auto, true, 1, Tuning{}), c.has)
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

// TestSortMemory checks how much of 400 MiB of sort memory the next task gets on a node of two cores.
func TestSortMemory(t *testing.T) {
	write := takes(1000, 100, 900)
	shuffles, sorts := &Running{Through: job.PhaseShuffle}, &Running{Through: job.PhaseReduce}
	for _, c := range []struct {
		name    string
		runs    []*Running
		granted int64 // MiB
		next    Candidate
		want    int64 // MiB
	}{
		{"the first of two", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(1000, 100, 0)}}, 200},
		{"the second", []*Running{{Through: job.PhaseMerge, Holds: takes(1000, 100, 0)}}, 200, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(1000, 100, 0)}}, 200},
		{"one that takes both cores", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(2000, 100, 0)}}, 400},
		{"tasks that hardly compute have no less than those that do", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: takes(100, 100, 0)}}, 200},
		{"two that write more than the disk can", nil, 0, Candidate{Needs: Needs{Kind: job.MapTask, Demand: write}}, 200},
		{"a reduce that begins sorts later", nil, 0, Candidate{Needs: Needs{Kind: job.ReduceTask}}, 0},
		{"the first of two reduces that have fetched all", []*Running{shuffles, shuffles}, 0, Candidate{Needs: Needs{Kind: job.ReduceTask, Demand: write}, Running: shuffles}, 200},
		{"one of a crowd has an eighth at least", []*Running{sorts, sorts}, 390, Candidate{Needs: Needs{Kind: job.MapTask}}, 50},
	} {
		n := &Node{Capacity: takes(2000, 4000, 100), SortMemory: 400 * mb, Running: c.runs, sorting: c.granted * mb}
		for _, r := range c.runs {
			n.Used = n.Used.Plus(r.Holds)
			if r.Shuffles() {
				n.Shuffles++
			}
		}
		if got := Phases.Policy(Auto, false, 1, Tuning{}).SortMemory(n, &c.next); got != c.want*mb {
			t.Errorf("%s: %d MiB, want %d", c.name, got/mb, c.want)
		}
	}
}

// TestEverySchedulerKeepsMemoryAndEnds checks the invariants of all schedulers, whatever the demands: the memory in use on a
// node never exceeds its capacity, except for an attempt that is alone there, and for one that continues where nothing else could ever free
// memory; and while a task is left, something runs that ends by itself.
func TestEverySchedulerKeepsMemoryAndEnds(t *testing.T) {
	for _, s := range []Scheduler{Slots, Containers, Packing, Prism, Phases, Cores} {
		t.Run(string(s), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { keepsMemoryAndEnds(t, s) })
		})
	}
}

func keepsMemoryAndEnds(t *rapid.T, s Scheduler) {
	order := rapid.SampledFrom([]Order{Auto, FIFO, Shortest}).Draw(t, "order")
	nodes := make([]job.Vector, rapid.IntRange(1, 3).Draw(t, "nodes"))
	for i := range nodes {
		nodes[i] = takes(1000*rapid.Int64Range(1, 6).Draw(t, "cores"), 1024*rapid.Int64Range(1, 8).Draw(t, "memory"), 50*rapid.Int64Range(0, 3).Draw(t, "disk"))
		nodes[i].Net = 50e6 * rapid.Int64Range(0, 2).Draw(t, "net")
	}
	w := newWorld(s.Policy(order, rapid.Bool().Draw(t, "batch"), AgeingShare, Tuning{}), nodes...)
	w.check = func(d Decision) {
		if d.Node == nil {
			return
		}
		own, n := job.Vector{}, d.Node
		if r := d.Candidate.Running; r != nil {
			own = r.Holds
		}
		others, takes := n.Used.Memory-own.Memory, d.Candidate.Demand.Memory
		forced := d.Candidate.Running != nil && n.stalled()
		if takes > own.Memory && others+takes > n.Capacity.Memory && others > 0 && !forced {
			t.Fatalf("%d bytes beside %d on a node of %d", takes, others, n.Capacity.Memory)
		}
	}
	apps := make([]app, rapid.IntRange(1, 5).Draw(t, "jobs"))
	for i := range apps {
		apps[i] = drawApp(t, nodes[0], job.ID(string(rune('a'+i))))
	}
	var jobs []*Job
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
			if left := len(w.live) + len(w.Classes); left > 0 {
				t.Fatalf("nothing runs: %d attempts wait, %d classes of tasks: %s", len(w.live), len(w.Classes), strings.Join(w.log, " "))
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
			v := j.Owner.(*app).takes[p]
			v.Memory = rapid.Int64Range(0, nodes[0].Memory/mb).Draw(t, "peak") * mb
			j.Owner.(*app).takes[p] = v
			w.tell(j)
		default:
			w.finish(a)
		}
		if step > 1000 {
			t.Fatalf("it goes on for ever: %s", strings.Join(w.log[len(w.log)-50:], " "))
		}
	}
}

// drawApp draws a job whose tasks the node could run.
func drawApp(t *rapid.T, n job.Vector, id job.ID) app {
	a := app{id: id, takes: make(map[job.Phase]job.Vector), weight: float64(rapid.IntRange(0, 3).Draw(t, "weight"))}
	a.bag = rapid.Bool().Draw(t, "bag")
	a.tasks[0] = rapid.IntRange(0, 5).Draw(t, "tasks")
	if !a.bag {
		a.tasks[1] = rapid.IntRange(0, 5).Draw(t, "reduces")
	}
	a.need = job.Resources{CPUs: int(rapid.Int64Range(1, n.CPU/job.MilliCore).Draw(t, "cpus"))}
	if rapid.Bool().Draw(t, "mem said") {
		a.need.Mem = rapid.Int64Range(1, n.Memory/mb).Draw(t, "mem") * mb
	}
	a.seconds = rapid.SampledFrom([]float64{0, 0.1, 1, 60}).Draw(t, "seconds")
	for p := job.PhaseNone + 1; p <= job.PhaseReduce; p++ {
		if rapid.IntRange(0, 3).Draw(t, "known") > 0 {
			v := takes(rapid.Int64Range(0, 3000).Draw(t, "cpu"), rapid.Int64Range(0, n.Memory/mb).Draw(t, "peak"), rapid.Int64Range(0, 200).Draw(t, "rate"))
			v.Net = 1e6 * rapid.Int64Range(0, 200).Draw(t, "fetch")
			a.takes[p] = v
		}
	}
	return a
}
