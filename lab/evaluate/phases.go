package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/predict/sample"
	"berth/internal/core/sched"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/lab/loads"
	"berth/lab/physics"
	"berth/lab/repeat"
	"berth/lab/schedulers"
)

// PhaseWorkload is a workload for comparing schedulers of phases: jobs that are submitted at once to
// their own cluster, on whose nodes phases contend for cores, disk and network.
type PhaseWorkload struct {
	Name string
	jobs int
	node []physics.Hardware
	draw func(seed uint64) []loads.Job
	same bool // every replication is the same
}

// batchOf returns a workload of drawn jobs on nodes of the given kind.
func batchOf(name string, b loads.PhasedBatch, kind func(node int) physics.Hardware) PhaseWorkload {
	w := PhaseWorkload{Name: name, jobs: b.Jobs, draw: func(seed uint64) []loads.Job { return loads.PhasedJobs(b, seed) }}
	for i := range b.Nodes {
		w.node = append(w.node, kind(i))
	}
	return w
}

// MeasuredPhases returns the workload of measured jobs. The energy of their nodes is unknown.
func MeasuredPhases(m *loads.Measured) PhaseWorkload {
	w := PhaseWorkload{Name: m.Name, jobs: len(m.Jobs), draw: func(uint64) []loads.Job { return m.Elastic() }, same: true}
	for range m.Nodes {
		w.node = append(w.node, physics.Hardware{Capacity: m.Node, Speed: 1})
	}
	return w
}

// paperNode is a node of the paper phase-level-scheduling, section III: 4 cores, 8 GB of which 1 GB
// is left to the system, one disk, 1 Gb/s. Such a machine of 2010 uses about 90 W idle and 160 W
// with all cores busy.
func paperNode(int) physics.Hardware {
	return physics.Hardware{Capacity: job.Resources{CPUs: 4, Mem: 7 << 30, Disk: loads.FullDisk, Net: loads.FullNet}, Speed: 1, Idle: 90, Full: 160}
}

// mixedNode alternates between the paper's node and a newer one with twice the cores, each 1.5 times
// as fast, twice the memory, and the same disk and network.
func mixedNode(node int) physics.Hardware {
	if node%2 == 0 {
		return paperNode(node)
	}
	return physics.Hardware{Capacity: job.Resources{CPUs: 8, Mem: 15 << 30, Disk: loads.FullDisk, Net: loads.FullNet}, Speed: 1.5, Idle: 80, Full: 200}
}

// fasterNode alternates between the paper's node and one that differs only in cores that are twice
// as fast.
func fasterNode(node int) physics.Hardware {
	h := paperNode(node)
	if node%2 == 1 {
		h.Speed = 2
	}
	return h
}

// PhaseWorkloads returns all workloads: the paper's sort of 5 GB on 3 nodes, its two series of batches on 10
// nodes, one of PUMA's jobs and one of Gridmix's, a batch of all of them on a cluster of two kinds of nodes, and one on nodes that differ only in the speed
// of their cores.
func PhaseWorkloads() []PhaseWorkload {
	all := []PhaseWorkload{batchOf("sort-5g", loads.PhasedBatch{Jobs: 1, Nodes: 3, Apps: []string{loads.SortApp}, Bytes: 5 << 30}, paperNode)}
	for _, series := range []struct {
		name string
		apps []string
	}{{"puma", loads.PumaApps()}, {"gridmix", loads.GridmixApps()}} {
		for _, jobs := range []int{50, 100, 150, 200} {
			all = append(all, batchOf(fmt.Sprintf("%s-%d", series.name, jobs), loads.PhasedBatch{Jobs: jobs, Nodes: 10, Apps: series.apps}, paperNode))
		}
	}
	return append(all, batchOf("batch-100-mixed", loads.PhasedBatch{Jobs: 100, Nodes: 10}, mixedNode),
		batchOf("batch-20-speeds", loads.PhasedBatch{Jobs: 20, Nodes: 10}, fasterNode))
}

// ParsePhaseWorkloads parses comma-separated names; empty means all.
func ParsePhaseWorkloads(flag, text string) ([]PhaseWorkload, error) {
	all := PhaseWorkloads()
	if text == "" {
		return all, nil
	}
	var names []string
	for _, w := range all {
		names = append(names, w.Name)
	}
	var chosen []PhaseWorkload
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(names, strings.TrimSpace(name))
		if i < 0 {
			return nil, job.ConfigError(flag, fmt.Sprintf("there is no workload %q", name), "use some of "+strings.Join(names, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// PhaseSchedulers are the schedulers that are compared.
var PhaseSchedulers = []*sched.Scheduler{schedulers.Slots, schedulers.SlotsLocal, schedulers.Containers, schedulers.Packing, sched.Prism, sched.Cores, sched.Phases}

// PhaseSchedulerNames returns their names.
func PhaseSchedulerNames() (names []string) {
	for _, s := range PhaseSchedulers {
		names = append(names, s.Name)
	}
	return names
}

// PhaseCase is a scheduler, possibly with one part changed.
type PhaseCase struct {
	Scheduler string `json:"scheduler"` // `slots`, `slots-local`, `containers`, `packing`, `prism`, `cores` or `phases`
	// Alpha is the weight of performance relative to fairness in the scheduler phases; nil means its
	// default.
	Alpha *float64 `json:"alpha,omitempty"` // with `--alpha`: the weight of performance beside fairness
	// Without is a term that is omitted from the value of a start; empty means none.
	Without Term `json:"without,omitempty"` // with `--ablation`: the term that is left out, `fairness`, `order`, `align`, `urgency`, or `grants` of memory to sort in
}

// scheduler returns the scheduler of the case.
func (c PhaseCase) scheduler() (*sched.Scheduler, error) {
	if c.Scheduler == sched.Phases.Name {
		terms, alpha := schedulers.UsualTerms, sched.Phases.Alpha
		switch c.Without {
		case FairnessTerm:
			terms.Fairness = 0
		case OrderTerm:
			terms.Order = 0
		case AlignTerm:
			terms.Align = 0
		case CriticalTerm:
			terms.Critical = 0
		case SpeedTerm:
			terms.Speed, terms.Chain = 0, 0
		case UrgencyTerm:
			terms.Urgency = 0
		}
		if c.Alpha != nil {
			alpha = *c.Alpha
		}
		return schedulers.PhasesBy(terms, alpha), nil
	}
	return sched.SchedulerNamed("", c.Scheduler, PhaseSchedulers)
}

// Term is a part of the scheduler phases that can be omitted.
type Term string

// The terms are those of schedulers.Terms. GrantsTerm is not a term of the value of a start: omitting it makes granted sort memory
// ineffective.
const (
	FairnessTerm Term = "fairness"
	OrderTerm    Term = "order"
	AlignTerm    Term = "align"
	CriticalTerm Term = "critical"
	SpeedTerm    Term = "speed"
	UrgencyTerm  Term = "urgency"
	GrantsTerm   Term = "grants"
)

// PhaseTerms are the parts that can be omitted from the scheduler phases.
var PhaseTerms = []Term{FairnessTerm, OrderTerm, AlignTerm, CriticalTerm, SpeedTerm, UrgencyTerm, GrantsTerm}

// PhaseStudy compares schedulers of phases on workloads.
type PhaseStudy struct {
	Seed         uint64
	Replications int
	Workers      int // number of simultaneous simulations
	Workloads    []PhaseWorkload
	Cases        []PhaseCase
	DiskLoss     float64             // part of a disk's time that each further phase at it costs
	Fixed        bool                // tasks have Hadoop's buffers for sorting under all schedulers
	Order        sched.Order         // order of jobs, for schedulers without an order of their own
	Tell         func(done, all int) // if not nil, called with the number of completed replications
}

// Run simulates each workload Replications times, each time under all schedulers with the same jobs.
func (s *PhaseStudy) Run(ctx context.Context) (*PhaseReport, error) {
	all := len(s.Workloads) * s.Replications
	known, err := repeat.Run(ctx, repeat.Limits{Min: all, Max: all, Workers: s.Workers}, func(ctx context.Context, i int) ([]phaseFigures, error) {
		return s.replicate(ctx, &s.Workloads[i/s.Replications], i%s.Replications)
	}, func(known [][]phaseFigures) bool {
		if s.Tell != nil {
			s.Tell(len(known), all)
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	r := &PhaseReport{Seed: s.Seed, Replications: s.Replications, FixedBuffers: s.Fixed, DiskLoss: s.DiskLoss, Confidence: sample.Confidence}
	for i := range s.Workloads {
		of := known[i*s.Replications : (i+1)*s.Replications]
		var first []phaseFigures
		for k, c := range s.Cases {
			row := rowOf(column(of, k), first)
			if k == 0 {
				first = column(of, 0)
			}
			w := &s.Workloads[i]
			row.Workload, row.Nodes, row.Jobs, row.PhaseCase = w.Name, len(w.node), w.jobs, c
			if w.same {
				row.Completions = of[0][k].completions
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return r, nil
}

// column returns the figures of one scheduler.
func column(known [][]phaseFigures, scheduler int) []phaseFigures {
	out := make([]phaseFigures, len(known))
	for i := range known {
		out[i] = known[i][scheduler]
	}
	return out
}

// An Application Master of Yarn 2.0.4 has a container of 1.5 GB and one core (yarn.app.mapreduce.am.resource.mb), and all of them
// have at most a tenth of the cluster's memory (yarn.scheduler.capacity.maximum-am-resource-percent).
const (
	masterMemory = 1536 << 20
	masterShare  = 0.1
)

// hardware returns the nodes of a workload. Under containers the masters of jobs occupy a core and memory of the first nodes all the
// time, as the cluster always has as many jobs as masters until near the end.
func (s *PhaseStudy) hardware(w *PhaseWorkload, scheduler *sched.Scheduler) []physics.Hardware {
	node := slices.Clone(w.node)
	memory := 0.0
	for i := range node {
		node[i].Loss = s.DiskLoss
		memory += float64(node[i].Capacity.Mem)
	}
	if scheduler == schedulers.Containers && !w.same {
		for i := range min(w.jobs, max(1, int(masterShare*memory/masterMemory))) {
			has := &node[i%len(node)].Capacity
			has.CPUs, has.Mem = has.CPUs-1, has.Mem-masterMemory
		}
	}
	return node
}

// replicate runs one replication of a workload under all schedulers.
func (s *PhaseStudy) replicate(ctx context.Context, w *PhaseWorkload, i int) ([]phaseFigures, error) {
	seed := seedOf(s.Seed, i)
	jobs := w.draw(seed)
	var out []phaseFigures
	for _, c := range s.Cases {
		scheduler, err := c.scheduler()
		if err != nil {
			return nil, err
		}
		adaptor := physics.Own(len(w.node))
		adaptor.Order, adaptor.Scheduler = s.Order, scheduler
		p := &physics.Phases{Hardware: s.hardware(w, scheduler), Jobs: jobs, Fixed: s.Fixed || c.Without == GrantsTerm}
		r, err := sim.Run(ctx, p.Config(sim.Config{Policy: batch.FCFS, Seed: seed, Adaptor: adaptor}))
		if err != nil {
			return nil, fmt.Errorf("%s, scheduler %s: %w", w.Name, c.Scheduler, err)
		}
		p.Use(r)
		out = append(out, figuresOf(p, total(w.node), r))
	}
	return out, nil
}
