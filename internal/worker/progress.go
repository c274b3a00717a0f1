package worker

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"berth/internal/job"
	"berth/internal/probe"
	"berth/internal/trace/plant"
)

const (
	// gaugeEvery is how often the progress of a program is measured; one that is over before is not measured at all.
	gaugeEvery = time.Second
	// misleads is the processor time within which a measure has to move, and hits, which come in bursts as functions that are
	// entered often are not counted, within sparse. A program that has read its input and computes on is not stuck: then its progress is
	// measured by something else. What measured a task of the job to its end is trusted, or nothing would hang.
	misleads = 5 * time.Second
	sparse   = 20 * time.Second
	// readOut is the processor time after which a program computes on that reads and writes nothing any more, or whose input is read to its end
	// or no longer open.
	readOut = 250 * time.Millisecond
	// inputsWithin is how long is waited for a task's inputs to be found, before the first measurement.
	inputsWithin = 10 * time.Millisecond
	// maxInputs bounds how many input files of a task are watched.
	maxInputs = 64
)

// gauge measures how far the programs of a bag's attempt have come. The monitor's goroutine owns what is not atomic.
type gauge struct {
	inputs atomic.Pointer[[]taskInput] // nil: not known yet
	last   atomic.Pointer[job.Progress]
	left   atomic.Uint32 // sources that did not move for long, and count for nothing from then on

	next   time.Time // of the next measurement; zero: there was none
	source job.ProgressSource
	n      float64                  // by the source
	moved  time.Duration            // processor time when n was seen to rise last
	most   [job.ProgressCPU]float64 // by source: the largest count seen
}

// plantFrom is how long a task has to be expected to take for the entries of its functions to be counted.
const plantFrom = 10 * time.Second

// planter returns what counts the entries of the attempt's functions, nil where that is not worth it or not wanted.
func (w *worker) planter(a *attempt) *plant.Planter {
	if w.cfg.Trace == "" || a.start.Expected < plantFrom {
		return nil
	}
	return w.plant
}

// tellUncounted tells the log why functions are not counted, each reason once.
func (w *worker) tellUncounted(a *attempt) {
	why := a.programs.Uncounted()
	if why == "" {
		return
	}
	if _, told := w.uncounted.LoadOrStore(why, true); !told {
		w.log.Info("progress of tasks is measured by what they read and write, or by processor time", "first", a.id, "reason", why)
	}
}

// mayStand returns the processor time that may go by without a measure moving.
func mayStand(by job.ProgressSource) time.Duration {
	switch by {
	case job.ProgressHits:
		return sparse
	case job.ProgressIO: // what reads and writes does so often, whatever else it does
		return readOut
	case job.ProgressCPU:
		return math.MaxInt64
	default:
		return misleads
	}
}

// sources is a set of sources of progress.
type sources uint32

func (s sources) has(p job.ProgressSource) bool { return s&(1<<p) != 0 }

// taskInput is a file that a task reads.
type taskInput struct {
	path     string // without links
	size     int64
	position int64 // the furthest that was seen
	writes   bool  // it is written as well: no input
}

// measure takes a measurement where one is due. pids are the processes of the attempt's programs.
func (g *gauge) measure(w *worker, a *attempt, pids []int, now time.Time) {
	if len(pids) == 0 || a.work.spec.Bag == nil || now.Sub(a.begun) < gaugeEvery || now.Before(g.next) {
		return
	}
	if g.next.IsZero() {
		found := make(chan struct{})
		go func() { a.findInputs(); close(found) }()
		select {
		case <-found:
		case <-time.After(inputsWithin): // a file system that hangs: the monitor has others to look at
		}
	}
	g.next = now.Add(gaugeEvery)
	cpu := a.meter.Snapshot().All.CPU
	p := g.take(a, pids, cpu)
	p.Attempt, p.CPU = a.id, cpu
	if p.Source != job.ProgressHits && p.Source != job.ProgressInput && a.start.Expected >= plantFrom {
		w.tellUncounted(a)
	}
	g.last.Store(&p)
}

// take measures by the best source that there is.
func (g *gauge) take(a *attempt, pids []int, cpu time.Duration) job.Progress {
	skip := sources(g.left.Load() | a.work.misled.Load())
	p := job.Progress{Source: job.ProgressCPU, N: cpu.Seconds(), Fraction: -1}
	n, of, open := g.read(pids)
	if n > 0 && !skip.has(job.ProgressInput) {
		p = job.Progress{Source: job.ProgressInput, N: n, Fraction: min(n/of, 1)}
	} else if n := a.programs.Hits(); n > 0 && !skip.has(job.ProgressHits) {
		p = job.Progress{Source: job.ProgressHits, N: n, Fraction: -1}
	} else if n := transferred(pids); n > 0 && !skip.has(job.ProgressIO) {
		p = job.Progress{Source: job.ProgressIO, N: n, Fraction: -1}
	}
	if p.Source != job.ProgressCPU { // of a process that has ended nothing is told
		p.N = max(p.N, g.most[p.Source])
		g.most[p.Source] = p.N
	}
	stands := mayStand(p.Source)
	if p.Source == job.ProgressInput && (n >= of || !open) {
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

// read returns how many bytes of the attempt's input its programs have read, of how many, and whether any of them has it open; 0 where
// they read none that is known.
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

// transferred returns how many bytes processes have read and written.
func transferred(pids []int) (n float64) {
	for _, pid := range pids {
		n += float64(probe.Transferred(pid))
	}
	return n
}

// findInputs finds the files that the attempt's entry names.
func (a *attempt) findInputs() {
	list := []taskInput{}
	for _, word := range a.work.spec.Bag.Named(a.start.Entry, a.id.Task) {
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

// progress returns how far the attempt has come as a whole; its source is none while that is not known.
func (a *attempt) progress(s probe.Snapshot) job.Progress {
	if a.work.spec.Bag == nil {
		return a.streamed(s)
	}
	if p := a.gauge.last.Load(); p != nil {
		return *p
	}
	return job.Progress{Attempt: a.id, Fraction: -1, CPU: s.All.CPU}
}

// streamed returns the progress of a map or reduce attempt: the bytes that its phases have read. A map has come as far as it is
// in its split; the phases of a reduce count the same, as Hadoop has it. A shuffle says nothing: it waits for maps.
func (a *attempt) streamed(s probe.Snapshot) job.Progress {
	p := job.Progress{Attempt: a.id, Source: job.ProgressInput, N: float64(s.All.BytesIn), Fraction: -1, CPU: s.All.CPU}
	switch s.Phase {
	case job.PhaseMap:
		p.Fraction = s.Fraction
	case job.PhaseMerge:
		p.Fraction = 1
	case job.PhaseSort, job.PhaseReduce:
		p.Fraction = (1 + float64(s.Phase-job.PhaseSort) + max(s.Fraction, 0)) / 3
	default:
		p.Source, p.N = job.ProgressNone, 0
	}
	return p
}

// judgeMeasures keeps, for the job's other attempts, by what the progress of one that is done was measured to its end, and by what not.
func (a *attempt) judgeMeasures() {
	if left := a.gauge.left.Load(); left != 0 {
		a.work.misled.Or(left)
	}
	if p := a.gauge.last.Load(); p != nil && p.Source != job.ProgressCPU && p.CPU >= 2*max(mayStand(p.Source), misleads) {
		a.work.proven.Or(1 << p.Source)
	}
}
