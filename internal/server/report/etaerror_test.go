package report

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// trial is a run of a job on slots that take one task after the other.
type trial struct {
	tasks, slots int
	more         int           // slots that come later, after a quarter of the work
	spread       float64       // sigma of the logarithm of durations
	pause        time.Duration // between the end of a task and the next start on its slot
	large        int           // tasks that need four cores and take three times as long
	reported     bool          // who compares attempts says when each will end
	reduces      int
}

// etaErrors runs the trial and returns by how much of the run's time the end was expected too early or too late, at moments all over the run.
func (c trial) etaErrors(seed uint64) (errs []float64) {
	const began = job.Time(1000e9)
	draw := rand.New(rand.NewPCG(seed, 7))
	need := func(i int) job.Needs {
		if i < c.large {
			return job.Needs{CPUs: 4}
		}
		return job.Needs{CPUs: 1}
	}
	took := make([]time.Duration, c.tasks+c.reduces)
	var work time.Duration
	for i := range took {
		took[i] = time.Duration(10e9 * math.Exp(c.spread*draw.NormFloat64()))
		if i < c.large {
			took[i] *= 3
		}
		work += took[i] * time.Duration(need(i).CPUs)
	}
	request := func(cores int, start job.Time) job.AllocRequest {
		return job.AllocRequest{On: "slurm", Nodes: cores / 4, PerNode: job.Resources{CPUs: 4}, Elastic: true, Start: start}
	}
	w := job.Work{ID: "b-1", Kind: job.Bag, Tasks: c.tasks, Terms: job.Terms{Attempts: 1, Need: job.Resources{CPUs: 1}}, Alloc: request(c.slots, began)}
	if c.large > 0 {
		w.Further, w.Which = []job.Needs{{CPUs: 4}}, []job.NeedsRun{{Tasks: int32(c.large), Index: 1}}
	}
	if c.reduces > 0 {
		w.Kind, w.Reduces, w.ReduceAttempts, w.ReduceNeed = job.MapReduce, c.reduces, 1, w.Need
	}
	later := began.Add(work / time.Duration(4*c.slots))
	type entry struct {
		at job.Time
		r  event.Record
	}
	all := []entry{{began, event.JobSubmitted{Work: w}}, {began, event.AllocRequested{Alloc: "a1", Request: w.Alloc, Job: "b-1"}}, {began, event.AllocBegan{Alloc: "a1"}}}
	type slot struct {
		at   job.Time
		node job.NodeID
	}
	var free []slot
	for n := range c.slots {
		free = append(free, slot{began.Add(time.Duration(n) * time.Millisecond), job.NodeID(fmt.Sprintf("a1/%d", n/4))})
		if n%4 == 0 {
			all = append(all, entry{began, event.NodeJoined{Node: job.NodeID(fmt.Sprintf("a1/%d", n/4)), Capacity: job.Resources{CPUs: 4}}})
		}
	}
	if c.more > 0 {
		all = append(all, entry{began, event.AllocRequested{Alloc: "a2", Request: request(c.more, later), Job: "b-1"}}, entry{later, event.AllocBegan{Alloc: "a2"}})
		for n := range c.more {
			free = append(free, slot{later, job.NodeID(fmt.Sprintf("a2/%d", n/4))})
			if n%4 == 0 {
				all = append(all, entry{later, event.NodeJoined{Node: job.NodeID(fmt.Sprintf("a2/%d", n/4)), Capacity: job.Resources{CPUs: 4}}})
			}
		}
	}
	end, mapsEnd := began, began
	ends := map[job.Attempt]job.Time{}
	for _, i := range append(draw.Perm(c.tasks), seq(c.tasks, c.reduces)...) {
		slices.SortStableFunc(free, func(a, b slot) int { return cmp.Compare(a.at, b.at) })
		k := need(i).CPUs
		at := free[k-1].at
		if i >= c.tasks {
			at = max(at, mapsEnd)
		}
		a, over := job.Attempt{Job: "b-1", Task: i, N: 1}, at.Add(took[i])
		node, phase := free[k-1].node, job.PhaseCompute
		switch {
		case i >= c.tasks:
			phase = job.PhaseReduce
		case c.reduces > 0:
			phase = job.PhaseMap
		}
		all = append(all, entry{at, event.AttemptStarted{Attempt: a, Node: node}}, entry{at, event.PhaseEntered{Attempt: a, Phase: phase}},
			entry{over, event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: []job.PhaseStat{{Phase: phase, Start: at, End: over}}}})
		for n := range k {
			free[n].at = over.Add(c.pause)
		}
		if end = max(end, over); i < c.tasks {
			mapsEnd = max(mapsEnd, over)
		}
		ends[a] = at.Add(time.Duration(float64(took[i]) * math.Exp(0.1*draw.NormFloat64())))
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	j, next := New(Info{ID: "b-1"}), 0
	for step := 1; step < 20; step++ {
		now := began.Add(end.Sub(began) * time.Duration(step) / 20)
		for ; next < len(all) && all[next].at <= now; next++ {
			j.Apply(event.Entry{Seq: uint64(next + 1), At: all[next].at, Record: all[next].r})
		}
		if c.reported {
			for _, a := range j.allRunning() {
				j.ApplyEnd(a.id, max(ends[a.id], now))
			}
		}
		if v := j.View(now); v.EtaS != nil {
			errs = append(errs, (*v.EtaS-end.Sub(now).Seconds())/end.Sub(began).Seconds())
		}
	}
	return errs
}

func seq(first, n int) (all []int) {
	for i := range n {
		all = append(all, first+i)
	}
	return all
}

// TestEtaErrors: half of all expected ends are off by no more than 3 percent of the run's time, and nine of ten by no more than 18.
func TestEtaErrors(t *testing.T) {
	var every []float64
	total := 0
	for _, c := range []struct {
		name string
		trial
	}{
		{"waves", trial{tasks: 100, slots: 8}},
		{"few tasks", trial{tasks: 30, slots: 8, spread: 0.3}},
		{"many tasks", trial{tasks: 1000, slots: 8, spread: 0.5}},
		{"many slots", trial{tasks: 300, slots: 64, spread: 0.5}},
		{"long tail", trial{tasks: 200, slots: 8, spread: 1}},
		{"told ends", trial{tasks: 200, slots: 8, spread: 1, reported: true}},
		{"few told ends", trial{tasks: 30, slots: 8, spread: 0.5, reported: true}},
		{"pauses", trial{tasks: 400, slots: 8, spread: 0.3, pause: 5 * time.Second}},
		{"more nodes", trial{tasks: 300, slots: 8, more: 24, spread: 0.3}},
		{"many tasks on more nodes", trial{tasks: 2000, slots: 8, more: 24, spread: 0.3}},
		{"different needs", trial{tasks: 200, slots: 16, large: 40, spread: 0.3}},
		{"few of different needs", trial{tasks: 60, slots: 16, large: 10, spread: 0.3}},
		{"reduces", trial{tasks: 100, slots: 8, spread: 0.3, reduces: 40}},
	} {
		var errs []float64
		for s := range uint64(20) {
			errs = append(errs, c.etaErrors(s)...)
		}
		total += 19 * 20
		t.Log(c.name, summary(errs))
		every = append(every, errs...)
	}
	t.Logf("all: %s; %d of %d moments have an expected end", summary(every), len(every), total)
	slices.SortFunc(every, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
	if half, most := math.Abs(every[len(every)/2]), math.Abs(every[len(every)*9/10]); half > 0.03 || most > 0.18 || len(every) < 4500 {
		t.Errorf("half of the errors are up to %.1f %%, and 90 %% up to %.1f %%", 100*half, 100*most)
	}
}

func summary(errs []float64) string {
	var bias float64
	abs := slices.Clone(errs)
	for i, e := range abs {
		bias += e / float64(len(abs))
		abs[i] = math.Abs(e)
	}
	slices.Sort(abs)
	return fmt.Sprintf("median %.1f %%, 90 %% %.1f %%, bias %.1f %%, n %d", 100*abs[len(abs)/2], 100*abs[len(abs)*9/10], 100*bias, len(abs))
}
