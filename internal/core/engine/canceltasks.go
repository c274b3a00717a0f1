package engine

import (
	"fmt"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// cancelTasks has tasks of a bag not start, and ends those that run. It changes nothing of those that are over.
func (e *Engine) cancelTasks(j *jobState, tasks []int32, reason string) error {
	if j.work.Kind != job.Bag {
		return step.UserError(j.ID, "only tasks of a bag can be cancelled alone", "cancel the job: berth cancel "+string(j.ID))
	}
	var left []int32
	for _, i := range tasks {
		switch {
		case i < 0 || int(i) >= len(j.tasks):
			return step.UserError(j.ID, fmt.Sprintf("it has no task %d", i+1), "")
		case j.tasks[i].status != done && j.tasks[i].status != failed && !j.cancelled[i]:
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return nil
	}
	e.emit(event.TasksCancelled{Job: j.ID, Tasks: left, Reason: reason})
	for _, i := range left {
		for a := j.firstAttempt(int(i)); a != nil; a = a.duplicate {
			e.killAttempt(a, reason)
		}
	}
	return nil
}

func (e *Engine) applyCancelled(j *jobState, r event.TasksCancelled) {
	if j.work.Kind != job.Bag {
		return
	}
	if j.cancelled == nil {
		j.cancelled = make(map[int32]bool)
	}
	for _, i := range r.Tasks {
		if int(i) >= len(j.tasks) || j.tasks[i].status == done || j.tasks[i].status == failed {
			continue
		}
		j.cancelled[i] = true
		if j.unready(int(i)); j.tasks[i].status != running {
			j.giveUp(int(i))
		}
		for a := j.firstAttempt(int(i)); a != nil; a = a.duplicate {
			a.KillReason = r.Reason
			e.unwantGrant(a)
		}
	}
}

// giveUp has a cancelled task of which no attempt runs be over.
func (j *jobState) giveUp(i int) {
	j.moveTask(i, failed)
	j.forgetCut(i)
	j.noteFailed(int32(i))
}
