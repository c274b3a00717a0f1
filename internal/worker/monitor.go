package worker

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/job"
	"berth/internal/probe"
	"berth/internal/wire"
)

const (
	// glance is how often running attempts are looked at. A phase that is over by
	// then is not told by a message of its own: the attempt's end tells all phases.
	glance = 100 * time.Millisecond
	// measureEvery is how often the processes of tasks with a memory limit are measured,
	// sampleEvery those of others.
	measureEvery = 2 * glance
	sampleEvery  = 10 * glance
)

// monitor looks at the running attempts a few times a second, and sleeps while
// there are none: phases to be told, time limits, memory limits, inactivity.
// That one goroutine does it for all keeps timers out of the path of short tasks.
type monitor struct {
	w       *worker
	wake    chan struct{} // an attempt began
	looks   int
	samples map[int]probe.Usage // by process group, as of the last measurement
}

func newMonitor(w *worker) *monitor {
	return &monitor{w: w, wake: make(chan struct{}, 1)}
}

// began makes the monitor look, if it sleeps.
func (m *monitor) began() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *monitor) run(ctx context.Context) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		running := m.w.running()
		if len(running) == 0 {
			tick.Stop()
			select {
			case <-m.wake:
			case <-ctx.Done():
				return
			}
			tick.Reset(glance)
			continue
		}
		select {
		case <-tick.C:
			m.look(m.w.running(), time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// look looks at every attempt once.
func (m *monitor) look(running []*attempt, now time.Time) {
	m.looks++
	m.measure(running, now)
	for _, a := range running {
		m.tellPhase(a)
		need := a.work.need(a.work.kind(a.id.Task))
		for _, p := range a.running() {
			m.watchTime(a, p, now)
			m.watchActivity(a, p, now)
			m.watchMemory(a, p, need)
		}
	}
}

// tellPhase tells the coordinator of a phase that has lasted for a glance.
func (m *monitor) tellPhase(a *attempt) {
	s := a.meter.Snapshot()
	if s.Phase == a.told || s.Phase == job.PhaseNone || probe.Now().Sub(s.Since) < glance {
		return
	}
	a.told = s.Phase
	m.w.link.tell(&wire.PhaseEntered{Attempt: a.id, Phase: s.Phase})
}

func (m *monitor) watchTime(a *attempt, p *program, now time.Time) {
	if p.limit > 0 && now.Sub(p.started) >= p.limit {
		a.kill(failed("killed: it ran longer than its time limit of %s", job.FormatDuration(p.limit)))
	}
}

func (m *monitor) watchActivity(a *attempt, p *program, now time.Time) {
	if p.activity == nil || a.work.spec.MapReduce.TaskTimeout <= 0 {
		return
	}
	n := p.activity.count.Load()
	if n != p.seen || p.activity.busy.Load() > 0 || p.since.IsZero() {
		p.seen, p.since = n, now
		return
	}
	if limit := a.work.spec.MapReduce.TaskTimeout; now.Sub(p.since) >= limit {
		a.kill(failed("killed: no progress for %s: it neither read, wrote nor reported (mapreduce.task.timeout)",
			job.FormatDuration(limit)))
	}
}

// measure reads the process table where that is due: often where a task has a
// memory limit, at times where one is old enough that its figures matter.
func (m *monitor) measure(running []*attempt, now time.Time) {
	m.samples = nil
	due := false
	for _, a := range running {
		limited := a.work.need(a.work.kind(a.id.Task)).Mem > 0
		for _, p := range a.running() {
			age := now.Sub(p.started)
			due = due || limited && m.looks%int(measureEvery/glance) == 0 ||
				age >= glance && (age < 2*glance || m.looks%int(sampleEvery/glance) == 0)
		}
	}
	if !due {
		return
	}
	groups, err := probe.Groups()
	if err != nil {
		m.w.log.Warn("processes cannot be measured", "err", err)
		return
	}
	m.samples = groups
	for _, a := range running {
		var sum probe.Usage
		for _, p := range a.running() {
			u := groups[p.pid]
			sum.CPU += u.CPU
			p.sawMemory(u.RSS)
		}
		a.meter.Live(sum)
	}
}

// watchMemory kills a task that holds more than it asked for. Resident sets count
// shared pages for each process, so what they say is checked before it has consequences.
func (m *monitor) watchMemory(a *attempt, p *program, need job.Resources) {
	u, ok := m.samples[p.pid]
	if !ok || need.Mem <= 0 || u.RSS <= need.Mem {
		return
	}
	used := u.RSS
	if u.Procs > 1 {
		used = probe.Proportional(groupMembers(p.pid))
	}
	if used > need.Mem {
		a.kill(failed("killed: it used %s of its %s of memory; ask for more with --mem",
			job.FormatSize(used), job.FormatSize(need.Mem)))
	}
}

func groupMembers(group int) []int {
	list, err := probe.Processes()
	if err != nil {
		return nil
	}
	var members []int
	for _, p := range list {
		if p.Group == group {
			members = append(members, p.PID)
		}
	}
	return members
}

// sawMemory keeps the largest resident set of the program's group.
func (p *program) sawMemory(rss int64) {
	for old := p.peak.Load(); rss > old && !p.peak.CompareAndSwap(old, rss); old = p.peak.Load() {
	}
}

// ownPeak returns the most bytes this process ever held resident.
func ownPeak() int64 {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return use.Maxrss << 10
}

// progress returns how far the attempts are that have run for a while.
func (w *worker) progress() []wire.Progress {
	var list []wire.Progress
	for _, a := range w.running() {
		if time.Since(a.begun) < glance {
			continue
		}
		s := a.meter.Snapshot()
		list = append(list, wire.Progress{Attempt: a.id, Phase: s.Phase, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
			RecordsIn: s.RecordsIn, CPU: s.CPU, Fraction: s.Fraction, Status: s.Status})
	}
	return list
}
