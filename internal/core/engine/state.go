package engine

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
)

// taskStatus is the state of a task.
type taskStatus uint8

const (
	ready   taskStatus = iota // waits to start, for the first time or again
	running                   // has running attempts
	done
	failed  // for good, in this run of the job
	blocked // waits until other tasks of its bag are done
)

// task is the state of one task. There can be ten million of them, so it
// is small and holds no pointer; the zero value is a task that never started.
type task struct {
	attempt int32 // number of its last attempt
	live    int32 // index in jobState.live of the first of its running attempts; 0: it has none
	fails   uint16
	lost    uint8 // attempts that were lost or killed
	bad     uint8 // outputs that turned out damaged or unreachable
	quick   uint8 // attempts in a row that asked for another one without working
	later   uint8 // of a task that is done: attempts that started after the one that did it
	status  taskStatus
	cut     bool // it was cut short by the end of an allocation, after more than the expected time
}

// counts is the number of tasks of a job by state, of one kind or of equal needs; the others are ready.
type counts struct{ total, running, done, failed, blocked int }

func (c *counts) countOf(s taskStatus) *int {
	switch s {
	case running:
		return &c.running
	case done:
		return &c.done
	case failed:
		return &c.failed
	case blocked:
		return &c.blocked
	}
	return nil
}

// left returns the number of tasks that are neither done nor failed.
func (c *counts) left() int { return c.total - c.done - c.failed }

// move counts that a task has changed its state.
func (c *counts) move(from, to taskStatus) {
	if n := c.countOf(from); n != nil {
		*n--
	}
	if n := c.countOf(to); n != nil {
		*n++
	}
}

// byNeeds is the state of the tasks of a job with equal needs.
type byNeeds struct {
	sched.Tasks
	counts
	needs    job.Needs      // of each, which change if they may grow
	raised   bool           // the tasks came to them when they ran out of less …
	base     int            // … of those with this index in jobState.of
	least    [2]int64       // the least memory in bytes, and the least time in ns, with which one of them was done; 0: none was
	attempts int            // of each task that may fail
	waits    bool           // some of them are ready, and the job may start tasks
	span     time.Duration  // time that the next of them needs; 0 if no allocation ends
	spent    time.Duration  // core time of duplicates in vain, and of aborted attempts
	past     straggler.Past // attempts that were done; their curves are not part of the state
}

// waiting returns the number of ready tasks.
func (t *byNeeds) waiting() int { return t.Begin.Ready.Count() + t.Urgent.Ready.WithoutAttempt() }

// jobState is the state of a job.
type jobState struct {
	sched.Job
	work   job.Work
	state  event.State
	ending event.State // while stopping: the state in which it will end
	code   job.Code
	reason string

	submitted, started job.Time

	pool   *pool    // the pool it runs in; nil when it is over, and while it waits for other jobs
	after  []job.ID // those other jobs
	tasks  []task
	holder []int32         // by map of a job with reduces: the index of the node that holds its output; 0: unknown
	live   []*attempt      // by task.live: the first running attempt of a task, see attempt.duplicate; nil if vacant, and at 0
	vacant []int32         // free indices of live
	of     []*byNeeds      // the tasks by their needs, as Job.By: maps and reduces, or for a bag one for each of the needs that its tasks have or had
	place  []uint16        // by index of job.Work.NeedsAt: the index in of
	which  job.NeedsByTask // by task: the index in of
	counts [2]counts       // by kind (sched.KindIndex)
	singly int             // until so many of its tasks are done, none is sent behind another
	growth growth          // of a bag whose tasks may get more memory or time

	thisRun
	supply

	claims []claim             // of the files of its tasks, oldest first; nil: no other job can write them
	taken  map[uint64]job.Time // by file that another job has put into place: when that one claimed it

	order     order                   // of the tasks of a bag
	cancelled map[int32]bool          // tasks that are not wanted: those that run, and those that were over by that
	unbegun   map[int32]int           // by task that is not done: its attempts that were given back before they began
	kept      map[int32]time.Duration // by task that is not done: how long its attempts worked that asked for another one
	reserve   time.Duration           // the longest time before the end of an allocation at which such an attempt ended

	touched  sched.IndexSet      // nodes that have had an attempt
	lostRuns map[int32][]lostRun // by task that is not done: its attempts that were given up as lost

	dones    uint64 // attempts ever done, or that asked for another one after some work
	behind   bool   // its deadline, see hurry
	closed   bool   // it was an open bag
	measured bool   // its scout is done: enough tasks are to plan the rest again

	// The following fields are not part of the state of the records.

	informed sched.IndexSet // nodes that know all available map outputs and learn of new ones
	knew     known
	dirty    bool     // in Engine.dirtyJobs
	round    uint64   // the last round in which it had an allocation of its own …
	ownSince job.Time // … and since when, see Engine.ownSince
}

// thisRun is what happened to a job since it was submitted or resumed.
type thisRun struct {
	ended     job.Time
	begun     bool              // an allocation has begun for it, or an attempt
	fails     int               // tasks that failed
	lastFail  string            // the last of them and the reason, for people
	lastLost  string            // the last attempt that was lost, and the reason, for people
	broken    string            // the reason why a machine failed it for good
	unclaimed int               // map outputs whose holder is unknown
	failedOn  map[int32][]int32 // by task that is neither done nor failed: the nodes on which it has failed
}

// supply is what became of the allocations of a job since it came into the line.
type supply struct {
	asked        int          // allocations requested for it; 1 for a job that shares
	unproductive unproductive // the last of its allocations, if they were unproductive
	bad          []string     // nodes on which workers could not start, those that were found last
	losses       losses       // the allocations that it lost since it was planned
	misses       int          // allocations in a row that had not begun by their Latest
	reset        bool         // options on which its requests depend have changed since it was planned
	plan         planning     // not part of the state of the records
}

// kindIndex returns the kind of a task as an index (sched.KindIndex): 0 for bag tasks and maps, 1 for reduces.
func (j *jobState) kindIndex(i int) int {
	if i < j.work.Tasks {
		return 0
	}
	return 1
}

// active reports whether tasks of the job may be started.
func (j *jobState) active() bool {
	return j.state == event.StateQueued || j.state == event.StateRunning
}

// shuffles reports whether the job's map outputs are held for reduces.
func (j *jobState) shuffles() bool { return j.work.Kind == job.MapReduce && j.work.Reduces > 0 }

// needsOutputs reports whether some reduce of the job is not done.
func (j *jobState) needsOutputs() bool { return j.shuffles() && j.counts[1].done < j.counts[1].total }

// unfinished returns the number of tasks that are neither done nor failed for good.
// When all reduces are done, maps whose outputs were lost do not count.
func (j *jobState) unfinished() int {
	if j.shuffles() && !j.needsOutputs() {
		return 0
	}
	return j.counts[0].left() + j.counts[1].left()
}

// needsIndex returns the index in of of the needs of a task.
func (j *jobState) needsIndex(i int) int {
	if j.work.Kind == job.Bag {
		return j.which.At(i)
	}
	return j.kindIndex(i)
}

// tasksAlike returns the tasks with the needs of a task.
func (j *jobState) tasksAlike(i int) *byNeeds { return j.of[j.needsIndex(i)] }

// moveTask changes the status of a task.
func (j *jobState) moveTask(i int, to taskStatus) {
	t, like := &j.tasks[i], j.tasksAlike(i)
	j.counts[j.kindIndex(i)].move(t.status, to)
	like.counts.move(t.status, to)
	if to != running {
		like.Urgent.Ready.Drop(int32(i)) // no duplicate starts of a task that does not run
	}
	if t.status = to; to == done {
		delete(j.kept, int32(i))
		delete(j.unbegun, int32(i))
		delete(j.failedOn, int32(i))
		j.unblock(int32(i))
		delete(j.lostRuns, int32(i)) // messages about its other attempts change nothing
	}
}

// winner returns the number of the attempt that did a task that is done.
func (t *task) winner() int { return int(t.attempt) - int(t.later) }

// firstAttempt returns the first of the running attempts of the task, nil if there is none. The others follow as its
// duplicates, in the order in which they started.
func (j *jobState) firstAttempt(task int) *attempt { return j.live[j.tasks[task].live] }

// runningAttempt returns the running attempt with that id, nil if there is none.
func (j *jobState) runningAttempt(id job.Attempt) *attempt {
	if j == nil || id.Task < 0 || id.Task >= len(j.tasks) {
		return nil
	}
	a := j.firstAttempt(id.Task)
	for a != nil && a.ID.N != id.N {
		a = a.duplicate
	}
	return a
}

// sorted returns the running attempts by task and number.
func (j *jobState) sorted() []*attempt {
	all := make([]*attempt, 0, j.Live)
	for _, a := range j.live {
		for ; a != nil; a = a.duplicate {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, byTask)
	return all
}

// attempt is a running attempt: one that occupies its node.
type attempt struct {
	sched.Running
	job       *jobState
	node      *node
	alloc     *alloc   // allocation of the node; nil if unknown
	duplicate *attempt // the next running attempt of its task
	behind    *attempt // the attempt after whose end it begins; nil: it has begun
	follower  *attempt // the attempt that is behind it; nil: none
	shares    []*share // of a gang: its parts on the other nodes
	phase     job.Phase
	late      bool     // it was started because another attempt of its task was too slow
	commit    bool     // it may commit its output
	uses      job.Uses // what it uses of what all pools share
	had       [2]int64 // memory in bytes and time limit in ns that it may use; 0: not limited
	asked     bool     // … because it asked: the grant is repeated when its worker is back

	// The following fields are not part of the state of the records: attempts ask again
	// after an interruption. Neither is KillReason, which is computed again.
	held   bool             // it asked to commit while another attempt of its task has the grant, or an older claim its files
	asks   bool             // it asks before it puts files into place
	puts   bool             // it was told to ask, and may be putting files into place …
	file   []uint64         // … these, for which it asked
	slow   bool             // it is being killed because it is too slow
	lostOn job.NodeID       // of a gang of which a node other than its first one was lost: that node; if it is being killed because of that …
	lack   string           // … the reason …
	cut    bool             // … and whether the worker of that node was told to end
	over   *overdue         // of a gang that has ended on its first node, but maybe not on others; else nil
	next   *sched.Candidate // candidate for the phases that it asked for; nil: it did not ask
	watched
}

func byTask(a, b *attempt) int {
	if a.job != b.job {
		return cmp.Compare(a.Job.Order, b.Job.Order)
	}
	return cmp.Or(a.ID.Task-b.ID.Task, a.ID.N-b.ID.N)
}

// nodeState is the state of a node's worker.
type nodeState uint8

const (
	up   nodeState = iota
	down           // does not answer, may come back
	gone           // given up; if the worker comes back, it starts afresh
)

func (s nodeState) String() string { return [...]string{"up", "down", "gone"}[s] }

// node is a node of an allocation.
type node struct {
	sched.Node
	id     job.NodeID
	alloc  *alloc // nil if it is known from attempts only
	state  nodeState
	since  job.Time // when it entered its state
	reason string   // why it is not up
	addr   string
	// outputs is the folder of its map outputs that is read in place and stays when the
	// node goes; empty: there is none, or none any more.
	outputs string
	joined  bool // has ever been up
	unseen  bool // a coordinator was started since it was last up, so it is unknown when it went down
}

// attemptsOn returns the running attempts of a node in the order of jobs and tasks.
func (e *Engine) attemptsOn(n *node) []*attempt {
	as := make([]*attempt, len(n.Running))
	for i, r := range n.Running {
		as[i] = e.runningAttempt(r.ID)
	}
	slices.SortFunc(as, byTask)
	return as
}

// alloc is an allocation that was requested and is not over.
type alloc struct {
	sched.Alloc
	id        job.AllocID
	req       job.AllocRequest
	pool      *pool
	requested job.Time
	first     job.Time // when its first node joined
	joined    int      // number of nodes that have ever been up
	ended     bool

	job      job.ID          // the job for which it was requested; empty: all jobs of its pool
	begun    bool            // the batch system has started it …
	began    job.Time        // … since then
	measured bool            // its start-up was measured
	sizes    []job.Resources // what its nodes have, without those that have no more of anything than another
	live     int             // number of attempts on its nodes
	used     job.Time        // when the last of them ended
	mark     uint64          // attempts of its job that were done before it was up
	endedAt  job.Time
	keeps    []*node // after its end: nodes whose map outputs are kept

	// The following fields, and Retired, are not part of the state of the records.

	note     string   // what it waits for
	start    job.Time // its expected start; 0: unknown
	paused   bool     // the batch system has stopped its processes …
	resumed  job.Time // … until then; 0: never
	clearing bool     // its Clear was emitted
	clearAt  job.Time // after its end: when it is cleared by a timeout; 0: never
}
