package batch

import (
	"context"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
)

// slowest is the longest interval between two polls, in units of Options.Poll. It is used while
// no change is expected for long.
const slowest = 6

// pollDue polls all jobs if a poll is due.
func (s *site) pollDue(ctx context.Context) {
	s.mu.Lock()
	var polled []*alloc
	var asked []Job
	for _, a := range s.allocs {
		if a.job != "" {
			polled, asked = append(polled, a), append(asked, s.asked(a))
		}
	}
	due := s.Now() >= s.nextPoll
	s.mu.Unlock()
	if len(asked) == 0 || !due {
		return
	}
	jobs, err := s.reached().Jobs(ctx, asked)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.unanswered(err)
		return
	}
	s.update(polled, jobs, s.explain(polled, asked, jobs))
}

// asked returns the allocation's job as the batch system is asked for it. The lock is held, except for wake-up jobs, which are of the loop alone.
func (s *site) asked(a *alloc) Job {
	return Job{ID: a.job, Request: a.req, Dir: a.dir, Output: s.output(a), Explain: !a.down && !a.released}
}

// unanswered records that a poll failed. The states of the jobs are unknown then, so no job is given up.
func (s *site) unanswered(err error) {
	s.mu.Lock()
	defer s.unlock()
	now := s.Now()
	if s.away == 0 {
		s.away = now
		s.Log.Warn("jobs cannot be watched", "err", err)
	}
	s.poll.fail(now, s.Poll, slowest*s.Poll)
	s.nextPoll = s.poll.next
	for _, a := range s.allocs {
		s.reportNote(a, s.words.Controller+" has not answered since "+clock(s.away)+": "+wordsOf(err), a.start)
	}
}

// update records the states of the polled jobs. why has the reasons of those that ended.
func (s *site) update(polled []*alloc, jobs map[string]Status, why map[string]step.AllocDown) {
	s.mu.Lock()
	defer s.unlock()
	now := s.Now()
	if s.away != 0 {
		s.Log.Info("the controller answers again")
		s.away = 0
		s.submit.next = 0
	}
	s.poll.reset()
	for _, a := range polled {
		now := jobs[a.job]
		if e, ended := why[a.job]; ended {
			s.reportDown(a, e)
		}
		if now.Phase == Gone || now.Phase == Over {
			s.forget(a)
			continue
		}
		s.observe(a, now)
		a.quick = max(a.quick-1, 0)
	}
	s.lastPoll = now
	s.nextPoll = now.Add(s.interval(s.Wall()))
}

// observe records the state of a live job. The lock is held.
func (s *site) observe(a *alloc, now Status) {
	switch now.Phase {
	case Ending:
		a.next = 0
	case Starting:
		s.reportNote(a, "its nodes are being started", now.Start)
	case Waiting:
		if now.Never {
			s.reportDown(a, step.AllocDown{Reason: s.words.System + " will not start its job: " + now.Why, Refuse: true})
			a.released = true
			return
		}
		a.up, a.next = false, now.Start
		s.reportNote(a, s.named(a)+" waits: "+now.Why, now.Start)
	case Running:
		s.running(a, now)
	default:
		a.odd = true
		s.reportNote(a, s.named(a)+" is "+now.Why, 0)
	}
}

// named returns the name of an allocation's job for users, as in "Slurm job 17".
func (s *site) named(a *alloc) string { return s.words.System + " job " + a.job }

// running records that a job runs, its end and its nodes. The lock is held.
func (s *site) running(a *alloc, now Status) {
	a.next = now.End
	if now.End == 0 {
		a.next = s.Wall().Add(24 * time.Hour)
	}
	if a.released || a.down {
		return
	}
	if !a.up || a.ends != now.End {
		a.up, a.ends = true, now.End
		s.outbox.Put(step.AllocUp{Alloc: a.id, Ends: now.End})
		if !a.odd {
			a.note = "" // the engine forgets it
		}
	}
	a.odd = false
	s.reportNote(a, s.notYet(a), 0)
	if len(now.Hosts) == 0 || len(now.Hosts) >= a.req.Nodes {
		return
	}
	// A batch system removes failed nodes from a job that continues without them.
	for rank := range a.req.Nodes {
		if host := Host(a.dir, rank); host != "" && !slices.Contains(now.Hosts, host) && !a.lost[rank] {
			if a.lost == nil {
				a.lost = map[int]bool{}
			}
			a.lost[rank] = true
			s.outbox.Put(step.NodeDown{Node: a.id.Node(rank), Gone: true, Reason: s.words.System + " removed node " + host + " from its job, as the node failed"})
		}
	}
}

// notYet returns what the job of an allocation has said while none of its nodes has started, or "". The lock is held.
func (s *site) notYet(a *alloc) string {
	if a.runs = a.runs || a.began(); a.runs {
		return ""
	}
	a.next = 0 // polled often
	if said := LastWords(s.output(a), s.words.Noise...); said != NoOutput {
		return "its output says: " + said
	}
	return ""
}

// quickPolls is the number of quick polls after a worker has disconnected. A batch system may take some
// seconds to report the end of a job whose workers were told to end.
const quickPolls = 10

// recheck polls the allocation's job soon. A job whose worker has disconnected was probably cancelled, which
// otherwise only the next regular poll would show.
func (s *site) recheck(id job.AllocID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.find(id)
	if a == nil || a.job == "" || a.released || a.down {
		return
	}
	a.quick = quickPolls
	s.nextPoll = min(s.nextPoll, max(s.lastPoll.Add(s.soon()), s.Now()))
	s.nudge()
}

// soon returns the time between two polls while a change is under way.
func (s *site) soon() time.Duration { return min(s.Poll, soonAfter) }

// interval returns the time until the next poll: short while a change is expected soon, long
// while the next expected change is far away. The lock is held.
func (s *site) interval(now job.Time) time.Duration {
	wait := slowest * s.Poll
	for _, a := range s.allocs {
		if a.quick > 0 {
			return s.soon()
		}
		left := time.Duration(0)
		if a.next > now && !a.released {
			left = a.next.Sub(now) / 20
		}
		wait = min(wait, max(left, s.Poll))
	}
	return wait
}
