package probe

import (
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/core/job"
)

// Meter measures one attempt. Its methods may be called from any goroutine. A method that is called
// for each record or buffer costs one atomic addition.
type Meter struct {
	Missing job.ResourceSet // resources that cannot be measured on this machine; set before the first phase
	Energy  *Energy         // the machine's energy; nil: not measured; set before the first phase

	now func() job.Time

	in, out, recIn, recOut atomic.Int64 // of the current phase
	cpu                    atomic.Int64 // of the current phase: own threads and children that have ended, nanoseconds
	disk, net              atomic.Int64 // of the current phase, bytes
	waited, queued         atomic.Int64 // of the current phase, nanoseconds; queued: Spent.Queued of its programs
	own, peak              atomic.Int64 // bytes in the attempt's own buffers now, and the largest number in the current phase
	child                  atomic.Int64 // largest resident set of a child in the current phase, bytes
	total                  atomic.Int64
	liveCPU                atomic.Int64 // of running children, nanoseconds

	mu       sync.Mutex
	phase    job.Phase
	start    job.Time
	took     EnergyReading // at the begin of the phase
	done     []job.PhaseStat
	passed   job.PhaseStat // BytesIn and CPU of the phases in done
	counters map[string]int64
	status   string
}

// NewMeter returns a meter that uses the clock now.
func NewMeter(now func() job.Time) *Meter { return &Meter{now: now} }

// Enter ends the current phase and begins p. If p is the current phase, Enter does nothing.
func (m *Meter) Enter(p job.Phase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != p {
		t := m.now()
		m.close(t)
		m.phase, m.start = p, t
	}
}

// Finish ends the current phase and returns all phases, in the order in which they began.
func (m *Meter) Finish() []job.PhaseStat {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.close(m.now())
	m.phase = job.PhaseNone
	return m.done
}

// close adds the figures of the current phase to done and resets the counters.
func (m *Meter) close(t job.Time) {
	s := job.PhaseStat{
		Phase: m.phase, Start: m.start, End: t,
		BytesIn: m.in.Swap(0), BytesOut: m.out.Swap(0),
		RecordsIn: m.recIn.Swap(0), RecordsOut: m.recOut.Swap(0),
		CPU:        time.Duration(m.cpu.Swap(0)),
		PeakMemory: m.peak.Swap(m.own.Load()) + m.child.Swap(0),
		DiskBytes:  m.disk.Swap(0), NetBytes: m.net.Swap(0), Waited: time.Duration(m.waited.Swap(0)), Missing: m.Missing,
	}
	// Time without a processor counts as waiting. Otherwise, when processors are short, the
	// measured rates would be too low, more attempts would be started, and the rates would fall
	// further. Programs of a phase may wait side by side, so at most one core is assumed.
	s.Waited += min(time.Duration(m.queued.Swap(0)), max(0, s.Busy()-s.CPU))
	m.total.Store(0)
	if m.Energy != nil {
		took := m.Energy.Read()
		s.Joules, m.took = took.Share(m.took, s.CPU), took
	}
	if m.phase != job.PhaseNone {
		m.done = append(m.done, s)
		m.passed.BytesIn += s.BytesIn
		m.passed.CPU += s.CPU
	}
}

// In adds to what the current phase has read.
func (m *Meter) In(bytes, records int64) { m.in.Add(bytes); m.recIn.Add(records) }

// Out adds to what the current phase has written.
func (m *Meter) Out(bytes, records int64) { m.out.Add(bytes); m.recOut.Add(records) }

// Spent adds what the attempt's own threads used in the current phase.
func (m *Meter) Spent(s Spent) {
	m.cpu.Add(int64(s.CPU))
	m.queued.Add(int64(s.Queued))
	m.disk.Add(s.Disk)
}

// Waited adds time of the current phase in which it had nothing to do.
func (m *Meter) Waited(d time.Duration) { m.waited.Add(int64(d)) }

// Net adds bytes that were received from other nodes or sent to them.
func (m *Meter) Net(bytes int64) { m.net.Add(bytes) }

// Memory sets how many bytes the attempt's own buffers contain now.
func (m *Meter) Memory(bytes int64) {
	m.own.Store(bytes)
	Raise(&m.peak, bytes)
}

// Total sets how many bytes the current phase will read.
func (m *Meter) Total(bytes int64) { m.total.Store(bytes) }

// Child adds a child process that ended in the current phase: what it and the children that it
// waited for used, and its largest resident set in bytes (getrusage(2)).
func (m *Meter) Child(s Spent, maxRSS int64) {
	m.Spent(s)
	m.liveCPU.Store(0)
	Raise(&m.child, maxRSS)
}

// Live sets what the attempt's running children have used so far.
func (m *Meter) Live(u Usage) {
	m.liveCPU.Store(int64(u.CPU))
	Raise(&m.child, u.RSS)
}

// Raise sets v to n if n is larger.
func Raise(v *atomic.Int64, n int64) {
	for old := v.Load(); n > old && !v.CompareAndSwap(old, n); old = v.Load() {
	}
}

// Counter adds n to the counter "group,name".
func (m *Meter) Counter(group, name string, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counters == nil {
		m.counters = make(map[string]int64)
	}
	m.counters[group+","+name] += n
}

// Counters returns the sums of all counters, or nil if there are none. It is called after the end
// of the attempt.
func (m *Meter) Counters() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.counters
}

// Status stores the last status that the task reported.
func (m *Meter) Status(s string) {
	m.mu.Lock()
	m.status = s
	m.mu.Unlock()
}

// PhaseProgress is the observed progress of a running attempt in its current phase.
type PhaseProgress struct {
	Phase    job.Phase `msgpack:"p"`            // PhaseNone: the attempt waits for a grant
	BytesIn  int64     `msgpack:"bi,omitempty"` // read by the phase
	BytesOut int64     `msgpack:"bo,omitempty"` // written by the phase
	Part     float64   `msgpack:"pf"`           // part of the phase's input that was read, 0 to 1; −1: unknown
	Status   string    `msgpack:"st,omitempty"` // the last reporter:status line
}

// Snapshot is the progress of an attempt in its current phase.
type Snapshot struct {
	PhaseProgress
	Since job.Time      // begin of the phase
	All   job.PhaseStat // BytesIn of all phases so far, and CPU: of own threads, and of ended and running children
}

// Snapshot returns the progress of the attempt.
func (m *Meter) Snapshot() Snapshot {
	m.mu.Lock()
	s := Snapshot{PhaseProgress{Phase: m.phase, Status: m.status, Part: -1}, m.start, m.passed}
	m.mu.Unlock()
	s.BytesIn, s.BytesOut = m.in.Load(), m.out.Load()
	s.All.BytesIn += s.BytesIn
	s.All.CPU += time.Duration(m.cpu.Load() + m.liveCPU.Load())
	if t := m.total.Load(); t > 0 {
		s.Part = min(1, float64(s.BytesIn)/float64(t))
	}
	return s
}
