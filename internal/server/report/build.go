package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// maxRunning is the number of running attempts in a view.
const maxRunning = 20

// View returns the job's view at the time now.
func (j *Job) View(now job.Time) JobView {
	v := j.outline(now)
	v.Running, v.Nodes = j.runningViews(now), j.nodeViews()
	v.Retries, v.Attempts, v.OutputsLost, v.TasksSkipped = j.sums.retries, j.sums.Attempts, j.sums.outputsLost, j.sums.skipped
	v.Weight, v.Priority, v.Energy, v.WastedS = j.work.Share(), j.work.Priority, j.energy(now), round(j.sums.wasted)
	v.Stragglers, v.ProgressSources, v.Counters = j.sums.stragglers(), j.sums.sources(), nest(j.sums.counters)
	v.Failures, v.FailuresTotal = append([]Failure{}, j.failed.last...), j.failed.total
	v.Left, v.LeftTotal = slices.Clone(j.left.last), j.left.total
	v.Warnings, v.WarningsTotal = slices.Clone(j.warned.last), j.warned.total
	v.Slowest, v.Notes = append([]TaskTime{}, j.slow...), append([]string{}, j.info.Notes...)
	v.Decision, v.Output, v.Logs = j.info.Decision, j.info.Output, j.info.Logs
	v.TasksWaiting = v.TasksTotal - v.TasksDone - v.TasksFailed - v.TasksRunning
	if j.state == event.StateFailed || j.state == event.StateCancelled {
		v.Code = codeNames[j.code]
	}
	v.Memory = j.memoryUse()
	v.Fix, v.NoFix = j.fix()
	v.FixTasks = j.lacking.tasks
	return v
}

// Brief returns what lists of jobs have of the view (JobView.Brief), without making the rest.
func (j *Job) Brief(now job.Time, running bool) JobView {
	v := j.outline(now)
	if running {
		v.Running = j.runningViews(now)
	}
	return v.Brief(running)
}

// outline returns the view with what is in lists, and what that follows from.
func (j *Job) outline(now job.Time) JobView {
	v := JobView{
		Status: j.status(now), At: stamp(now), After: slices.Clone(j.after), Reason: j.reason,
		Submitted: stamp(j.submitted), Started: stamp(j.started), Ended: stamp(j.ended), Resumed: stamp(j.resumed()),
		Application: j.info.Application, Account: j.work.Alloc.Batch.Account, Predicted: j.info.Predicted,
	}
	j.queueViews(&v, now)
	j.phaseViews(&v, now)
	j.slack(&v, now)
	j.compare(&v)
	return v
}

// Unattended returns the job's view at its last record, for a command that finds no coordinator. A job that
// has not ended is shown as interrupted.
func (j *Job) Unattended() JobView {
	v := j.View(j.lastAt)
	if !v.State.Final() {
		v.State, v.EtaS, v.EtaFrom, v.Waits, v.SlackS = StateInterrupted, nil, "", nil, nil
	}
	return v
}

func (j *Job) status(now job.Time) Status {
	s := Status{
		ID: j.info.ID, Name: j.info.Name, Kind: j.info.Kind, State: j.state,
		ElapsedS:   j.elapsed(now),
		TasksTotal: j.info.Tasks,
		Open:       j.work.Open && !j.state.Final(),
		CoreHours:  j.coreHours(now),
	}
	for i := range j.tasks.groups {
		g := &j.tasks.groups[i]
		s.TasksDone += g.at[posDone]
		s.TasksFailed += g.at[posFailed]
		s.TasksRunning += g.total - g.at[posWaiting] - g.at[posDone] - g.at[posFailed]
	}
	if j.known() {
		s.TasksTotal = j.work.Total()
	}
	return s
}

// resumed returns when the job was resumed for the last time, 0 for never.
func (j *Job) resumed() job.Time {
	if j.runBegan == j.submitted {
		return 0
	}
	return j.runBegan
}

// stamp returns t as a time, the zero time for 0.
func stamp(t job.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.Std()
}

func (j *Job) elapsed(now job.Time) float64 {
	ns := time.Duration(j.before)
	if !j.state.Final() && j.known() {
		ns += max(now.Sub(j.runBegan), 0)
	}
	return round(ns.Seconds())
}

// compare sets the actual times beside the predicted ones.
func (j *Job) compare(v *JobView) {
	if j.state != event.StateDone || j.runStarted == 0 {
		return
	}
	actual := round(j.ended.Sub(j.runStarted).Seconds())
	v.ActualS = &actual
	if p := j.info.Predicted; p != nil {
		v.OffBy = new(round(p.Off(actual)))
	}
}

// nest turns "group,name" into groups of names.
func nest(flat map[string]int64) map[string]map[string]int64 {
	out := map[string]map[string]int64{}
	for k, n := range flat {
		group, name, _ := strings.Cut(k, ",")
		if out[group] == nil {
			out[group] = map[string]int64{}
		}
		out[group][name] = n
	}
	return out
}

// phaseViews fills in the phases and what follows from them.
func (j *Job) phaseViews(v *JobView, now job.Time) {
	v.Phases = []PhaseView{}
	until := now
	switch {
	case j.state.Final():
		until = j.ended
	case j.stalled(v):
		until = j.lastEnd
	}
	for i := range j.tasks.groups {
		g := &j.tasks.groups[i]
		live := j.liveOf(g)
		for k := range g.phases {
			if j.skips(g, k) {
				continue
			}
			v.Phases = append(v.Phases, j.phaseView(g, k, live, until))
		}
	}
	j.expect(v, until, now)
	v.BytesIn, v.BytesOut = j.bytes()
}

// skips reports whether a phase is omitted: a job without reduces has nothing to merge.
func (j *Job) skips(g *group, k int) bool {
	p := &g.phases[k]
	return p.phase == job.PhaseMerge && j.work.Reduces == 0 && p.Time.Count == 0 && g.at[k+1] == 0
}

// bytes returns what the job read and wrote: maps read and the last kind of task
// writes; a bag's commands do both.
func (j *Job) bytes() (in, out int64) {
	if len(j.tasks.groups) == 0 {
		return 0, 0
	}
	first, last := &j.tasks.groups[0], &j.tasks.groups[len(j.tasks.groups)-1]
	switch {
	case first.kind == job.BagTask:
		c := &first.phases[first.index(job.PhaseCompute)-1]
		return c.BytesIn, c.BytesOut
	case last.kind == job.ReduceTask:
		return first.phases[0].BytesIn, last.phases[len(last.phases)-1].BytesOut
	default:
		return first.phases[0].BytesIn, first.phases[0].BytesOut
	}
}

func (j *Job) phaseView(g *group, k int, live [3][]*attempt, until job.Time) PhaseView {
	p, pos := &g.phases[k], k+1
	v := PhaseView{
		Phase: p.phase.String(), Total: g.total, Running: g.at[pos], Failed: g.at[posFailed],
		BytesIn: p.BytesIn, BytesOut: p.BytesOut, RecordsIn: p.RecordsIn, RecordsOut: p.RecordsOut,
		CPUS: round(p.CPU), PeakMem: p.MemoryMax,
		Seconds: Seconds{
			Mean: round(p.Time.Mean()), Max: round(p.Time.Max), Min: round(p.Time.Min),
			P50: round(p.Time.NearestRank(0.50)), P95: round(p.Time.NearestRank(0.95)),
		},
		FirstStart: stamp(p.first), LastEnd: stamp(p.last), Takes: p.takes(),
	}
	e := estimate{job: j, group: g, pos: pos, phase: p, live: live[k], ahead: slices.Concat(live[:k]...), now: until, nodes: j.coming(until)}
	v.Waiting, v.Done = e.left(), e.done()
	v.Progress, v.Rate, v.RateTasks = e.progress(), e.rate(), e.rateTasks()
	if j.state == event.StateRunning {
		if s, n, known := e.eta(); known {
			v.EtaS, v.AtLimit = &s, n
		}
	}
	return v
}

// liveOf returns the group's running attempts by the phase they are in.
func (j *Job) liveOf(g *group) [3][]*attempt {
	var by [3][]*attempt
	for _, a := range j.allRunning() { // in a fixed order: sums of floats depend on it
		if j.tasks.group(a.id.Task) == g {
			by[a.phase-1] = append(by[a.phase-1], a)
		}
	}
	return by
}

// runningViews returns the attempts that have run for longest, those first.
func (j *Job) runningViews(now job.Time) []RunningView {
	views, all := []RunningView{}, j.allRunning()
	age := func(a *attempt) float64 { return round(max(now.Sub(a.started), 0).Seconds()) }
	slices.SortStableFunc(all, func(a, b *attempt) int { return cmp.Compare(age(b), age(a)) })
	for _, a := range all[:min(len(all), maxRunning)] {
		g := j.tasks.group(a.id.Task)
		v := RunningView{
			Task: a.id.Task, Name: j.TaskName(a.id.Task), Input: j.taskInput(a.id.Task), Attempt: a.id.N,
			Node: string(a.node), Host: j.host(a.node), Phase: g.phases[a.phase-1].phase.String(),
			Seconds: age(a), BytesIn: a.bytesIn, BytesOut: a.bytesOut, Duplicate: a.duplicate, Status: a.status,
			Shares: j.shares(a),
		}
		if a.waits && int(a.phase) < len(g.phases) {
			v.Status = "waits to begin " + g.phases[a.phase].phase.String()
		}
		if a.fraction >= 0 {
			v.PhaseProgress = new(a.fraction)
		}
		if p, known := g.progress(a, now); known {
			v.Progress = new(round(p))
		}
		if end, known := g.end(a, now); known {
			v.EndExpected = end.Std()
		}
		if a.whole.Source != job.ProgressNone {
			v.Source = a.whole.Source.String()
		}
		views = append(views, v)
	}
	return views
}
