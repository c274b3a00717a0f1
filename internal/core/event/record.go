package event

import (
	"time"

	"berth/internal/core/job"
)

// Record is a fact that changes the state of the engine.
type Record interface {
	// Of returns the job that the record belongs to, empty for nodes and allocations.
	Of() job.ID
}

// records are the types of records, by the numbers of their kinds in the journal. A number
// is never used for another kind.
var records = map[byte]Record{
	1:  JobSubmitted{},
	2:  JobResumed{},
	3:  JobStopping{},
	4:  JobFinalizing{},
	5:  JobEnded{},
	6:  AttemptStarted{},
	7:  PhaseEntered{},
	8:  PhaseGranted{},
	9:  CommitGranted{},
	10: AttemptEnded{},
	11: OutputLost{},
	12: NodeJoined{},
	13: NodeLost{},
	14: AllocRequested{},
	15: AllocEnded{},
	16: OutputHeld{},
	17: AllocBegan{},
	18: JobPlanned{},
	19: AllocCleared{},
	20: JobFollowed{},
	21: TasksAdded{},
	22: BagClosed{},
	23: TasksSkipped{},
	24: NeedsChanged{},
	25: TasksCancelled{},
	26: FilesTaken{},
	27: AllocPaused{},
	28: AllocUsed{},
	29: TermsChanged{},
}

// State is the state of a job.
type State string

// The states of a job. Done, Failed and Cancelled are final until a resume.
const (
	StateQueued     State = "queued"     // none of its tasks has started
	StateRunning    State = "running"    // tasks run or could run
	StateStopping   State = "stopping"   // its attempts are being killed
	StateFinalizing State = "finalizing" // all tasks are done, the output as a whole is being committed
	StateDone       State = "done"
	StateFailed     State = "failed"
	StateCancelled  State = "cancelled"
)

// Final reports whether the job is over.
func (s State) Final() bool { return s == StateDone || s == StateFailed || s == StateCancelled }

// JobSubmitted records that the job was accepted.
type JobSubmitted struct {
	Work job.Work `msgpack:"w"`
}

// JobResumed records that a job that had ended continues with the tasks that are not done. With Failed its
// failed tasks are tried again as well.
type JobResumed struct {
	Job    job.ID           `msgpack:"j"`
	Failed bool             `msgpack:"f,omitempty"`
	Alloc  job.AllocRequest `msgpack:"al"`           // the decision of the new plan
	Terms  *job.Terms       `msgpack:"te,omitempty"` // from now on; nil: unchanged
	// Held has what earlier runs held, in core-seconds, as the summary had it (report.CoreHours.Sums): their allocations may be forgotten.
	Held []float64 `msgpack:"hs,omitempty"`
	job.Followup
}

// Change updates the work of the job to that of the resumed job.
func (r *JobResumed) Change(w *job.Work) {
	w.Alloc, w.Followup = r.Alloc, r.Followup
	if r.Terms != nil {
		w.Terms = *r.Terms
	}
}

// TermsChanged records that a job has other terms from now on. Running attempts keep what they have.
type TermsChanged struct {
	Job   job.ID    `msgpack:"j"`
	Terms job.Terms `msgpack:"te"`
	// PlaceOnly says that nothing but its priority and its weight has changed, on which no request depends.
	PlaceOnly bool `msgpack:"po,omitempty"`
}

// JobStopping records that no further attempt of the job is started, and the running ones are killed;
// State is the state in which it will end.
type JobStopping struct {
	Job    job.ID   `msgpack:"j"`
	State  State    `msgpack:"s"`
	Code   job.Code `msgpack:"c,omitempty"`
	Reason string   `msgpack:"r"`
}

// JobFinalizing records that every task is done; the job's output as a whole is being committed.
type JobFinalizing struct {
	Job job.ID `msgpack:"j"`
}

// JobEnded records that the job is over.
type JobEnded struct {
	Job    job.ID   `msgpack:"j"`
	State  State    `msgpack:"s"`
	Code   job.Code `msgpack:"c,omitempty"`
	Reason string   `msgpack:"r,omitempty"`
}

// JobPlanned records that the remaining tasks of the job were planned again.
type JobPlanned struct {
	Job           job.ID `msgpack:"j"`
	Scout         int    `msgpack:"s,omitempty"` // the job is planned again once so many tasks are done; 0: never
	Decision      string `msgpack:"d,omitempty"` // one line for people
	job.TaskTimes        // 0: unchanged
	job.Turnaround
	// Most is the longest time that an allocation can have, if tasks are expected to take longer. Such tasks start
	// all the same while half of it is left. 0: there is no such limit. The engine sets it.
	Most time.Duration `msgpack:"mo,omitempty"`
}

// JobFollowed records that the job After, which this job waits for, is done.
type JobFollowed struct {
	Job   job.ID `msgpack:"j"`
	After job.ID `msgpack:"af"`
}

// TasksAdded records that tasks were added to an open bag, with the indices after those of the tasks that it had.
type TasksAdded struct {
	Job   job.ID  `msgpack:"j"`
	N     int     `msgpack:"n"`
	After []Comes `msgpack:"a,omitempty"` // those of them that come after other tasks
	// Further are needs that no task of the job had before. They follow those of job.Work.Further. Which says which of the added tasks have
	// which needs, as job.Work.Which does. Tasks behind those of Which have those of the bag.
	Further []job.Needs    `msgpack:"fn,omitempty"`
	Which   []job.NeedsRun `msgpack:"wn,omitempty"`
	Shares  bool           `msgpack:"sh,omitempty"` // other jobs may write files of the same names as these tasks
}

// Comes is a task of a bag that comes after others of it.
type Comes struct {
	Task  int32   `msgpack:"t"`
	After []int32 `msgpack:"a"` // these must be done before it starts, in ascending order
}

// BagClosed records that no more tasks are added to an open bag.
type BagClosed struct {
	Job job.ID `msgpack:"j"`
}

// TasksSkipped records that tasks have failed without being started, as a task that they come after has.
type TasksSkipped struct {
	Job     job.ID  `msgpack:"j"`
	Because int32   `msgpack:"b"` // that task
	Tasks   []int32 `msgpack:"t"`
}

// TasksCancelled records that tasks of a bag are no longer wanted. Those that run are over once their attempts have ended.
type TasksCancelled struct {
	Job    job.ID  `msgpack:"j"`
	Tasks  []int32 `msgpack:"t"`
	Reason string  `msgpack:"r,omitempty"`
}

// FilesTaken records that a job put files into place, or may do so, that its tasks claimed at that time. Tasks of this job that claimed them
// earlier must not put theirs over them. Files has the numbers that stand for their paths.
type FilesTaken struct {
	Job   job.ID   `msgpack:"j"`
	By    job.ID   `msgpack:"b"`
	At    job.Time `msgpack:"t"`
	Files []uint64 `msgpack:"f"`
}

// NeedsChanged records that a task of a bag has other needs from now on, or that all tasks have that had these needs; running attempts keep
// what they have.
type NeedsChanged struct {
	Job       job.ID        `msgpack:"j"`
	Index     uint16        `msgpack:"i,omitempty"` // of the needs that they had
	Task      int32         `msgpack:"t"`           // −1: all tasks with these needs
	Mem       int64         `msgpack:"m,omitempty"` // bytes; 0: as before
	TimeLimit time.Duration `msgpack:"l,omitempty"` // 0: as before
	Reason    string        `msgpack:"r,omitempty"` // one line
}

// AllTasks is the Task of NeedsChanged that stands for all tasks with the needs.
const AllTasks = -1

// AttemptStarted records that the attempt was sent to its node, which it occupies from now on unless it is behind another.
type AttemptStarted struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"n"`
	Through job.Phase   `msgpack:"l"`           // it may run up to and including this phase
	Commit  bool        `msgpack:"c,omitempty"` // it may commit without asking, while its worker holds its lease
	Mem     int64       `msgpack:"m,omitempty"` // memory that it may use, in bytes, if that can differ from attempt to attempt
	// Behind is the number of a task of the job, plus one. The attempt begins when the attempt of that task on the node has ended,
	// and holds nothing until then; 0: it begins at once.
	Behind int `msgpack:"b,omitempty"`
	// Gang has the nodes of a task of several ranks, the first of them Node; nil: the task is one process on Node.
	Gang []Share `msgpack:"g,omitempty"`
	// GPUs are the numbers of those GPUs of the node of which the attempt has a share, one for each rank there (sched.Running.GPUs); nil: it shares none.
	GPUs []uint16 `msgpack:"gp,omitempty"`
}

// Share is the part of a gang on one node.
type Share struct {
	Node  job.NodeID `msgpack:"n"`
	Ranks int        `msgpack:"r"`
	GPUs  []uint16   `msgpack:"gp,omitempty"` // as those of AttemptStarted, on this node
}

// PhaseEntered records that the attempt began a phase.
type PhaseEntered struct {
	Attempt job.Attempt `msgpack:"a"`
	Phase   job.Phase   `msgpack:"p"`
}

// PhaseGranted records that the attempt may run up to and including this phase.
type PhaseGranted struct {
	Attempt job.Attempt `msgpack:"a"`
	Phase   job.Phase   `msgpack:"p"`
}

// CommitGranted records that this one of all attempts of its task may commit its output.
type CommitGranted struct {
	Attempt job.Attempt `msgpack:"a"`
}

// Outcome is how an attempt ended.
type Outcome uint8

// The outcomes of an attempt.
const (
	Done     Outcome = iota + 1 // its output is committed (of a map: held by its node), and the task is done
	Failed                      // its program or data failed; counts against the attempts of the task
	Lost                        // its worker or node is gone; does not count
	Killed                      // berth killed it because the job stopped or another attempt was first; does not count
	Broken                      // its machine or files failed permanently, such as a full disk or damaged input; stops the job, which can be resumed
	Requeued                    // its program said that it is not done and is to start again (job.BagSpec.RequeueExit); its files are committed; does not count
	Outgrown                    // it ran out of memory or of its time limit, and its task starts again with more; does not count
)

var outcomeNames = [...]string{"none", "done", "failed", "lost", "killed", "broken", "requeued", "outgrown"}

// Committed reports whether the files of an attempt with that outcome are put into place.
func (o Outcome) Committed() bool { return o == Done || o == Requeued }

// String returns the outcome's name.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "unknown"
}

// Lack is what an attempt ran out of.
type Lack uint8

// What an attempt can run out of.
const (
	LackNothing    Lack = iota
	LackMemory          // it used more memory than its task may
	LackNodeMemory      // the kernel killed a process of it, as memory ran out on the node or in the allocation
	LackTime            // it ran longer than its task may
	LackDisk            // its host had no space for its files, or no folder for them that can be used; another host may have
)

// OfMemory reports whether an attempt ran out of memory.
func (l Lack) OfMemory() bool { return l == LackMemory || l == LackNodeMemory }

var lackNames = [...]string{"", "memory", "node memory", "time", "disk"}

// String returns the name of what is lacking, empty for nothing.
func (l Lack) String() string {
	if int(l) < len(lackNames) {
		return lackNames[l]
	}
	return "unknown"
}

// AttemptEnded records that the attempt is over and its node's resources are free.
type AttemptEnded struct {
	Attempt job.Attempt `msgpack:"a"`
	Outcome Outcome     `msgpack:"o"`
	Slow    bool        `msgpack:"sl,omitempty"` // killed because it was too slow: its task starts again on another node. The engine sets it
	// Lack is what the attempt ran out of, for Failed, Outgrown and Lost. Last says that its task is not tried again although attempts are left, as it would
	// only run out of the same again. The engine sets it.
	Lack Lack `msgpack:"lk,omitempty"`
	Last bool `msgpack:"la,omitempty"`
	Cut  bool `msgpack:"ct,omitempty"` // lost because its allocation ended, by no fault of the task or the node. Workers say that they were told to end, the engine sets it
	// Returned says that it was killed before it began, as its worker had to wait too long for the end of the one that it was behind.
	Returned bool `msgpack:"rt,omitempty"`
	// Source is what measured the attempt's progress, N the last count (job.Progress). Both are empty if it took less than a second.
	Source   job.ProgressSource `msgpack:"ps,omitempty"`
	N        float64            `msgpack:"pn,omitempty"`
	Stats    []job.PhaseStat    `msgpack:"st,omitempty"` // the phases that ended, in order
	Size     int64              `msgpack:"sz,omitempty"` // of the task's input, in bytes, of a task that was done; 0: not known. The engine sets it
	Exit     int                `msgpack:"x,omitempty"`  // exit code of the task's program
	Signal   int                `msgpack:"sg,omitempty"` // signal that ended it; 0: none
	Reason   string             `msgpack:"r,omitempty"`  // one line, for Failed, Killed and Broken, and for any with Left
	Left     string             `msgpack:"lf,omitempty"` // names and numbers of processes that were ended after the task's program had ended
	Warning  string             `msgpack:"wa,omitempty"` // one line: what its user should know, although it need not be a failure
	Stderr   string             `msgpack:"e,omitempty"`  // the last lines, for Failed
	Counters map[string]int64   `msgpack:"k,omitempty"`  // "group,counter" → sum, from reporter:counter lines and berth's own
	// Beside has the files that were not put into place, as other jobs claimed their paths later: where they are. At most MaxBeside are named.
	Beside []string `msgpack:"bs,omitempty"`
	// Outputs has the names of the files that it left in the job's folder (--outputs), if other tasks may leave the same; not all, if there are many.
	Outputs []string `msgpack:"op,omitempty"`
	// Curve is the attempt's progress over its time, for some attempts that were done: for each mark the seconds since it started, the count, and
	// seconds of processor time (straggler.Unpack). The engine sets it.
	Curve []float64 `msgpack:"pc,omitempty"`
	// Shares says what the processes of a gang used on each of its nodes, in the order of AttemptStarted.Gang, those of the first node
	// included. Their sums are in Stats.
	Shares []ShareUse `msgpack:"su,omitempty"`
	// LostOn is the node whose loss ended a gang, if it is known. The engine sets it.
	LostOn job.NodeID `msgpack:"lo,omitempty"`
	// Expected is how long it was expected to take when half of that time was over, as a fraction of the time that it took, of some attempts that
	// were done; 0: nothing was expected. The engine sets it.
	Expected float64 `msgpack:"xp,omitempty"`
}

// ShareUse is what the processes of a gang used on one of its nodes.
type ShareUse struct {
	Node   job.NodeID    `msgpack:"n"`
	CPU    time.Duration `msgpack:"c,omitempty"`
	Memory int64         `msgpack:"m,omitempty"` // the most that they used at once, in bytes
}

// OutputLost records that the map's output is lost; the task runs again.
type OutputLost struct {
	Job    job.ID `msgpack:"j"`
	Task   int    `msgpack:"t"`
	Reason string `msgpack:"r"`
	Bad    bool   `msgpack:"b,omitempty"` // a reduce could not fetch or verify it, though its holder is alive
}

// OutputHeld records that the map's output, whose holder was unknown or away, is complete on this node.
type OutputHeld struct {
	Attempt job.Attempt `msgpack:"a"`
	Node    job.NodeID  `msgpack:"n"`
}

// NodeJoined records that a worker took over its node, for the first time or again.
type NodeJoined struct {
	Node     job.NodeID    `msgpack:"n"`
	Host     string        `msgpack:"h"`
	Addr     string        `msgpack:"ad"` // host:port where its map outputs are served
	Capacity job.Resources `msgpack:"c"`
	// Outputs is the folder of its map outputs, if every node of the batch system can
	// read it (a shared file system); empty: only the worker itself can.
	Outputs string `msgpack:"od,omitempty"`
	Type    string `msgpack:"ty,omitempty"` // kind of its processors (predict.NodeType); empty: not reported
}

// NodeLost records that the worker does not answer. Gone: neither it nor its map outputs come back.
type NodeLost struct {
	Node   job.NodeID `msgpack:"n"`
	Gone   bool       `msgpack:"g,omitempty"`
	Reason string     `msgpack:"r,omitempty"`
	// Unseen says that the time is unknown, as no coordinator was running.
	Unseen bool `msgpack:"u,omitempty"`
}

// AllocRequested records that an allocation of that shape was requested.
type AllocRequested struct {
	Alloc   job.AllocID      `msgpack:"a"`
	Request job.AllocRequest `msgpack:"q"`
	Job     job.ID           `msgpack:"j,omitempty"` // the job for which an elastic one is requested
	// Instead and Beside are in journals of earlier versions, which requested this allocation and others in place of some that waited.
	Instead []job.AllocID `msgpack:"in,omitempty"`
	Beside  int           `msgpack:"be,omitempty"`
}

// AllocBegan records that the batch system has started the allocation.
type AllocBegan struct {
	Alloc job.AllocID `msgpack:"a"`
	Ends  job.Time    `msgpack:"e,omitempty"` // end of its wall time; 0: it has no end
}

// AllocEnded records that the allocation is over, refused or given back; its nodes are gone.
type AllocEnded struct {
	Alloc    job.AllocID `msgpack:"a"`
	Reason   string      `msgpack:"r,omitempty"`
	Unwanted bool        `msgpack:"u,omitempty"` // given back because no job could use it
	Lost     bool        `msgpack:"l,omitempty"` // berth did not end it, and more tasks could have started on it: plans counted on it
	How      AllocEnd    `msgpack:"h,omitempty"`
	Bad      string      `msgpack:"b,omitempty"` // if a worker could not start: the node on which it could not, as far as known
}

// AllocEnd says what the end of an allocation tells about its nodes.
type AllocEnd uint8

// Ends of allocations.
const (
	EndUsual   AllocEnd = iota
	EndTaken            // the batch system, somebody, or the failure of a node has ended its job: that tells nothing about whether nodes can run berth
	EndBroken           // its script, or a worker, has ended before it could do anything: its node, or all nodes, cannot run berth
	EndRefused          // the batch system has refused it, and may accept a smaller one, which the next plan requests
)

// AllocCleared records that nothing is left of an elastic allocation that had ended; the map outputs
// of its nodes are removed, too.
type AllocCleared struct {
	Alloc job.AllocID `msgpack:"a"`
}

// AllocPaused records that the batch system has stopped the processes of the allocation, or that it lets them go on.
type AllocPaused struct {
	Alloc  job.AllocID `msgpack:"a"`
	Paused bool        `msgpack:"p,omitempty"`
}

// AllocUsed records, in core-seconds, what a job that is over has had of an allocation: in all its runs, and the idle part of its last run. So
// the parts of other jobs are known to a coordinator that does not replay the job.
type AllocUsed struct {
	Alloc job.AllocID `msgpack:"a"`
	Job   job.ID      `msgpack:"j"`
	Until job.Time    `msgpack:"u"` // when it was over
	Held  float64     `msgpack:"h"`
	Idle  float64     `msgpack:"i,omitempty"`
}

// Owners.

func (r JobSubmitted) Of() job.ID   { return r.Work.ID }
func (r JobResumed) Of() job.ID     { return r.Job }
func (r TermsChanged) Of() job.ID   { return r.Job }
func (r JobStopping) Of() job.ID    { return r.Job }
func (r JobFinalizing) Of() job.ID  { return r.Job }
func (r JobEnded) Of() job.ID       { return r.Job }
func (r AttemptStarted) Of() job.ID { return r.Attempt.Job }
func (r PhaseEntered) Of() job.ID   { return r.Attempt.Job }
func (r PhaseGranted) Of() job.ID   { return r.Attempt.Job }
func (r CommitGranted) Of() job.ID  { return r.Attempt.Job }
func (r AttemptEnded) Of() job.ID   { return r.Attempt.Job }
func (r OutputLost) Of() job.ID     { return r.Job }
func (r OutputHeld) Of() job.ID     { return r.Attempt.Job }
func (NodeJoined) Of() job.ID       { return "" }
func (NodeLost) Of() job.ID         { return "" }
func (AllocRequested) Of() job.ID   { return "" }
func (AllocEnded) Of() job.ID       { return "" }
func (AllocBegan) Of() job.ID       { return "" }
func (AllocCleared) Of() job.ID     { return "" }
func (AllocPaused) Of() job.ID      { return "" }
func (AllocUsed) Of() job.ID        { return "" }
func (r JobFollowed) Of() job.ID    { return r.Job }
func (r JobPlanned) Of() job.ID     { return r.Job }
func (r TasksAdded) Of() job.ID     { return r.Job }
func (r BagClosed) Of() job.ID      { return r.Job }
func (r TasksSkipped) Of() job.ID   { return r.Job }
func (r NeedsChanged) Of() job.ID   { return r.Job }
func (r TasksCancelled) Of() job.ID { return r.Job }
func (r FilesTaken) Of() job.ID     { return r.Job }
