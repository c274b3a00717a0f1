package worker

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/sys/probe"
)

const (
	// gaugeEvery is the time between two measurements of a program's progress. A program that ends sooner is not measured.
	gaugeEvery = time.Second
	// misleads is the processor time within which a measure must change. The time for hits is sparse, as hits come in bursts because
	// functions that are entered often are not counted. A program that has read its input and still computes does not hang: its
	// progress is then measured by another source. A source that measured a task of the job to its end is trusted, as
	// otherwise nothing would ever hang.
	misleads = 5 * time.Second
	sparse   = 20 * time.Second
	// readOut is the processor time without reads and writes, or after the end of its input, after which a program counts as
	// computing.
	readOut = 250 * time.Millisecond
	// inputsWithin is the longest wait for the search for a task's inputs before the first measurement.
	inputsWithin = 10 * time.Millisecond
	// maxInputs is the largest number of input files of a task that are watched.
	maxInputs = 64
)

// gauge measures the progress of the programs of a bag's attempt. Fields that are not atomic belong to the monitor.
type gauge struct {
	inputs atomic.Pointer[[]taskInput] // nil: not found yet
	last   atomic.Pointer[job.Progress]
	left   atomic.Uint32 // sources that did not change for too long and are ignored from then on

	next   time.Time // time of the next measurement; zero: there was none
	source job.ProgressSource
	n      float64                      // progress by the source
	moved  time.Duration                // processor time at the last increase of n
	most   [job.ProgressSources]float64 // largest progress by source
}

// countFrom is the shortest expected duration of a task in whose programs something is counted, which costs some microseconds.
const countFrom = 10 * time.Second

// count sets what is counted in the attempt's program: its instructions, which changes nothing in it, or the entries of its
// functions if the user chose them.
func (w *worker) count(a *attempt, c *process.Command) {
	by, _ := job.ProgressNamed(a.spec.Bag.Progress)
	switch {
	case a.start.Expected > 0 && a.start.Expected < countFrom:
	case by == job.ProgressHits && w.cfg.Trace != "" && a.start.Expected > 0: // to plant a program takes milliseconds
		c.Planter = w.plant
	case by == job.ProgressNone, by == job.ProgressInstructions:
		c.Instructions = true
	}
}

// counted returns what was counted by a source that counts in programs, or 0.
func counted(by job.ProgressSource, c process.Counts) float64 {
	switch by {
	case job.ProgressHits:
		return c.Hits
	case job.ProgressInstructions:
		return c.Instructions
	default:
		return 0
	}
}

// tellUncounted logs why functions are not counted, each reason once.
func (w *worker) tellUncounted(a *attempt) {
	why := a.programs.Uncounted()
	if why == "" {
		return
	}
	if _, told := w.uncounted.LoadOrStore(why, true); !told {
		w.log.Info("entries of functions are not counted, so that the progress of tasks is measured by something else", "first", a.id, "reason", why)
	}
}

// mayStand returns the longest processor time without a change of the measure.
func mayStand(by job.ProgressSource) time.Duration {
	switch by {
	case job.ProgressHits:
		return sparse
	case job.ProgressIO: // a program that reads and writes does so often
		return readOut
	case job.ProgressCPU, job.ProgressInstructions: // they change while processor time passes
		return math.MaxInt64
	default:
		return misleads
	}
}

// sources is a set of sources of progress.
type sources uint32

func (s sources) has(p job.ProgressSource) bool { return s&(1<<p) != 0 }

// taskInput is an input file of a task.
type taskInput struct {
	path     string // path without symbolic links
	size     int64
	position int64 // largest position seen
	writes   bool  // the task also writes to it, so it is not an input
}

// measure makes a measurement if one is due. pids are the processes of the attempt's programs.
func (g *gauge) measure(w *worker, a *attempt, pids []int, now time.Time) {
	if len(pids) == 0 || a.spec.Bag == nil || now.Sub(a.begun) < gaugeEvery || now.Before(g.next) {
		return
	}
	if g.next.IsZero() {
		found := make(chan struct{})
		go func() { a.findInputs(); close(found) }()
		select {
		case <-found:
		case <-time.After(inputsWithin): // the file system hangs; the monitor must not wait for it
		}
	}
	g.next = now.Add(gaugeEvery)
	cpu := a.meter.Snapshot().All.CPU
	age := time.Since(a.begun)
	p := g.take(a, pids, cpu)
	p.Attempt, p.CPU, p.Age = a.id, cpu, age
	if p.Source != job.ProgressHits {
		w.tellUncounted(a)
	}
	g.last.Store(&p)
}

// take measures by the best source that works.
func (g *gauge) take(a *attempt, pids []int, cpu time.Duration) job.Progress {
	p, reading := g.best(a, pids, cpu)
	if p.Source != job.ProgressCPU { // the kernel reports nothing about a process that has ended
		p.N = max(p.N, g.most[p.Source])
		g.most[p.Source] = p.N
	}
	stands := mayStand(p.Source)
	if p.Source == job.ProgressInput && !reading {
		stands = readOut
	}
	switch {
	case p.Source != g.source || p.N > g.n:
		g.source, g.n, g.moved = p.Source, p.N, cpu
	case cpu-g.moved >= stands && !sources(a.work.proven.Load()).has(p.Source):
		g.left.Or(1 << p.Source)
		return g.take(a, pids, cpu)
	}
	return p
}

// best returns the progress by the source that the user chose, or else by the first that works and does not mislead. reading
// says that there is still input to be read.
func (g *gauge) best(a *attempt, pids []int, cpu time.Duration) (p job.Progress, reading bool) {
	skip := sources(g.left.Load() | a.work.misled.Load())
	order := job.Sources()
	if chosen, _ := job.ProgressNamed(a.spec.Bag.Progress); chosen != job.ProgressNone {
		order = append([]job.ProgressSource{chosen}, order...)
	}
	for _, source := range order {
		if skip.has(source) {
			continue
		}
		p = job.Progress{Source: source, Fraction: -1}
		switch source {
		case job.ProgressInput:
			n, of, open := g.read(pids)
			if n > 0 {
				p.N, p.Fraction, reading = n, min(n/of, 1), open && n < of
			}
		case job.ProgressIO:
			p.N = transferred(pids)
		case job.ProgressCPU:
			p.N = cpu.Seconds()
			return p, reading
		default:
			p.N = counted(source, a.programs.Counts())
		}
		if p.N > 0 {
			return p, reading
		}
	}
	return p, reading
}

// read returns the number of bytes of the attempt's input that its programs have read, the size of the input, and whether any of
// them has it open. The numbers are 0 if no input is known.
func (g *gauge) read(pids []int) (n, of float64, open bool) {
	list := g.inputs.Load()
	if list == nil || len(*list) == 0 {
		return 0, 0, false
	}
	for _, pid := range pids {
		probe.EachFile(pid, func(path string, position int64, writes bool) {
			i := slices.IndexFunc(*list, func(in taskInput) bool { return in.path == path })
			if i < 0 {
				return
			}
			open = true
			in := &(*list)[i]
			in.writes = in.writes || writes
			in.position = max(in.position, min(position, in.size))
		})
	}
	for _, in := range *list {
		if !in.writes {
			n, of = n+float64(in.position), of+float64(in.size)
		}
	}
	return n, of, open
}

// transferred returns the number of bytes that processes have read and written.
func transferred(pids []int) (n float64) {
	for _, pid := range pids {
		read, written := probe.ReadWritten(pid)
		n += float64(read + written)
	}
	return n
}

// findInputs finds the files that the attempt's entry names.
func (a *attempt) findInputs() {
	list := []taskInput{}
	for _, word := range a.spec.Bag.Named(a.start.Entry, a.id.Task) {
		if !filepath.IsAbs(word) {
			word = filepath.Join(a.cwd, word)
		}
		path, err := filepath.EvalSymlinks(word)
		if err != nil {
			continue
		}
		known := slices.ContainsFunc(list, func(in taskInput) bool { return in.path == path })
		if st, err := os.Stat(path); err == nil && st.Mode()&fs.ModeType == 0 && st.Size() > 0 && !known && len(list) < maxInputs {
			list = append(list, taskInput{path: path, size: st.Size()})
		}
	}
	a.gauge.inputs.Store(&list)
}

// progress returns the progress of the whole attempt. Its source is none while it is unknown.
func (a *attempt) progress(s probe.Snapshot) (p job.Progress) {
	if last := a.gauge.last.Load(); a.spec.Bag == nil {
		p = a.streamed(s)
	} else if p = (job.Progress{Attempt: a.id, Fraction: -1, CPU: s.All.CPU}); last != nil {
		p = *last
	}
	p.Idle = a.programs.Idle()
	return p
}

// streamed returns the progress of a map or reduce attempt: the bytes that its phases have read. The fraction of a map is that of
// its split. The phases of a reduce have equal parts, as in Hadoop. The phase shuffle does not count, as it waits for maps.
func (a *attempt) streamed(s probe.Snapshot) job.Progress {
	p := job.Progress{Attempt: a.id, Source: job.ProgressInput, N: float64(s.All.BytesIn), Fraction: -1, CPU: s.All.CPU}
	switch s.Phase {
	case job.PhaseMap:
		p.Fraction = s.Part
	case job.PhaseMerge:
		p.Fraction = 1
	case job.PhaseSort, job.PhaseReduce:
		p.Fraction = (float64(s.Phase-job.PhaseShuffle) + max(s.Part, 0)) / float64(len(job.ReduceTask.Phases()))
	default:
		p.Source, p.N = job.ProgressNone, 0
	}
	return p
}

// judgeMeasures notes, for the job's other attempts, which sources measured the progress of a finished attempt to its end, and which
// did not.
func (a *attempt) judgeMeasures() {
	if left := a.gauge.left.Load(); left != 0 {
		a.work.misled.Or(left)
	}
	p := a.gauge.last.Load()
	if p == nil || mayStand(p.Source) == math.MaxInt64 {
		return
	}
	if p.CPU >= 2*max(mayStand(p.Source), misleads) {
		a.work.proven.Or(1 << p.Source)
	}
}
