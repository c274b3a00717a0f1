package engine

import (
	"fmt"
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/step"
)

// addNeeds adds the state of the tasks of each of the needs of the job for which there is none yet.
func (j *jobState) addNeeds() {
	for k := len(j.place); k < j.work.NeedsCount(); k++ {
		kind := job.ReduceTask
		if k == 0 || j.work.Kind == job.Bag {
			kind = j.work.TaskKind(0)
		}
		j.place = append(j.place, uint16(len(j.of)))
		j.newNeeds(kind, j.work.NeedsAt(k))
	}
}

// newNeeds adds the state of tasks with these needs, and returns it.
func (j *jobState) newNeeds(kind job.TaskKind, n job.Needs) *byNeeds {
	t := &byNeeds{Tasks: *sched.NewTasks(&j.Job, kind), needs: n, attempts: n.Attempts}
	t.past.AddEarlier(j.work.Curves, kind)
	if len(j.of) > 0 && kind == job.BagTask { // as long as they are not measured, they are expected to take as long as the others
		first := &j.of[0].Left
		t.Left.Planned, t.Left.Hint, t.Left.Most = first.Planned, first.Hint, first.Most
	}
	j.of = append(j.of, t)
	j.By = append(j.By, &t.Tasks)
	return t
}

// licensed returns the part of what a task uses that are licences which are requested from a batch system for the job's tasks.
func (j *jobState) licensed(u job.Uses) (of job.Uses) {
	for name, n := range u.All() {
		if j.work.Alloc.Batch.Licences.Of(name) > 0 {
			of = of.With(name, n)
		}
	}
	return of
}

// addTasks adds tasks behind those of the job, with the needs of these runs.
func (j *jobState) addTasks(runs []job.NeedsRun) {
	for _, r := range runs {
		if r.Tasks == 0 {
			continue
		}
		first, k := len(j.tasks), 0
		if int(r.Index) < len(j.place) { // else the record does not fit the state, see apply
			k = int(j.place[r.Index])
		}
		if j.work.Kind == job.Bag {
			j.which.Add(first, job.NeedsRun{Tasks: r.Tasks, Index: uint16(k)})
		}
		t := j.of[k]
		j.tasks = slices.Grow(j.tasks, int(r.Tasks))[:first+int(r.Tasks)] // what was never used is zero: if it were cleared it would take memory
		t.Begin.Ready.Extend(int32(first), int32(len(j.tasks))-1)
		t.total += int(r.Tasks)
		j.counts[sched.KindIndex(t.Kind())].total += int(r.Tasks)
	}
}

// needsRuns returns the needs of so many tasks of a bag. Those behind the tasks of which have the needs of the bag.
func needsRuns(tasks int, which []job.NeedsRun) []job.NeedsRun {
	for _, r := range which {
		tasks -= int(r.Tasks)
	}
	return append(which[:len(which):len(which)], job.NeedsRun{Tasks: int32(tasks)})
}

// ownNeeds returns the record of added tasks whose needs are numbered within the call, with their numbers in the job.
func (j *jobState) ownNeeds(r event.TasksAdded) (event.TasksAdded, error) {
	if err := job.CheckRuns(r.Which, r.N, 1+len(r.Further)); err != nil {
		return r, step.UserError(j.ID, err.Error(), "")
	}
	all, index := j.work.Further, make([]uint16, 1, 1+len(r.Further))
	for _, n := range r.Further {
		k := slices.Index(all, n)
		if k < 0 {
			if err := step.CheckNeeds(&j.work, n); err != nil {
				return r, err
			}
			k, all = len(all), append(all[:len(all):len(all)], n)
		}
		index = append(index, uint16(min(k, job.MaxNeeds)+1))
	}
	if len(all) >= job.MaxNeeds {
		return r, step.UserError(j.ID, fmt.Sprintf("the tasks of a bag can have at most %d different needs", job.MaxNeeds-1),
			"round cpus, mem, gpus, time, retries and application of tasks, or submit several bags")
	}
	which := slices.Clone(r.Which)
	for i := range which {
		which[i].Index = index[which[i].Index]
	}
	r.Further, r.Which = all[len(j.work.Further):], which
	return r, nil
}
