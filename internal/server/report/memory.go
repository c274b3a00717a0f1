package report

import (
	"fmt"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// MemoryUse is how attempts of a bag used the memory that they were given. 1 GB·h is 10⁹ bytes for an hour.
type MemoryUse struct {
	GivenGBh  float64 `json:"given_gbh"`      // 10⁹ bytes × hours
	WastedGBh float64 `json:"wasted_gbh"`     // what attempts that were done did not use, and all that others were given
	RanOut    int     `json:"ran_out"`        // attempts that ran out of memory
	Last      string  `json:"last,omitempty"` // the last time that tasks were given more or less
}

// lacking is what tasks ran out of that have failed, and so would need.
type lacking struct {
	mem   int64 // the largest memory that one of them had, in bytes; 0: none was asked for
	peak  int64 // the most that one of them was seen to use
	time  time.Duration
	tasks int  // that have failed for it
	own   bool // one of them said itself how much it needs
}

// countMemory adds what an attempt that is over was given and used.
func (j *Job) countMemory(r *ending) {
	if r.Lack.OfMemory() {
		j.memory.RanOut++
	}
	if r.mem == 0 {
		return
	}
	given := float64(r.mem) / 1e9 * r.seconds / 3600
	j.memory.GivenGBh += given
	if peak, _ := job.Peak(r.Stats); r.Outcome.Committed() && peak > 0 {
		given *= max(0, 1-float64(peak)/float64(r.mem))
	}
	j.memory.WastedGBh += given
}

// changeNeeds notes that tasks have other needs from now on.
func (j *Job) changeNeeds(r event.NeedsChanged) {
	j.memory.Last = r.Reason
	if r.Task >= 0 {
		j.memory.Last = fmt.Sprintf("task %s %s", j.TaskName(int(r.Task)), r.Reason)
	}
	if r.Mem > 0 {
		if r.Task >= 0 {
			j.mem[r.Task] = r.Mem
		} else {
			j.memOf[int(r.Index)] = r.Mem
		}
	}
}

// noteLack notes what an attempt ran out of whose task has failed.
func (j *Job) noteLack(r *ending) {
	if r.task.pos != posFailed {
		return
	}
	var own job.Needs
	if i := j.tasks.needs.At(r.Attempt.Task); i > 0 && j.work.Kind == job.Bag {
		own = j.work.Further[i-1]
	}
	switch l := &j.lacking; {
	case r.Lack.OfMemory():
		peak, _ := job.Peak(r.Stats)
		peak /= int64(r.ranks())
		had := r.mem / int64(r.ranks())
		if j.work.Kind == job.MapReduce { // one option gives memory to maps and reduces
			had = max(j.work.Need.Mem, j.work.ReduceNeed.Mem)
		}
		l.mem, l.peak, l.own = max(l.mem, had), max(l.peak, peak), l.own || own.Mem > 0
		l.tasks++
	case r.Lack == event.LackTime:
		l.time, l.own = max(l.time, job.Seconds(r.seconds)), l.own || own.TimeLimit > 0
		l.tasks++
	}
}

// memoryUse returns the use of memory for a view, nil without any.
func (j *Job) memoryUse() *MemoryUse {
	m := j.memory
	if m.GivenGBh == 0 && m.RanOut == 0 {
		return nil
	}
	m.GivenGBh, m.WastedGBh = round(m.GivenGBh), round(m.WastedGBh)
	return &m
}

// fix returns the command with which the failed tasks would work that ran out of memory or time, or why there is none.
func (j *Job) fix() (command, none string) {
	if !j.state.Final() || j.state == event.StateDone || j.lacking == (lacking{}) {
		return "", ""
	}
	if j.lacking.own {
		return "", "a resume gives no more to tasks that say themselves what they need: submit them again with more"
	}
	resume, bag := "berth resume "+string(j.info.ID), j.work.Kind == job.Bag
	if bag {
		resume += " --failed"
	}
	command = resume
	if had := j.lacking.mem; had > 0 || j.lacking.peak > 0 {
		low := max(2*had, j.lacking.peak+j.lacking.peak/4)
		high := 2 * low
		if !bag { // memory that grows is for bags
			high = low
		}
		if most := j.work.NodeMem; most > 0 {
			if had >= most {
				return "", "the largest node has " + job.FormatSize(most) + ", which is too small for a task: run it where nodes are larger"
			}
			low, high = min(low, most), min(high, most)
		}
		command += " --mem " + job.FormatRange(low, high, job.FormatSize)
	}
	if had := j.lacking.time; had > 0 {
		if had = had.Round(100 * time.Millisecond); had > 10*time.Second {
			had = had.Round(time.Second)
		}
		command += " --time-limit " + job.FormatRange(2*had, 4*had, job.FormatDuration)
	}
	if command == resume { // nobody knows how much would do
		return "", ""
	}
	return command, ""
}
