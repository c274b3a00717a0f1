package enginetest

import (
	"slices"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// claims is the part of a ledger that concerns files which tasks of several jobs write.
type claims struct {
	n     int                     // claims so far
	of    map[job.ID][]firstClaim // by job that shares
	files map[uint64]owner        // by file: whose bytes it has
	Later int                     // how often a file was left alone, as a later claim had put it into place
}

// owner is the job and the claim of the task that put a file into place.
type owner struct {
	job   job.ID
	claim int
}

// firstClaim is a claim of the tasks of a job from one index on.
type firstClaim struct{ from, claim int }

func (l *Ledger) applyClaims(r event.Record) {
	c := &l.Claims
	claim := func(id job.ID, from int) {
		c.n++
		c.of[id] = append(c.of[id], firstClaim{from, c.n})
	}
	switch r := r.(type) {
	case event.JobSubmitted:
		if r.Work.Shares {
			claim(r.Work.ID, 0)
		}
	case event.JobResumed:
		if c.of[r.Job] != nil {
			c.of[r.Job] = nil
			claim(r.Job, 0)
		}
	case event.TasksAdded:
		if r.Shares {
			claim(r.Job, l.works[r.Job].Tasks)
		}
	}
}

// claim returns the claim of a task.
func (c *claims) claim(at job.Attempt) (last int) {
	for _, f := range c.of[at.Job] {
		if at.Task >= f.from {
			last = f.claim
		}
	}
	return last
}

// put notes that an attempt has put a file into place, and checks that the bytes of no later claim of another job were there.
func (l *Ledger) put(at job.Attempt, file uint64) {
	c := &l.Claims
	mine := c.claim(at)
	if was := c.files[file]; was.job != at.Job && was.claim > mine {
		l.fail("%v, of claim %d, puts file %d over that of claim %d of %s", at, mine, file, was.claim, was.job)
	}
	c.files[file] = owner{at.Job, mine}
}

// writes returns the files of a task that other jobs write, too.
func (r *run) writes() []uint64 {
	if !r.shares {
		return nil
	}
	return []uint64{uint64(r.Attempt.Task % 3), uint64(10 + r.Attempt.Task%2)}
}

// permitted reports whether the run may put its files into place.
func (r *run) permitted() bool { return r.commit && (r.told || !r.Asks) }

// place puts the files of a run into place, and ends it.
func (k *worker) place(r *run) {
	for i, f := range r.writes() {
		if slices.Contains(r.except, int32(i)) {
			k.w.Ledger.Claims.Later++
		} else {
			k.w.Ledger.put(r.Attempt, f)
		}
	}
	if r.keeps {
		k.end(r, event.Killed, "killed")
	} else {
		k.end(r, event.Done, "")
	}
}

// ask has a run ask before it puts its files into place.
func (k *worker) ask(a step.Ask) {
	if r := k.find(a.Attempt); r != nil && !r.puts {
		r.Asks, r.told, r.wanted = true, false, false
		k.say(step.Asks{Attempt: a.Attempt})
	}
}

// put lets a run that shares files go on to put them into place, and then end.
func (k *worker) put(r *run) {
	switch {
	case r.puts:
		if k.w.calm || k.w.choose(8) == 0 { // others do much meanwhile
			k.place(r)
		}
	case r.permitted():
		r.puts = true
	case !k.connected && r.keeps:
		k.end(r, event.Killed, "killed")
	case !r.wanted && k.connected:
		r.wanted = true
		k.say(step.CommitWanted{Attempt: r.Attempt, Files: r.writes()})
	}
}
