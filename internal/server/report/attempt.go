package report

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// attempt is an attempt that was sent to a node.
type attempt struct {
	id      job.Attempt
	node    job.NodeID
	gang    []event.Share // of several ranks, that on node first; nil: it is one process
	started job.Time
	mem     int64       // that it may use, in bytes; 0: not limited
	phase   uint8       // position, 1 to 3; 0: it has not begun
	entered [3]job.Time // when each phase was entered; 0: not

	// The last report about the present phase.
	bytesIn, bytesOut int64
	fraction          float64      // −1: unknown
	whole             job.Progress // of the attempt as a whole
	ends              job.Time     // when the engine expects it to end; 0: unknown
	duplicate         bool         // it began while another attempt of its task ran
	status            string
	waits             bool // the phase is done, and the attempt waits for a grant to begin the next
	span              *Span

	cores, begun, held float64 // what it holds: cores, since then by the clock of its allocation; and core-seconds, once it is over
	part               uint8   // that these belong to

	// Attempts of short tasks are sent in lines (engine/behind.go), and a worker reports the ends of a line together.
	line             bool     // it is or was in one
	behind, follower *attempt // those next to it; behind is nil once it has begun

	wasted float64 // seconds that were counted so when it was lost
}

// RunningAttempt is an attempt that runs, and where.
type RunningAttempt struct {
	Task    int        `json:"task"`
	Attempt int        `json:"attempt"`
	Node    job.NodeID `json:"node"`
	Started job.Time   `json:"started_ns"`
}

// sums contains the sums over all attempts.
type sums struct {
	Attempts
	outputsLost int
	skipped     int     // tasks that were given up, as they come after one that failed
	wasted      float64 // seconds of attempts without a result
	retries     int
	counters    map[string]int64
	cores       [7]float64 // core-seconds of attempts that are over, and all of earlier runs, by part
	Stragglers
	ended    recent[string]           // attempts that were killed as they were slow, or beaten
	measured [job.ProgressSources]int // tasks that are done, by what their progress was measured by
}

// held is what the attempt of a finished map added to the sums. It is subtracted if the map's output is lost.
type held struct {
	seconds  float64
	cores    float64 // core-seconds
	stats    []job.PhaseStat
	counters map[string]int64
}

// ApplyProgress applies a report of a node's worker about the progress of an attempt that runs there and of its present
// phase. An attempt in no phase waits for a grant for the next one. Reports about attempts that are over or run elsewhere, or about
// phases that have ended, are ignored. A report without a status says that the attempt has told none since the last one.
func (j *Job) ApplyProgress(node job.NodeID, p wire.Progress) {
	a := j.running(p.Attempt)
	if a == nil || a.node != node {
		return
	}
	a.status = cmp.Or(p.Status, a.status)
	if p.Source != job.ProgressNone {
		a.whole = p.Progress
	}
	if a.waits = p.Phase == job.PhaseNone; a.waits || j.tasks.group(a.id.Task).index(p.Phase) != a.phase {
		return
	}
	a.bytesIn, a.bytesOut, a.fraction = p.BytesIn, p.BytesOut, min(p.Part, 1)
}

// NodeOf returns the node on which an attempt runs, empty if it does not run.
func (j *Job) NodeOf(of job.Attempt) job.NodeID {
	if a := j.running(of); a != nil {
		return a.node
	}
	return ""
}

// running returns an attempt that runs, nil if it does not.
func (j *Job) running(of job.Attempt) *attempt {
	if a := j.sent[of]; a != nil && a.behind == nil {
		return a
	}
	return nil
}

// allSent returns the attempts that were sent to nodes and are not over, in the order of their tasks.
func (j *Job) allSent() []*attempt {
	return slices.SortedFunc(maps.Values(j.sent), func(a, b *attempt) int { return cmp.Or(a.id.Task-b.id.Task, a.id.N-b.id.N) })
}

// allRunning returns those that run.
func (j *Job) allRunning() []*attempt {
	return slices.DeleteFunc(j.allSent(), func(a *attempt) bool { return a.behind != nil })
}

// RunningAttempts returns the attempts that run, with their nodes, in the order of their tasks.
func (j *Job) RunningAttempts() []RunningAttempt {
	all := []RunningAttempt{}
	for _, a := range j.allRunning() {
		all = append(all, RunningAttempt{Task: a.id.Task, Attempt: a.id.N, Node: a.node, Started: a.started})
	}
	return all
}

func (j *Job) startAttempt(at job.Time, r event.AttemptStarted) {
	i := r.Attempt.Task
	if !j.tasks.has(i) || j.sent[r.Attempt] != nil {
		return
	}
	j.began(at)
	t := &j.tasks.table[i]
	t.live++
	a := j.revive(r.Attempt)
	if a == nil {
		a = &attempt{id: r.Attempt, fraction: -1, duplicate: t.live > 1}
		a.whole.Fraction = -1
		j.sums.Started++
		if a.duplicate {
			j.sums.Duplicates++
		}
		if t.attempts > 0 && !t.again {
			j.sums.retries++
		}
		t.again = false
		delete(j.lost, j.last(i)) // only the last attempt of a task can come back
		t.attempts = max(t.attempts+1, uint16(r.Attempt.N))
	}
	a.node, a.gang = r.Node, r.Gang
	a.mem = r.Mem * int64(a.ranks())
	j.sent[a.id] = a
	if lead := j.onNode(r.Behind-1, r.Node); lead != nil && lead.follower == nil {
		a.line, lead.line, a.behind, lead.follower = true, true, lead, a
		return
	}
	j.begin(at, a)
}

// onNode returns the attempt of a task that was sent to the node and is not over, nil if there is none.
func (j *Job) onNode(task int, node job.NodeID) *attempt {
	if !j.tasks.has(task) {
		return nil
	}
	for of := j.last(task); of.N > 0; of.N-- {
		if a := j.sent[of]; a != nil && a.node == node {
			return a
		}
	}
	return nil
}

// begin notes that an attempt runs from now on.
func (j *Job) begin(at job.Time, a *attempt) {
	i := a.id.Task
	g := j.tasks.group(i)
	if a.phase == 0 {
		a.phase, a.started, a.entered[0] = 1, at, at
		g.phases[0].enter(at)
	}
	a.span = j.info.Spans.begin(at, a, g.phases[0].phase)
	j.take(at, a)
	for node := range a.nodes() {
		j.useNode(node, a.started).running++
	}
	if pos := j.tasks.table[i].pos; pos == posFailed || pos < a.phase {
		j.tasks.move(i, a.phase)
	}
}

// leave takes an attempt that is over out of its line. The one behind it begins if it had begun.
func (j *Job) leave(at job.Time, a *attempt) {
	lead, next := a.behind, a.follower
	a.behind, a.follower = nil, nil
	if lead != nil {
		lead.follower = next
	}
	if next == nil {
		return
	}
	if next.behind = lead; lead == nil {
		j.begin(at, next)
	}
}

// began sets the starts of the job and of the run, at their first attempts.
func (j *Job) began(at job.Time) {
	j.started, j.runStarted = cmp.Or(j.started, at), cmp.Or(j.runStarted, at)
	if j.state == event.StateQueued {
		j.state = event.StateRunning
	}
}

func (j *Job) enterPhase(at job.Time, r event.PhaseEntered) {
	a := j.running(r.Attempt)
	if a == nil {
		return
	}
	a.span.enter(r.Phase, at)
	g := j.tasks.group(r.Attempt.Task)
	pos := g.index(r.Phase)
	if pos <= a.phase {
		return
	}
	a.phase, a.entered[pos-1] = pos, at
	a.bytesIn, a.bytesOut, a.fraction, a.waits = 0, 0, -1, false
	g.phases[pos-1].enter(at)
	if now := j.tasks.table[r.Attempt.Task].pos; now < pos {
		j.tasks.move(r.Attempt.Task, pos)
	}
}

// ending is an attempt that is over, and how it ended.
type ending struct {
	event.AttemptEnded
	event.Entry
	*attempt
	task    *task
	seconds float64
}

func (j *Job) endAttempt(e event.Entry, r event.AttemptEnded) {
	a := j.sent[r.Attempt]
	switch {
	case a == nil:
		j.lateResult(e, r)
		return
	case a.behind != nil:
		j.begin(e.At, a)
	}
	delete(j.sent, a.id)
	a.span.end(e.At, r.Outcome, r.Stats)
	j.lastEnd = e.At
	end := &ending{AttemptEnded: r, Entry: e, attempt: a, task: &j.tasks.table[r.Attempt.Task], seconds: a.took(e.At, r.Stats)}
	end.task.live--
	j.give(e.At, a, r.Stats, end.part())
	j.countOutcome(end)
	if !r.Outcome.Committed() {
		j.sums.wasted += end.seconds
	}
	j.countMemory(end)
	j.noteLack(end)
	j.noteBeside(r)
	j.sums.countDuplicate(end)
	j.noteStraggler(end)
	j.noteTime(end)
	j.noteFailure(end)
	if r.Left != "" {
		j.left.add(j.TaskName(r.Attempt.Task) + ": " + r.Left)
	}
	j.passOn(end)
	j.leave(e.At, a)
}

// took returns how many seconds the attempt took that ended then. One of a line is measured by its phases.
func (a *attempt) took(ended job.Time, stats []job.PhaseStat) float64 {
	if a.line && len(stats) > 0 {
		a.started, ended = stats[0].Start, stats[len(stats)-1].End
	}
	return max(0, ended.Sub(a.started).Seconds())
}

// passOn passes an attempt that is over to the functions and folds in Info.
func (j *Job) passOn(r *ending) {
	for node, stats := range r.byNode() {
		j.spend(node, stats)
		if j.info.Usage != nil {
			j.info.Usage.Add(node, stats)
		}
	}
	if r.Warning != "" {
		j.warn(r.Attempt.Task, r.Warning)
	}
	j.noteOutputs(r.AttemptEnded)
	if j.info.Tries != nil {
		j.info.Tries.addEnd(j.host(r.node), r)
	}
	if j.info.OnOver != nil {
		j.info.OnOver(r.id)
	}
	if j.info.OnAttempt != nil {
		j.info.OnAttempt(j.row(r))
	}
}

// countOutcome counts how the attempt ended, for the job and for its nodes, and moves its task.
func (j *Job) countOutcome(r *ending) {
	t := r.task
	for node := range r.nodes() {
		switch u := j.nodeUse(node); r.Outcome {
		case event.Done:
			u.running, u.done = u.running-1, u.done+1
		case event.Failed, event.Broken:
			u.running, u.failed = u.running-1, u.failed+1
		default:
			u.running--
		}
	}
	*j.sums.of(r.Outcome)++
	switch r.Outcome {
	case event.Done:
		j.attemptDone(r)
		return
	case event.Failed:
		t.fails++
		if limit := j.tasks.limit(r.Attempt.Task); r.Last && t.live == 0 {
			t.fails = max(t.fails, uint16(min(limit, math.MaxUint16)))
		}
	case event.Lost:
		r.wasted, j.lost[r.id] = r.seconds, r.attempt
	case event.Killed:
		t.again = t.again || r.Returned
	case event.Outgrown, event.Requeued:
		t.again = t.live == 0 && t.pos != posDone
	}
	j.requeue(r.Attempt)
}

// requeue moves the task of an attempt without a result to the position of its other attempts, to the
// failed tasks, or back to the waiting ones.
func (j *Job) requeue(a job.Attempt) {
	if j.tasks.table[a.Task].pos != posDone {
		j.moveTask(a, j.position(a.Task))
	}
}

// moveTask moves the task of an attempt to a position, and calls Info.OnTask if the task is over then.
func (j *Job) moveTask(a job.Attempt, pos uint8) {
	before := j.tasks.table[a.Task].pos
	j.tasks.move(a.Task, pos)
	if j.info.OnTask != nil && pos != before && pos >= posDone {
		j.info.OnTask(End{Task: a.Task, Attempt: a.N, Done: pos == posDone, Over: true})
	}
}

// skip moves tasks that are given up, because they come after one that has failed, to the failed ones.
func (j *Job) skip(r event.TasksSkipped) {
	for _, i := range r.Tasks {
		if j.tasks.has(int(i)) {
			j.moveTask(job.Attempt{Job: r.Job, Task: int(i)}, posFailed)
		}
	}
	j.sums.skipped += len(r.Tasks)
}

// cancelTasks notes which tasks are not wanted. Those that do not run are over.
func (j *Job) cancelTasks(r event.TasksCancelled) {
	for _, i := range r.Tasks {
		if !j.tasks.has(int(i)) || j.tasks.table[i].pos >= posDone {
			continue
		}
		j.cancelled[i] = true
		j.requeue(j.last(int(i)))
	}
}

// position returns the position of a task without a result: failed, that of its most advanced attempt, or
// waiting.
func (j *Job) position(task int) uint8 {
	t := &j.tasks.table[task]
	if limit := j.tasks.limit(task); limit > 0 && int(t.fails) >= limit {
		return posFailed
	}
	pos := uint8(posWaiting)
	switch {
	case t.live == 0 && j.cancelled[int32(task)]:
		return posFailed
	case t.live == 0:
		return pos
	}
	for of := j.last(task); of.N > 0; of.N-- {
		if o := j.running(of); o != nil {
			pos = max(pos, o.phase)
		}
	}
	return pos
}

// last returns the last attempt of a task.
func (j *Job) last(task int) job.Attempt {
	return job.Attempt{Job: j.info.ID, Task: task, N: int(j.tasks.table[task].attempts)}
}

// attemptDone adds the measurements of an attempt that is done to the sums, and finishes its task.
func (j *Job) attemptDone(r *ending) {
	i := r.Attempt.Task
	if r.task.pos == posDone {
		return
	}
	j.moveTask(r.Attempt, posDone)
	delete(j.cancelled, int32(i))
	g := j.tasks.group(i)
	j.sums.measured[r.Source]++
	if r.N > 0 {
		g.totals[r.Source].sum += r.N
		g.totals[r.Source].n++
	}
	if len(r.Stats) > 0 && g.kind == job.BagTask {
		j.tasks.tookTime(i, r.Stats[len(r.Stats)-1].End.Sub(r.Stats[0].Start).Seconds())
	}
	for _, s := range r.Stats {
		if pos := g.index(s.Phase); pos > 0 {
			g.phases[pos-1].done(s, r.At)
			j.outgrow(&g.phases[pos-1], s)
		}
	}
	for name, n := range r.Counters {
		j.sums.counters[name] += n
	}
	if seconds := round(r.seconds); j.slow.wants(seconds) {
		j.slow.add(TaskTime{Task: i, Name: j.TaskName(i), Input: j.taskInput(i), Attempt: r.Attempt.N, Seconds: seconds})
	}
	if g.kind == job.MapTask && j.work.Reduces > 0 {
		j.held[i] = held{seconds: round(r.seconds), cores: r.held, stats: r.Stats, counters: r.Counters}
	}
}

// CountersWith returns the number of different counters that the job's programs have reported, including
// those of more attempts. Hadoop's own counters for tasks do not count.
func (j *Job) CountersWith(more ...map[string]int64) int {
	own := map[string]bool{}
	for _, counters := range append([]map[string]int64{j.sums.counters}, more...) {
		for name := range counters {
			if !strings.HasPrefix(name, job.TaskCounterGroup+",") {
				own[name] = true
			}
		}
	}
	return len(own)
}

// loseOutput moves a finished map, whose output is lost, back to the waiting tasks.
func (j *Job) loseOutput(r event.OutputLost) {
	if !j.tasks.has(r.Task) || j.tasks.table[r.Task].pos != posDone {
		return
	}
	j.tasks.move(r.Task, j.position(r.Task))
	j.sums.outputsLost++
	h := j.held[r.Task]
	delete(j.held, r.Task)
	j.sums.wasted += h.seconds
	j.sums.cores[partUsed], j.sums.cores[partFailed] = j.sums.cores[partUsed]-h.cores, j.sums.cores[partFailed]+h.cores
	g := j.tasks.group(r.Task)
	for _, s := range h.stats {
		if pos := g.index(s.Phase); pos > 0 {
			g.phases[pos-1].undo(s)
		}
	}
	for name, n := range h.counters {
		if j.sums.counters[name] -= n; j.sums.counters[name] == 0 {
			delete(j.sums.counters, name)
		}
	}
}

// round rounds to six decimals (seconds to microseconds), so that views do not show rounding errors.
func round(s float64) float64 { return math.Round(s*1e6) / 1e6 }
