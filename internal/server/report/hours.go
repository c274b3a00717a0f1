package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// CoreHours says what became of the cores that a job, or several, held, in core-seconds. Held is the sum of the values after it.
type CoreHours struct {
	Requested  float64 `json:"requested"`  // cores × wall time of the allocations that began for the job and have a wall time
	Held       float64 `json:"held"`       // the sum of the following
	Used       float64 `json:"used"`       // of attempts that were done
	Running    float64 `json:"running"`    // of attempts that run, so far
	Failed     float64 `json:"failed"`     // of attempts that failed or were lost, or whose output was lost
	Duplicates float64 `json:"duplicates"` // of attempts that ended because another one had done their task
	Killed     float64 `json:"killed"`     // of other attempts that berth killed
	Idle       float64 `json:"idle"`       // the job's part of what allocations held and no attempt had
}

// parts returns what the sum of is Held, and behind it Requested.
func (c *CoreHours) parts() [7]*float64 {
	return [...]*float64{&c.Used, &c.Failed, &c.Duplicates, &c.Killed, &c.Idle, &c.Running, &c.Requested}
}

// Sums returns all but Held, of a job that is over.
func (c *CoreHours) Sums() (sums []float64) {
	for _, p := range c.parts() {
		sums = append(sums, *p)
	}
	return sums
}

func (c *CoreHours) add(o *CoreHours) {
	from := o.parts()
	for i, to := range c.parts() {
		*to = round(*to + *from[i])
	}
	c.Held = round(c.Held + o.Held)
}

// The parts that attempts that are over belong to, by their index in CoreHours.parts.
const (
	partUsed = iota
	partFailed
	partDuplicate
	partKilled
	partIdle
	partRunning
	partRequested
)

// part returns the part of an attempt that ended.
func (r *ending) part() uint8 {
	switch {
	case r.task.pos == posDone, r.Outcome == event.Killed && r.duplicate: // another one has done their task
		return partDuplicate
	case r.Outcome == event.Killed:
		return partKilled
	case r.Outcome.Committed():
		return partUsed
	default:
		return partFailed
	}
}

// busy is what attempts hold of an allocation, in core-seconds.
type busy struct {
	over  float64 // attempts that are over
	cores float64 // of those that run …
	begun float64 // … and the sum of each one's cores × the time at which it began
}

func (b *busy) add(o busy) {
	b.over, b.cores, b.begun = b.over+o.over, b.cores+o.cores, b.begun+o.begun
}

func (b *busy) at(clock float64) float64 { return b.over + b.cores*clock - b.begun }

// share is what a job has of an allocation. What its runs that are over had is closed, and entries until then change nothing: a journal may
// be replayed again.
type share struct {
	busy
	closed float64
	idle   float64 // of the last run that is over
	until  job.Time
}

// holding is how many core-seconds an allocation holds, and who has them. Its clock counts the seconds since the request, and stands still
// while the allocation is suspended.
//
// What no attempt holds belongs to the jobs that are not over, in proportion to what their attempts have held so far. A job that ends takes its
// part with it. So the time between two jobs belongs to the later one, and only the sums must be known of jobs that are over.
type holding struct {
	asked, paused job.Time // paused 0: it is not suspended
	stood         time.Duration
	cores         int // that it holds since …
	since         float64
	sum           float64 // … then; and core-seconds until then
	all           busy    // of the jobs that are not over
	closed        float64
	shares        map[job.ID]*share
}

// clock returns the time by the clock of an allocation.
func (a *alloc) clock(at job.Time) float64 {
	if a.ended != 0 {
		at = min(at, a.ended)
	}
	d := at.Sub(a.asked) - a.stood
	if a.paused != 0 {
		d -= max(0, at.Sub(a.paused))
	}
	return d.Seconds()
}

// hold changes the number of cores that the allocation holds.
func (a *alloc) hold(at job.Time, more int) {
	now := a.clock(at)
	a.sum, a.since, a.cores = a.held(now), now, a.cores+more
}

func (a *alloc) held(clock float64) float64 { return a.sum + float64(a.cores)*(clock-a.since) }

func (a *alloc) pause(at job.Time, paused bool) {
	switch {
	case paused && a.paused == 0:
		a.paused = at
	case !paused && a.paused != 0:
		a.stood, a.paused = a.stood+at.Sub(a.paused), 0
	}
}

// unclaimed returns what is neither that of jobs that are over nor held by attempts.
func (a *alloc) unclaimed(at job.Time) float64 {
	now := a.clock(at)
	return max(0, a.held(now)-a.closed-a.all.at(now))
}

func (a *alloc) share(of job.ID) *share {
	if a.shares[of] == nil {
		a.shares[of] = &share{}
	}
	return a.shares[of]
}

// idleOf returns a job's part of what no attempt holds. An allocation that no job has used is that of the job for which it was requested.
func (a *alloc) idleOf(of job.ID, at job.Time) float64 {
	now, s := a.clock(at), a.shares[of]
	all := a.all.at(now)
	switch {
	case s != nil && all > 0:
		return a.unclaimed(at) * s.at(now) / all
	case all <= 0 && a.job == of && (s == nil || s.until == 0):
		return a.unclaimed(at)
	default:
		return 0
	}
}

// finish notes that a job is over.
func (n *Nodes) finish(of job.ID, at job.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.allocs {
		if a.shares[of] == nil && a.job != of {
			continue
		}
		s, idle := a.share(of), a.idleOf(of, at)
		if at <= s.until {
			continue
		}
		has := s.at(a.clock(at)) + idle
		a.closed, s.closed, s.idle, s.until = a.closed+has, s.closed+has, idle, at
		a.all.add(busy{-s.over, -s.cores, -s.begun})
		s.busy = busy{}
	}
}

// applyUsed takes in what a job had that is over. The caller holds the lock.
func (a *alloc) applyUsed(r event.AllocUsed) {
	s := a.share(r.Job)
	a.closed += r.Held - s.closed
	s.closed, s.idle, s.until = r.Held, r.Idle, r.Until
}

// Used returns the records of what a job that is over has had of the allocations that are not.
func (n *Nodes) Used(of job.ID) (used []event.AllocUsed) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(n.allocs)) {
		if s := n.allocs[id].shares[of]; s != nil && n.allocs[id].ended == 0 {
			used = append(used, event.AllocUsed{Alloc: id, Job: of, Until: s.until, Held: s.closed, Idle: s.idle})
		}
	}
	return used
}

// clock returns the time by the clock of an attempt's allocation, or since the submission if that is not known.
func (j *Job) clock(of *attempt, at job.Time) float64 {
	n := j.info.Nodes
	n.mu.RLock()
	defer n.mu.RUnlock()
	if a := n.allocs[of.node.Alloc()]; a != nil {
		return a.clock(at)
	}
	return at.Sub(j.submitted).Seconds()
}

// occupy changes what attempts of the job hold of the allocation of a node.
func (j *Job) occupy(at job.Time, node job.NodeID, by busy) {
	n := j.info.Nodes
	if j.info.Reads {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if a := n.allocs[node.Alloc()]; a != nil {
		if s := a.share(j.info.ID); at > s.until {
			s.add(by)
			a.all.add(by)
		}
	}
}

// take notes that an attempt holds its cores from then on. What one that comes back held before it was lost stays; the time between is idle.
func (j *Job) take(at job.Time, a *attempt) {
	a.cores = float64(max(1, j.tasks.needsOf(a.id.Task).CPUs) * a.ranks())
	a.begun = j.clock(a, at)
	j.occupy(at, a.node, busy{cores: a.cores, begun: a.cores * a.begun})
}

// give notes that an attempt does not hold its cores any more, and to which part belongs what it held.
func (j *Job) give(at job.Time, a *attempt, stats []job.PhaseStat, part uint8) {
	seconds := j.clock(a, at) - a.begun
	if a.line && len(stats) > 0 && a.held == 0 {
		seconds = a.took(at, stats)
	}
	more := a.cores * max(0, seconds)
	j.occupy(at, a.node, busy{more, -a.cores, -a.cores * a.begun})
	a.held, a.part = a.held+more, part
	j.sums.cores[part] += a.held
}

// coreHours returns what became of the cores that the job held until now; nil if its allocations are not known.
func (j *Job) coreHours(now job.Time) *CoreHours {
	if j.ownNodes {
		return nil
	}
	var h CoreHours
	parts := h.parts()
	for i, sum := range j.sums.cores { // Idle and Requested of earlier runs
		*parts[i] = sum
	}
	for _, a := range j.allRunning() {
		h.Running += a.held + a.cores*max(0, j.clock(a, now)-a.begun)
	}
	j.ofAllocs(&h, now)
	for i, p := range parts {
		if *p = round(max(0, *p)); i != partRequested {
			h.Held += *p
		}
	}
	h.Held = round(h.Held)
	return &h
}

// ofAllocs adds what the job has of its allocations in its present run.
func (j *Job) ofAllocs(h *CoreHours, now job.Time) {
	n := j.info.Nodes
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(n.allocs)) { // in a fixed order, as sums of floats depend on it
		a := n.allocs[id]
		if s := a.shares[j.info.ID]; s != nil && s.until > j.runBegan {
			h.Idle += s.idle
		}
		if !j.state.Final() {
			h.Idle += a.idleOf(j.info.ID, now)
		}
		if a.job == j.info.ID && a.asked >= j.runBegan && !a.Began.IsZero() {
			h.Requested += float64(a.request.Nodes*a.request.PerNode.CPUs) * a.request.Time.Seconds()
		}
	}
}

// partition names the partitions in which the job has run, or may run; without a batch system its backend.
func (j *Job) partition(allocs []AllocView) string {
	names := map[string]bool{}
	for _, a := range allocs {
		if !a.Began.IsZero() && a.Partition != "" {
			names[a.Partition] = true
		}
	}
	batch := j.work.Alloc.Batch
	return cmp.Or(strings.Join(slices.Sorted(maps.Keys(names)), ","), batch.Among, batch.Partition, j.work.Alloc.On)
}

// Account sums up the core-hours of jobs that have ended since a time, and of those that are not over.
type Account struct {
	Since  time.Time      `json:"since"`
	By     string         `json:"by"`     // `application`, `partition` or `account`
	Jobs   int            `json:"jobs"`   // jobs that count
	Cores  CoreHours      `json:"core_s"` // the sums
	Groups []accountGroup `json:"groups"` // those with one application, partition or account, which has held most first
	Unread []unread       `json:"unread"` // jobs whose core-hours are not known
}

// accountGroup has the sums of jobs with one application, partition or account.
type accountGroup struct {
	Name  string    `json:"name"` // empty: the default
	Jobs  int       `json:"jobs"`
	Cores CoreHours `json:"core_s"`
}

// unread is a job whose core-hours are not known.
type unread struct {
	ID  job.ID `json:"id"`
	Why string `json:"why"`
}

// NewAccount sums up the core-hours of jobs by application, partition or account; ok is false if by is none of these.
func NewAccount(views []JobView, since time.Time, by string) (a Account, ok bool) {
	name, ok := map[string]func(*JobView) string{
		"application": func(v *JobView) string { return v.Application },
		"partition":   func(v *JobView) string { return v.Partition },
		"account":     func(v *JobView) string { return v.Account },
	}[by]
	if !ok {
		return a, false
	}
	a = Account{Since: since.UTC(), By: by, Groups: []accountGroup{}, Unread: []unread{}}
	at := map[string]int{}
	for i := range views {
		v := &views[i]
		if v.CoreHours == nil {
			a.Unread = append(a.Unread, unread{v.ID, unreadWhy(v)})
			continue
		}
		of := name(v)
		if _, known := at[of]; !known {
			at[of] = len(a.Groups)
			a.Groups = append(a.Groups, accountGroup{Name: of})
		}
		g := &a.Groups[at[of]]
		g.Jobs, a.Jobs = g.Jobs+1, a.Jobs+1
		g.Cores.add(v.CoreHours)
		a.Cores.add(v.CoreHours)
	}
	slices.SortFunc(a.Groups, func(x, y accountGroup) int {
		return cmp.Or(cmp.Compare(y.Cores.Held, x.Cores.Held), cmp.Compare(x.Name, y.Name))
	})
	return a, true
}

// unreadWhy says why the core-hours of a job are not known.
func unreadWhy(v *JobView) string {
	switch {
	case v.State == StateDamaged:
		return v.Reason
	case v.State.Final():
		return "an earlier version of berth wrote the summary, or it is damaged"
	default:
		return "not over, and no coordinator looks after it"
	}
}
