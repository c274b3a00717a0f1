package engine

import (
	"cmp"
	"slices"
	"time"

	"berth/internal/event"
	"berth/internal/job"
	"berth/internal/sched"
	"berth/internal/sched/straggler"
)

// taskStatus is where a task stands.
type taskStatus uint8

const (
	ready   taskStatus = iota // waits to be started, for the first time or again
	running                   // has live attempts
	done
	failed // for good, as far as this run of the job goes
)

// task is what the engine keeps for each task. There can be a million of them, so it
// is small and holds no pointer; the zero value is a task that never started.
type task struct {
	attempt int32 // number of its last attempt
	holder  int32 // index of the node that holds the map's output; 0: unknown
	live    int32 // where in jobState.live the first of its live attempts is; 0: it has none
	fails   uint16
	lost    uint8 // attempts that got lost or were killed
	bad     uint8 // outputs that turned out bad
	later   uint8 // of a task that is done: attempts that began after the one that did it
	status  taskStatus
	cut     bool // it was cut short by the end of an allocation, after more than the expected time
}

// counts says how many of a job's tasks of one kind stand where; the rest is ready.
type counts struct{ total, running, done, failed int }

func (c *counts) of(s taskStatus) *int {
	switch s {
	case running:
		return &c.running
	case done:
		return &c.done
	case failed:
		return &c.failed
	}
	return nil
}

// jobState is a job.
type jobState struct {
	sched.Job
	work   job.Work
	state  event.State
	ending event.State // while stopping: what it ends as
	code   job.Code
	reason string

	submitted, started, ended job.Time

	pool   *pool    // where it runs; nil when it is over, and while it waits for others to be done
	after  []job.ID // those others
	tasks  []task
	live   []*attempt // by task.live: the first of the live attempts of a task, see attempt.duplicate; nil where vacant, and at 0
	vacant []int32    // places in live
	counts [2]counts

	fails     int    // tasks that failed since the job was submitted or resumed
	lastFail  string // the last of them and why, for people
	broken    string // why a machine failed it for good
	unclaimed int    // map outputs whose holder is unknown

	touched  sched.NodeSet       // nodes that have had an attempt
	lostRuns map[int32][]lostRun // by task that is not done: its attempts that were given up as lost

	asked        int               // allocations asked for it since it was submitted or resumed; 1 for one that shares
	dones        uint64            // attempts done, ever
	unproductive unproductive      // the last of its allocations, where they came to nothing
	misses       int               // allocations in a row that had not begun by their Latest
	waits        waits             // what its ready tasks wait for
	spent        [2]time.Duration  // core time of attempts begun because others were too slow that were for nothing, and of those aborted
	past         [2]straggler.Past // attempts that were done; their curves are not part of the state

	// Not part of the state that records make.

	told  sched.NodeSet // nodes that know where the map outputs are and are kept up to date
	plan  planning
	dirty bool   // in Engine.dirtyJobs
	round uint64 // in which it was last seen to have an allocation of its own
}

// class returns 0 for bag tasks and maps, 1 for reduces.
func (j *jobState) class(i int) int {
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

// needsOutputs reports whether map outputs are still of use to the job: a reduce is not done.
func (j *jobState) needsOutputs() bool { return j.shuffles() && j.counts[1].done < j.counts[1].total }

// unfinished returns the number of tasks that are neither done nor failed for good.
// When all reduces are done, maps whose outputs got lost are not missed.
func (j *jobState) unfinished() int {
	if j.shuffles() && !j.needsOutputs() {
		return 0
	}
	maps, reduces := &j.counts[0], &j.counts[1]
	return maps.total - maps.done - maps.failed + reduces.total - reduces.done - reduces.failed
}

// attempts returns how many attempts of the task may fail.
func (j *jobState) attempts(i int) int {
	if j.class(i) == 1 {
		return j.work.ReduceAttempts
	}
	return j.work.Attempts
}

// move takes the task from its status to another.
func (j *jobState) move(i int, to taskStatus) {
	t, c := &j.tasks[i], &j.counts[j.class(i)]
	if n := c.of(t.status); n != nil {
		*n--
	}
	if n := c.of(to); n != nil {
		*n++
	}
	if to != running {
		j.Urgent[j.class(i)].Ready.Drop(int32(i)) // no duplicate begins of what does not run
	}
	if t.status = to; to == done {
		delete(j.lostRuns, int32(i)) // what is told of its other attempts changes nothing
	}
}

// winner returns the number of the attempt that did a task which is done.
func (t *task) winner() int { return int(t.attempt) - int(t.later) }

// first returns the first of the live attempts of the task, nil if there is none. The others follow as its duplicates, in the order
// in which they began.
func (j *jobState) first(task int) *attempt { return j.live[j.tasks[task].live] }

// find returns the live attempt of that name, nil if there is none.
func (j *jobState) find(id job.Attempt) *attempt {
	if j == nil || id.Task < 0 || id.Task >= len(j.tasks) {
		return nil
	}
	a := j.first(id.Task)
	for a != nil && a.ID.N != id.N {
		a = a.duplicate
	}
	return a
}

// sorted returns the live attempts by task and number.
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

// attempt is a live attempt: one that occupies its node.
type attempt struct {
	sched.Running
	job       *jobState
	node      *node
	alloc     *alloc   // of the node; nil where it is not known
	working   job.Time // since when it has a core, until then when it began: what it does from then on counts for its time
	duplicate *attempt // the next live attempt of its task
	phase     job.Phase
	late      bool // it was begun as another attempt of its task was too slow
	commit    bool // may put its output into place
	asked     bool // … because it asked: it is told again when its worker is back

	// Not part of the state that records make: whoever wants something asks again
	// after a break. Nor is KillReason, which is computed again.
	held bool             // it asked to commit while another attempt of its task may
	slow bool             // it is being killed because it is too slow
	next *sched.Candidate // to go on to the phases that it asked for; nil: it did not ask
	watched
}

func byTask(a, b *attempt) int {
	if a.job != b.job {
		return cmp.Compare(a.Job.Order, b.Job.Order)
	}
	return cmp.Or(a.ID.Task-b.ID.Task, a.ID.N-b.ID.N)
}

// nodeState is what is known of a node's worker.
type nodeState uint8

const (
	up   nodeState = iota
	down           // does not answer, may come back
	gone           // given up; a worker that comes back nevertheless finds a new start
)

func (s nodeState) String() string { return [...]string{"up", "down", "gone"}[s] }

// node is a node of an allocation.
type node struct {
	sched.Node
	id     job.NodeID
	alloc  *alloc // nil for one that is known from attempts only
	state  nodeState
	since  job.Time // when it came into its state
	reason string   // why it is not up
	addr   string
	// outputs is the folder of its map outputs that is read in place and stays when the
	// node goes; empty: there is none, or none any more.
	outputs string
	joined  bool // has ever been up
	unseen  bool // a coordinator was started since it was last up: when it went down is not known
}

// on returns the live attempts of a node in the order of jobs and tasks.
func (e *Engine) on(n *node) []*attempt {
	as := make([]*attempt, len(n.Running))
	for i, r := range n.Running {
		as[i] = e.find(r.ID)
	}
	slices.SortFunc(as, byTask)
	return as
}

// alloc is an allocation that was asked for and is not over.
type alloc struct {
	sched.Alloc
	id        job.AllocID
	req       job.AllocRequest
	pool      *pool
	requested job.Time
	first     job.Time // when its first node joined
	joined    int      // nodes that have ever been up
	ended     bool

	job      job.ID        // whom it was asked for; empty: all jobs of its pool
	begun    bool          // the batch system has started it …
	began    job.Time      // … then
	measured bool          // its start-up is
	largest  job.Resources // the most that any of its nodes has had, of each resource
	live     int           // attempts on its nodes
	used     job.Time      // when the last of them ended
	mark     uint64        // attempts of its job that were done before it was up
	endedAt  job.Time
	keeps    []*node // once it has ended: those whose map outputs are kept

	// Not part of the state that records make, as is Retired.

	note     string   // what it waits for
	start    job.Time // when it is expected to begin; 0: unknown
	clearing bool     // its Clear is on the way
	clearAt  job.Time // once it has ended: when it is to be cleared by time alone; 0: not
}
