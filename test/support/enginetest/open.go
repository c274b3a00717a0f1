package enginetest

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// open returns the open bags to which tasks can be added.
func (w *World) open() []job.Work {
	var all []job.Work
	for _, j := range w.unfinished() {
		if work := w.Ledger.works[j.ID]; work.Open && j.State != event.StateStopping {
			all = append(all, work)
		}
	}
	return all
}

// feed adds tasks to an open bag, some of which come after others, or closes it.
func (w *World) feed() {
	all := w.open()
	if len(all) == 0 {
		return
	}
	work := all[w.choose(len(all))]
	if w.choose(8) == 0 {
		w.step(step.Close{Job: work.ID})
		return
	}
	in := step.Add{TasksAdded: event.TasksAdded{Job: work.ID, N: 1 + w.choose(9), Shares: work.Shares || w.choose(4) == 0}}
	for range w.choose(4) {
		c := event.Comes{Task: int32(work.Tasks + w.choose(in.N))}
		if c.Task == 0 || slices.ContainsFunc(in.After, func(b event.Comes) bool { return b.Task == c.Task }) {
			continue
		}
		c.After = []int32{int32(w.choose(int(c.Task)))}
		if last := c.Task - 1; last > c.After[0] {
			c.After = append(c.After, last)
		}
		in.After = append(in.After, c)
	}
	needs := w.needs(in.N)
	in.Further, in.Which = needs.Further, needs.Runs()
	w.step(in)
}

// needs chooses the needs of so many tasks of a bag.
func (w *World) needs(tasks int) (l job.NeedsList) {
	if w.choose(2) == 0 {
		return l
	}
	for len(l.Which) < 5 && tasks > 0 {
		var own job.Needs
		if w.choose(3) > 0 {
			own = job.Needs{CPUs: w.choose(4), Mem: int64(w.choose(6)), GPUs: w.choose(4) - 1, Attempts: w.choose(3)}
			own.Gang = w.gang()
			own.GPUType = []string{"", "x"}[w.choose(2)*min(1, max(0, own.GPUs))]
		}
		for range min(tasks, 1+w.choose(4)) {
			l.Add(own)
			tasks--
		}
	}
	return l
}

// largest returns resources with room for each task that the job has.
func (w *World) largest(work job.Work) (r job.Resources) {
	if known := w.Ledger.works[work.ID]; known.ID != "" {
		work.Further = known.Further
	}
	for k := range work.NeedsCount() {
		need, on := work.NeedsAt(k).Resources(), together(work.NeedsAt(k))
		r.CPUs, r.Mem, r.GPUs = max(r.CPUs, on*need.CPUs), max(r.Mem, int64(on)*room(work.NeedsAt(k))), max(r.GPUs, on*need.GPUs)
	}
	return r
}

// closeAll closes all open bags.
func (w *World) closeAll() {
	for _, work := range w.open() {
		w.step(step.Close{Job: work.ID})
	}
}

func (l *Ledger) applyOpen(r event.Record) {
	w := l.works[r.Of()]
	switch r := r.(type) {
	case event.TasksAdded:
		for _, c := range r.After {
			l.after[taskID{r.Job, int(c.Task)}] = c.After
		}
		w.Shares = w.Shares || r.Shares
		w.Further = append(slices.Clone(w.Further), r.Further...)
		l.noteNeeds(r.Job, w.Tasks, r.Which)
		w.Tasks += r.N
	case event.BagClosed:
		w.Open = false
	case event.TasksCancelled:
		for _, i := range r.Tasks {
			l.unwanted[taskID{r.Job, int(i)}] = true
		}
	case event.TasksSkipped:
		for _, i := range r.Tasks {
			if k := (taskID{r.Job, int(i)}); l.done[k] || len(l.of(k)) > 0 {
				l.fail("%v is given up though it runs or is done", k)
			}
		}
	}
	l.works[r.Of()] = w
}

// resumed forgets which tasks were cancelled if they are tried again.
func (l *Ledger) resumed(r event.JobResumed) {
	for k := range l.unwanted {
		if r.Failed && k.job == r.Job {
			delete(l.unwanted, k)
		}
	}
}
