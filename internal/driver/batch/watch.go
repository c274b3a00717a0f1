package batch

import (
	"context"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/step"
)

// slowest is how many times seldomer than Options.Poll jobs are looked at while nothing is
// expected to change for long.
const slowest = 6

// pollDue looks at all jobs, if it is time to.
func (s *site) pollDue(ctx context.Context) {
	s.mu.Lock()
	asked := make([]Job, 0, len(s.allocs))
	for _, a := range s.allocs {
		if a.job != "" {
			asked = append(asked, Job{ID: a.job, Request: a.req, Dir: a.dir, Output: s.output(a), Explain: !a.down && !a.released})
		}
	}
	due := s.opts.Now() >= s.nextPoll
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
	s.take(asked, jobs, s.explain(asked, jobs))
}

// unanswered takes in that a look failed: nobody knows how the jobs are, so none is given up.
func (s *site) unanswered(err error) {
	s.mu.Lock()
	defer s.unlock()
	now := s.opts.Now()
	if s.away == 0 {
		s.away = now
		s.opts.Log.Warn("jobs cannot be watched", "err", err)
	}
	s.poll.fail(now, s.opts.Poll, slowest*s.opts.Poll)
	s.nextPoll = s.poll.next
	for _, a := range s.allocs {
		s.note(a, s.words.Controller+" does not answer since "+clock(s.away)+": "+wordsOf(err), a.start)
	}
}

// take takes in how the jobs are. why tells, of those that ended, why they did.
func (s *site) take(asked []Job, jobs map[string]Status, why map[string]end) {
	s.mu.Lock()
	defer s.unlock()
	now := s.opts.Now()
	if s.away != 0 {
		s.opts.Log.Info("the controller answers again")
		s.away = 0
		s.submit.next = 0
	}
	s.poll.reset()
	for _, a := range slices.Clone(s.allocs) {
		if !slices.ContainsFunc(asked, func(j Job) bool { return j.ID == a.job }) {
			continue
		}
		now := jobs[a.job]
		if e, ended := why[a.job]; ended {
			s.drop(a, e.reason, e.refuse)
		}
		if now.Phase == Gone || now.Phase == Over {
			s.forget(a)
			continue
		}
		s.observe(a, now)
		a.looks = max(a.looks-1, 0)
	}
	s.lastPoll = now
	s.nextPoll = now.Add(s.interval(s.opts.Wall()))
}

// observe takes in how a live job is. The lock is held.
func (s *site) observe(a *alloc, now Status) {
	switch now.Phase {
	case Ending:
		a.next = 0
	case Starting:
		s.note(a, "its nodes are being started", now.Start)
	case Waiting:
		if now.Never {
			s.drop(a, s.words.System+" will not start its job: "+now.Why, true)
			a.released = true
			return
		}
		a.up, a.next = false, now.Start
		s.note(a, s.named(a)+" waits: "+now.Why, now.Start)
	case Running:
		s.running(a, now)
	default:
		s.note(a, s.named(a)+" is "+now.Why, 0)
	}
}

// named returns what users know an allocation's job by, "Slurm job 17".
func (s *site) named(a *alloc) string { return s.words.System + " job " + a.job }

// running takes in that a job runs, until when and where. The lock is held.
func (s *site) running(a *alloc, now Status) {
	a.next, a.note = now.End, ""
	if now.End == 0 {
		a.next = s.opts.Wall().Add(24 * time.Hour)
	}
	if a.released || a.down {
		return
	}
	if !a.up || a.ends != now.End {
		a.up, a.ends = true, now.End
		s.told.Put(step.AllocUp{Alloc: a.id, Ends: now.End})
	}
	if len(now.Hosts) == 0 || len(now.Hosts) >= a.req.Nodes {
		return
	}
	// A batch system takes nodes that fail out of a job that goes on without them.
	for rank := range a.req.Nodes {
		if host := Host(a.dir, rank); host != "" && !slices.Contains(now.Hosts, host) && !a.lost[rank] {
			if a.lost == nil {
				a.lost = map[int]bool{}
			}
			a.lost[rank] = true
			s.told.Put(step.NodeDown{Node: a.id.Node(rank), Gone: true, Reason: s.words.System + " took node " + host + " out of its job: it failed"})
		}
	}
}

// quickLooks is how many looks follow each other soon once a worker has gone. A batch system may take some
// seconds to say that a job has ended after its workers were told to end.
const quickLooks = 10

// look asks for the allocation's job soon: one whose workers have gone was probably cancelled, and
// otherwise that would be noticed at the next regular look only.
func (s *site) look(id job.AllocID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.find(id)
	if a == nil || a.job == "" || a.released || a.down {
		return
	}
	a.looks = quickLooks
	s.nextPoll = min(s.nextPoll, max(s.lastPoll.Add(s.soon()), s.opts.Now()))
	s.nudge()
}

// soon returns the time between two looks while something is known to change.
func (s *site) soon() time.Duration { return min(s.opts.Poll, soonAfter) }

// interval returns when to look again: soon while something is about to change, seldom
// while the next change that is expected is far away. The lock is held.
func (s *site) interval(now job.Time) time.Duration {
	wait := slowest * s.opts.Poll
	for _, a := range s.allocs {
		if a.looks > 0 {
			return s.soon()
		}
		left := time.Duration(0)
		if a.next > now && !a.released {
			left = a.next.Sub(now) / 20
		}
		wait = min(wait, max(left, s.opts.Poll))
	}
	return wait
}
