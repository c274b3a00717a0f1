package worker

import (
	"context"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/probe"
	"berth/internal/process"
	"berth/internal/wire"
)

// monitor looks at the running attempts a few times a second, and sleeps while
// there are none: phases to be told, time limits, memory limits, inactivity.
// That one goroutine does it for all keeps timers out of the path of short tasks.
type monitor struct {
	w     *worker
	wake  chan struct{} // an attempt began
	looks int

	energyAt time.Time // when the counters of energy were read last
}

// energyEvery is how often the counters of energy are read while long phases last, as they begin again after some minutes.
const energyEvery = 30 * time.Second

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
	tick := time.NewTicker(process.Glance)
	defer tick.Stop()
	for {
		running := m.w.running()
		if len(running) == 0 {
			tick.Stop()
			if !m.rest(ctx) {
				return
			}
			tick.Reset(process.Glance)
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

// rest waits until an attempt has begun, and reports whether one has: false once ctx has ended. It has the disk measured
// where there is time for it.
func (m *monitor) rest(ctx context.Context) bool {
	idle := time.NewTimer(idleProbe)
	defer idle.Stop()
	for {
		select {
		case <-m.wake:
			return true
		case <-idle.C:
			go m.w.rates.measure(m.w.scratch.dir) // what begins meanwhile is watched
		case <-ctx.Done():
			return false
		}
	}
}

// look looks at every attempt once.
func (m *monitor) look(running []*attempt, now time.Time) {
	m.looks++
	if m.w.energy != nil && now.Sub(m.energyAt) >= energyEvery {
		m.w.energy.Read()
		m.energyAt = now
	}
	groups := m.measure(running, now)
	for _, a := range running {
		m.tellPhase(a)
		if f := a.programs.Exceeded(a.work.limits(a.id.Task), now, groups); f != nil {
			a.kill(f)
		}
	}
}

// measure reads the process table where that is due for any attempt, else it returns nil.
func (m *monitor) measure(running []*attempt, now time.Time) map[int]probe.Group {
	due := func(a *attempt) bool { return a.programs.Due(m.looks, now, a.work.limits(a.id.Task)) }
	if !slices.ContainsFunc(running, due) {
		return nil
	}
	groups, err := probe.Groups()
	if err != nil {
		m.w.log.Warn("processes cannot be measured", "err", err)
		return nil
	}
	for _, a := range running {
		a.gauge.measure(m.w, a, a.programs.Measured(groups), now)
	}
	return groups
}

// tellPhase tells the coordinator of a phase that has lasted for a glance. One that is over by
// then is not told by a message of its own: the attempt's end tells all phases.
func (m *monitor) tellPhase(a *attempt) {
	s := a.meter.Snapshot()
	if s.Phase == a.told || s.Phase == job.PhaseNone || probe.Now().Sub(s.Since) < process.Glance {
		return
	}
	a.told = s.Phase
	m.w.link.tell(&wire.PhaseEntered{Attempt: a.id, Phase: s.Phase})
}

// progress returns how far the attempts are that have run for a while. One in no phase waits for a grant;
// of one that has not begun its first phase there is nothing to tell.
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
		list = append(list, wire.Progress{Progress: a.progress(s), Phase: s.Phase, BytesIn: s.BytesIn, BytesOut: s.BytesOut,
			Part: s.Fraction, Status: s.Status})
	}
	return list
}
