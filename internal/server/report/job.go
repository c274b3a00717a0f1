package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
)

// Info contains what a view shows besides the job's records.
type Info struct {
	ID    job.ID
	Name  string
	Kind  job.Kind
	Tasks int // number of tasks, shown until a record has it

	Application string // predict.Application

	Planned
	Output string // where the output is or will be; empty: not known
	Logs   string // folder of the tasks' logs; empty: not known

	// TaskName returns the name of a task. If it is nil, tasks of bags are numbered from 1, and others have
	// the names of job.TaskName.
	TaskName func(task int) string
	// TaskInput returns what a task works on: its entry or its part of the input. It may be nil, and may return "".
	TaskInput func(task int) string
	// Stderr returns the file with a task's standard error, or a command that prints it where tasks have no files of their own. It may be nil.
	Stderr func(task int) (file, command string)
	// Nodes is a fold that many jobs share and that the caller applies node records to;
	// nil: the job keeps its own.
	Nodes *Nodes
	// OnAttempt, if not nil, is called for each attempt that is over, in the order of the records.
	OnAttempt func(AttemptRow)
	// OnOver, if not nil, is called for each attempt that is over, without what AttemptRow costs.
	OnOver func(job.Attempt)
	// OnTask, if not nil, is called for each task that is over.
	OnTask func(End)
	// Reads says that another fold of this job tells Nodes of its attempts.
	Reads bool
	// Usage, if not nil, gets the phases of each attempt that is over.
	Usage *Usage
	// Spans, if not nil, gets the attempts.
	Spans *Spans
	// Tries, if not nil, gets the attempts that are over.
	Tries *Tries
}

// Planned is what a view shows of the plan of a job's present run.
type Planned struct {
	Decision  string            // the plan's one line: what was decided and why
	Predicted *Prediction       // nil: nothing was predicted
	Expected  *plan.Expectation // of the queue; nil: there was none
	Start     *plan.Start       // by the history of the queue; nil: it did not predict it
	Power     []job.NodePower   // power of the nodes, as the user described it
	Notes     []string          // notes for the user, for instance about a missing profile
}

// End is the end of a task.
type End struct {
	Task    int
	Attempt int  // number of its last attempt
	Done    bool // false: the task has failed and is not tried again
	Over    bool // false in what is kept of a task that has not ended: Attempt is then the last one that has
}

// Job is the fold of one job's records. It is not safe for concurrent use.
type Job struct {
	info     Info
	work     job.Work
	ownNodes bool

	state     event.State
	reason    string
	code      job.Code
	submitted job.Time
	started   job.Time // first attempt of all
	ended     job.Time // last end, while state is final
	lastAt    job.Time // of the last record
	seq       uint64   // of the last record

	// A run is the time from submission or a resume to the next end.
	runBegan   job.Time
	runStarted job.Time // first attempt of the run; 0: none yet
	before     int64    // ns that earlier runs took

	tasks  tasks
	sent   map[job.Attempt]*attempt // they run, or are behind others that do
	lost   map[job.Attempt]*attempt // they count as lost, as their workers did not answer; they or their results may come back while their tasks wait
	use    map[job.NodeID]*nodeUse
	sums   sums
	held   map[int]held
	failed recent[Failure]
	left   recent[string]   // what was left of tasks and ended
	warned recent[string]   // what its user should know of tasks
	leftBy map[uint64]int32 // by hash of a file's name: the task that left it last
	slow   slowest
	times  predict.Times
	plans  recent[PlanView]

	memory  MemoryUse
	lacking lacking
	mem     map[int32]int64 // by task that ran out of memory: what it has next
	memOf   map[int]int64   // by index of needs that were changed: what their tasks have next

	cancelled map[int32]bool // tasks that are not wanted: those that run, and those that were over by that

	beside  int      // attempts with files that were not put into place
	after   []job.ID // see JobView.After
	lastEnd job.Time // when the last attempt ended
}

// New returns the fold of no records.
func New(info Info) *Job {
	j := &Job{
		info: info, state: event.StateQueued,
		sent: map[job.Attempt]*attempt{}, lost: map[job.Attempt]*attempt{}, use: map[job.NodeID]*nodeUse{}, held: map[int]held{},
		leftBy: map[uint64]int32{}, mem: map[int32]int64{}, memOf: map[int]int64{}, cancelled: map[int32]bool{},
	}
	if info.Nodes == nil {
		j.info.Nodes, j.ownNodes = NewNodes(), true
	}
	j.sums.counters = map[string]int64{}
	return j
}

// SetPlan replaces the decision and the prediction, because a resumed job is planned again.
func (j *Job) SetPlan(p Planned) { j.info.Planned = p }

// AddNote adds a note for the user.
func (j *Job) AddNote(text string) { j.info.Notes = append(slices.Clone(j.info.Notes), text) }

// SetUnlogged notes why the job log is not complete, in the place of what was noted before, and whether that is an error.
func (v *JobView) SetUnlogged(why string, failed bool) {
	v.Notes = slices.DeleteFunc(v.Notes, func(n string) bool { return n == v.unlogged })
	if v.unlogged, v.Joblog = why, ""; failed {
		v.Joblog = why
	}
	if why != "" {
		v.Notes = append(v.Notes, why)
	}
}

// noteBeside notes which files of an attempt were not put into place.
func (j *Job) noteBeside(r event.AttemptEnded) {
	switch {
	case len(r.Beside) == 0:
	case j.beside < maxBeside:
		j.AddNote(fmt.Sprintf("task %s: another job claimed the path of its output later; what it wrote is in %s", j.TaskName(r.Attempt.Task), strings.Join(r.Beside, ", ")))
	case j.beside == maxBeside:
		j.AddNote("likewise of further tasks: the files are beside their places, as hidden ones whose names end in .part")
	}
	j.beside += min(1, len(r.Beside))
}

// maxBeside is the number of tasks that notes name whose files were not put into place.
const maxBeside = 5

// Apply applies the next entry. Entries of other jobs change nothing. Records of nodes are applied if the job has
// a fold of nodes of its own.
func (j *Job) Apply(e event.Entry) {
	of := e.Record.Of()
	if of == "" && j.ownNodes {
		j.info.Nodes.Apply(e)
	}
	if of != j.info.ID {
		return
	}
	j.lastAt, j.seq = e.At, e.Seq
	switch r := e.Record.(type) {
	case event.JobSubmitted:
		j.submit(e.At, r.Work)
	case event.JobResumed:
		j.resume(e.At, r)
	case event.TermsChanged:
		j.work.Terms = r.Terms
	case event.JobStopping:
		j.state, j.reason, j.code = event.StateStopping, r.Reason, r.Code
	case event.JobFinalizing:
		j.state = event.StateFinalizing
	case event.JobEnded:
		j.end(e.At, r)
	case event.JobFollowed:
		j.after = slices.DeleteFunc(j.after, func(id job.ID) bool { return id == r.After })
	case event.JobPlanned:
		j.plans.add(PlanView{At: e.At.Std(), Decision: r.Decision, Scout: r.Scout,
			LowSeconds: round(r.Low.Seconds()), UpSeconds: round(r.Up.Seconds()), MeanSeconds: round(r.Mean.Seconds())})
	case event.AttemptStarted:
		j.startAttempt(e.At, r)
	case event.PhaseEntered:
		j.enterPhase(e.At, r)
	case event.AttemptEnded:
		j.endAttempt(e, r)
	case event.OutputLost:
		j.loseOutput(r)
	case event.TasksAdded:
		j.work.Tasks += r.N
		j.work.Further = slices.Concat(j.work.Further, r.Further)
		j.tasks.add(r.N, r.Which)
	case event.NeedsChanged:
		j.changeNeeds(r)
	case event.BagClosed:
		j.work.Open = false
	case event.TasksSkipped:
		j.skip(r)
	case event.TasksCancelled:
		j.cancelTasks(r)
	}
}

func (j *Job) submit(at job.Time, w job.Work) {
	j.work, j.submitted, j.runBegan = w, at, at
	j.info.Name, j.info.Kind = w.Name, w.Kind
	j.state, j.after = event.StateQueued, slices.Clone(w.After)
	j.plans = recent[PlanView]{total: 1} // the one that the job begins with
	j.tasks = newTasks(&j.work)
}

func (j *Job) resume(at job.Time, r event.JobResumed) {
	r.Change(&j.work)
	j.state, j.reason, j.code = event.StateQueued, "", job.CodeFailed
	j.runBegan, j.runStarted, j.ended = at, 0, 0
	copy(j.sums.cores[:], r.Held)
	if r.Failed {
		j.sums.skipped, j.lacking = 0, lacking{}
		clear(j.cancelled)
	}
	j.tasks.renew(r.Failed || j.work.Kind == job.MapReduce)
	for i := range j.tasks.groups {
		for k := range j.tasks.groups[i].phases {
			j.tasks.groups[i].phases[k].run = run{} // rates are those of the present run
		}
	}
}

func (j *Job) end(at job.Time, r event.JobEnded) {
	if !j.state.Final() {
		j.before += int64(at.Sub(j.runBegan))
	}
	j.dropLive(at)
	if !j.info.Reads {
		j.info.Nodes.finish(j.info.ID, at)
	}
	j.state, j.ended = r.State, at
	if r.Reason != "" {
		j.reason = r.Reason
	}
	if r.State == event.StateDone {
		j.reason = ""
	}
	if r.Code != job.CodeFailed {
		j.code = r.Code
	}
}

// State returns the state of the job.
func (j *Job) State() event.State { return j.state }

// Last returns the time of the last record.
func (j *Job) Last() job.Time { return j.lastAt }

// known reports whether the record that the job begins with was seen.
func (j *Job) known() bool { return j.tasks.work != nil }

// taskInput returns what the task works on, empty where that is not known.
func (j *Job) taskInput(task int) string {
	if j.info.TaskInput == nil {
		return ""
	}
	return j.info.TaskInput(task)
}

// TaskName returns what people call the task.
func (j *Job) TaskName(task int) string {
	switch {
	case j.info.TaskName != nil:
		return j.info.TaskName(task)
	case j.work.Kind == job.MapReduce:
		return j.work.NameOf(task)
	default:
		return strconv.Itoa(task + 1)
	}
}
