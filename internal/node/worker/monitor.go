package worker

import (
	"context"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/wire"
)

// monitor checks the running attempts a few times a second: it reports their phases, signals those whose time is nearly over, and
// ends those that exceed limits of time, memory or inactivity. It sleeps while none runs. One goroutine checks all attempts, so that short tasks need
// no timers.
type monitor struct {
	w     *worker
	wake  chan struct{} // signals that an attempt has started
	looks int

	lookedAt time.Time // time of the last look at attempts that still run; zero: none
	energyAt time.Time // time of the last reading of the energy counters
}

// energyEvery is the time between two readings of the energy counters during long phases, as the counters overflow after
// some minutes.
const energyEvery = 30 * time.Second

// stopped is the time between two looks from which on the worker and its programs were stopped meanwhile.
const stopped = 5 * time.Second

func (m *monitor) run(ctx context.Context) {
	tick := time.NewTicker(process.Glance)
	defer tick.Stop()
	for {
		running := m.w.running()
		if len(running) == 0 {
			m.w.link.tellNow()
			tick.Stop()
			if !m.rest(ctx) {
				return
			}
			tick.Reset(process.Glance)
			m.lookedAt = time.Time{}
			continue
		}
		select {
		case <-tick.C:
			m.w.link.tellNow()
			m.w.giveBack(time.Now())
			m.look(m.w.running(), time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// rest waits until an attempt has started, and returns false if ctx has ended. It starts the measurement of the disk when
// the node has been idle for long enough.
func (m *monitor) rest(ctx context.Context) bool {
	idle := time.NewTimer(idleProbe)
	defer idle.Stop()
	for {
		select {
		case <-m.wake:
			return true
		case <-idle.C:
			go m.w.rates.measure(m.w.scratch.dir) // beside the monitor, as attempts may start meanwhile
		case <-ctx.Done():
			return false
		}
	}
}

// look checks every attempt once.
func (m *monitor) look(running []*attempt, now time.Time) {
	m.looks++
	if gap := now.Sub(m.lookedAt); !m.lookedAt.IsZero() && gap >= stopped {
		for _, a := range running {
			a.programs.Stood(gap)
		}
	}
	m.lookedAt = now
	if m.w.energy != nil && now.Sub(m.energyAt) >= energyEvery {
		m.w.energy.Read()
		m.energyAt = now
	}
	if m.idles(running) {
		m.w.link.tell(&wire.Heartbeat{Progress: m.w.progress()})
	}
	families := m.measure(running, now)
	for _, a := range running {
		m.tellPhase(a)
		limits := m.w.limits(a)
		if a.signals() {
			a.programs.Warn(limits, now)
		} else {
			limits.Time = 0 // that of the program on the first node of its gang counts
		}
		if f := a.programs.Exceeded(limits, now, families); f != nil {
			a.kill(f)
		}
	}
}

// idles reports whether any attempt has become idle, or works again, since the last look.
func (m *monitor) idles(running []*attempt) (changed bool) {
	for _, a := range running {
		if idle := a.programs.Idle(); idle != a.idle {
			a.idle, changed = idle, true
		}
	}
	return changed
}

// measure reads the process table if that is due for any attempt, and else returns nil.
func (m *monitor) measure(running []*attempt, now time.Time) map[*process.Process]process.Family {
	due := func(a *attempt) bool { return a.programs.Due(m.looks, now, m.w.limits(a)) }
	if !slices.ContainsFunc(running, due) {
		return nil
	}
	families, err := process.Families()
	if err != nil {
		m.w.log.Warn("processes cannot be measured", "err", err)
		return nil
	}
	if err := m.w.scratch.noteBare(process.Bare()); err != nil {
		m.w.log.Warn("processes of tasks are not noted", "err", err)
	}
	for _, a := range running {
		if pids := a.programs.Measured(m.w.limits(a), families); !a.isShare() {
			a.gauge.measure(m.w, a, pids, now)
		}
	}
	return families
}

// tellPhase reports a phase to the coordinator once it has lasted for process.Glance. Shorter phases have no message of
// their own, as the end of the attempt contains all phases.
func (m *monitor) tellPhase(a *attempt) {
	s := a.meter.Snapshot()
	if s.Phase == a.told || s.Phase == job.PhaseNone || a.now().Sub(s.Since) < process.Glance {
		return
	}
	a.told = s.Phase
	m.w.link.tell(wire.PhaseEntered{PhaseEntered: event.PhaseEntered{Attempt: a.id, Phase: s.Phase}})
}

// progress returns the progress of the attempts that have run for some time. An attempt in no phase waits for a grant. An
// attempt that has not begun its first phase is omitted.
func (w *worker) progress() []wire.Progress {
	var list []wire.Progress
	for _, a := range w.running() {
		if time.Since(a.begun) < process.Glance {
			continue
		}
		s := a.meter.Snapshot()
		if s.Phase == job.PhaseNone && a.waits.Load() == uint32(job.PhaseNone) {
			continue
		}
		list = append(list, wire.Progress{Progress: a.progress(s), PhaseProgress: s.PhaseProgress})
	}
	return list
}
