package event

import (
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// Generators of records with values in their ranges.

func drawAttempt(t *rapid.T) job.Attempt {
	return job.Attempt{
		Job:  job.ID(rapid.StringMatching(`(bag|mapreduce)-[0-9]{1,6}`).Draw(t, "job")),
		Task: rapid.IntRange(0, 1<<31-1).Draw(t, "task"),
		N:    rapid.IntRange(0, 1000).Draw(t, "n"),
	}
}

func drawTask(t *rapid.T) int32 { return rapid.Int32Min(0).Draw(t, "task") }

func drawPhase(t *rapid.T) job.Phase {
	return rapid.SampledFrom([]job.Phase{
		job.PhaseNone, job.PhaseFetch, job.PhaseCompute, job.PhaseStore, job.PhaseMap,
		job.PhaseMerge, job.PhaseShuffle, job.PhaseSort, job.PhaseReduce,
	}).Draw(t, "phase")
}

func drawState(t *rapid.T) State {
	return rapid.SampledFrom([]State{
		StateQueued, StateRunning, StateStopping, StateDone, StateFailed, StateCancelled,
	}).Draw(t, "state")
}

func drawText(t *rapid.T) string { return rapid.StringN(0, 200, -1).Draw(t, "text") }

func drawResources(t *rapid.T) job.Resources {
	return job.Resources{CPUs: rapid.Int().Draw(t, "cpus"), Mem: rapid.Int64().Draw(t, "mem")}
}

func drawRequest(t *rapid.T) job.AllocRequest {
	return job.AllocRequest{
		On: drawText(t), Nodes: rapid.Int().Draw(t, "nodes"), PerNode: drawResources(t),
		Time: drawDuration(t), IdleTimeout: drawDuration(t),
		SortMemory: rapid.Int64().Draw(t, "sort"), Scratch: drawText(t),
		Rates:   job.NodeRates{Disk: drawList(t, drawRate), Net: drawList(t, drawRate)},
		Elastic: rapid.Bool().Draw(t, "elastic"), Batch: drawBatch(t), Start: job.Time(rapid.Int64().Draw(t, "start")),
		Latest: job.Time(rapid.Int64().Draw(t, "latest")),
	}
}

func drawRate(t *rapid.T) job.NodeRate {
	return job.NodeRate{Nodes: drawText(t), Bytes: rapid.Int64().Draw(t, "rate")}
}

func drawBatch(t *rapid.T) job.Batch {
	return job.Batch{
		Partition: drawText(t), Account: drawText(t), QOS: drawText(t), Constraint: drawText(t),
		Exclusive: rapid.Bool().Draw(t, "exclusive"), Args: drawList(t, drawText), Name: drawText(t),
	}
}

// drawList draws a short list; nil, as an empty one is not written, instead of one that is empty.
func drawList[E any](t *rapid.T, draw func(*rapid.T) E) []E {
	var list []E
	for range rapid.IntRange(0, 2).Draw(t, "length") {
		list = append(list, draw(t))
	}
	return list
}

func drawDuration(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "duration")) }

func drawWork(t *rapid.T) job.Work {
	return job.Work{
		ID: drawAttempt(t).Job, Name: drawText(t), Kind: rapid.SampledFrom([]job.Kind{job.Bag, job.MapReduce}).Draw(t, "kind"),
		Tasks: rapid.IntRange(0, 1<<31-1).Draw(t, "tasks"), Reduces: rapid.IntRange(0, 1<<31-1).Draw(t, "reduces"),
		Terms: drawTerms(t), SlowStart: rapid.Float64().Draw(t, "slow start"), Alloc: drawRequest(t), Followup: drawCourse(t),
		Curves: drawList(t, func(t *rapid.T) job.Curve {
			return job.Curve{Kind: job.MapTask, Source: job.ProgressIO, Marks: []float64{0, 0, 0, rapid.Float64Range(0, 1e9).Draw(t, "seconds"), 10, 2}}
		}),
		Memory: drawList(t, func(t *rapid.T) job.MemorySample {
			return job.MemorySample{Size: rapid.Int64Min(0).Draw(t, "size"), Peak: rapid.Int64Min(0).Draw(t, "peak"), Time: time.Second}
		}),
	}
}

func drawTerms(t *rapid.T) job.Terms {
	return job.Terms{Weight: rapid.Float64Range(0, job.MaxWeight).Draw(t, "weight"), Need: drawResources(t), ReduceNeed: drawResources(t),
		Attempts: rapid.Int().Draw(t, "attempts"), ReduceAttempts: rapid.Int().Draw(t, "reduce attempts"),
		MaxFails: rapid.IntMin(-1).Draw(t, "max fails"), Throttle: rapid.Int().Draw(t, "throttle")}
}

func drawCourse(t *rapid.T) job.Followup {
	return job.Followup{More: drawList(t, drawRequest), Scout: rapid.Int().Draw(t, "scout"), Idle: drawList(t, func(t *rapid.T) job.AllocID { return job.AllocID(drawText(t)) }), TaskTimes: drawTimes(t)}
}

func drawTimes(t *rapid.T) job.TaskTimes {
	return job.TaskTimes{TaskTime: drawDuration(t), ReduceTime: drawDuration(t), TaskMean: drawDuration(t), ReduceMean: drawDuration(t)}
}

func drawResumed(t *rapid.T) JobResumed {
	r := JobResumed{Job: drawAttempt(t).Job, Failed: rapid.Bool().Draw(t, "failed"), Alloc: drawRequest(t), Followup: drawCourse(t)}
	if rapid.Bool().Draw(t, "terms") {
		terms := drawTerms(t)
		r.Terms = &terms
	}
	return r
}

func drawStats(t *rapid.T) []job.PhaseStat {
	var stats []job.PhaseStat
	for range rapid.IntRange(0, 4).Draw(t, "stats") {
		stats = append(stats, job.PhaseStat{
			Phase: drawPhase(t), Start: job.Time(rapid.Int64().Draw(t, "start")), End: job.Time(rapid.Int64().Draw(t, "end")),
			BytesIn: rapid.Int64().Draw(t, "in"), BytesOut: rapid.Int64().Draw(t, "out"),
			RecordsIn: rapid.Int64().Draw(t, "rin"), RecordsOut: rapid.Int64().Draw(t, "rout"),
			CPU: drawDuration(t), PeakMemory: rapid.Int64().Draw(t, "peak"),
			DiskBytes: rapid.Int64().Draw(t, "disk"), NetBytes: rapid.Int64().Draw(t, "net"), Waited: drawDuration(t),
			Joules: rapid.Float64Range(0, 1e12).Draw(t, "joules"), Missing: job.ResourceSet(rapid.Byte().Draw(t, "missing")),
		})
	}
	return stats
}

func drawCounters(t *rapid.T) map[string]int64 {
	m := rapid.MapOfN(rapid.String(), rapid.Int64(), 0, 5).Draw(t, "counters")
	if len(m) == 0 {
		return nil // as an empty map is not written
	}
	return m
}

// drawRecord draws a record of the same type; nil if there is no such type.
func drawRecord(t *rapid.T, like Record) Record {
	switch like.(type) {
	case JobSubmitted:
		return JobSubmitted{Work: drawWork(t)}
	case JobResumed:
		return drawResumed(t)
	case TermsChanged:
		return TermsChanged{Job: drawAttempt(t).Job, Terms: drawTerms(t), PlaceOnly: rapid.Bool().Draw(t, "place only")}
	case JobStopping:
		return JobStopping{Job: drawAttempt(t).Job, State: drawState(t), Code: job.CodeIO, Reason: drawText(t)}
	case JobFollowed:
		return JobFollowed{Job: drawAttempt(t).Job, After: drawAttempt(t).Job}
	case TasksAdded:
		return TasksAdded{Job: drawAttempt(t).Job, N: rapid.IntRange(0, 1<<31-1).Draw(t, "tasks"), After: drawList(t, func(t *rapid.T) Comes {
			return Comes{Task: drawTask(t), After: []int32{drawTask(t), drawTask(t)}}
		})}
	case NeedsChanged:
		return NeedsChanged{Job: drawAttempt(t).Job, Index: uint16(rapid.IntRange(0, job.MaxNeeds).Draw(t, "index")), Task: int32(rapid.IntRange(AllTasks, 1<<31-1).Draw(t, "task")),
			Mem: rapid.Int64Min(0).Draw(t, "mem"), TimeLimit: time.Duration(rapid.Int64Min(0).Draw(t, "limit")), Reason: drawText(t)}
	case BagClosed:
		return BagClosed{Job: drawAttempt(t).Job}
	case TasksSkipped:
		return TasksSkipped{Job: drawAttempt(t).Job, Because: drawTask(t), Tasks: []int32{drawTask(t)}}
	case FilesTaken:
		return FilesTaken{Job: drawAttempt(t).Job, By: drawAttempt(t).Job, At: job.Time(rapid.Int64().Draw(t, "time")), Files: rapid.SliceOfN(rapid.Uint64(), 1, 4).Draw(t, "files")}
	case TasksCancelled:
		return TasksCancelled{Job: drawAttempt(t).Job, Tasks: []int32{drawTask(t)}, Reason: drawText(t)}
	case JobFinalizing:
		return JobFinalizing{Job: drawAttempt(t).Job}
	case JobEnded:
		return JobEnded{Job: drawAttempt(t).Job, State: drawState(t), Code: job.CodeFailed, Reason: drawText(t)}
	case AttemptStarted:
		return AttemptStarted{Attempt: drawAttempt(t), Node: job.NodeID(drawText(t)), Through: drawPhase(t), Commit: rapid.Bool().Draw(t, "commit"), Mem: rapid.Int64Min(0).Draw(t, "mem"),
			GPUs: drawGPUs(t), Gang: drawList(t, func(t *rapid.T) Share {
				return Share{Node: job.NodeID(drawText(t)), Ranks: rapid.IntRange(0, 1<<31-1).Draw(t, "ranks"), GPUs: drawGPUs(t)}
			})}
	case PhaseEntered:
		return PhaseEntered{Attempt: drawAttempt(t), Phase: drawPhase(t)}
	case PhaseGranted:
		return PhaseGranted{Attempt: drawAttempt(t), Phase: drawPhase(t)}
	case CommitGranted:
		return CommitGranted{Attempt: drawAttempt(t)}
	case AttemptEnded:
		return drawEnded(t)
	default:
		return drawOther(t, like)
	}
}

func drawGPUs(t *rapid.T) []uint16 {
	return drawList(t, func(t *rapid.T) uint16 { return rapid.Uint16().Draw(t, "GPU") })
}

func drawEnded(t *rapid.T) Record {
	return AttemptEnded{
		Attempt: drawAttempt(t), Outcome: rapid.SampledFrom([]Outcome{Done, Failed, Lost, Killed, Broken, Requeued, Outgrown}).Draw(t, "outcome"),
		Stats: drawStats(t), Exit: rapid.Int().Draw(t, "exit"), Signal: rapid.Int().Draw(t, "signal"),
		Reason: drawText(t), Stderr: drawText(t), Counters: drawCounters(t),
		Source: job.ProgressSource(rapid.IntRange(0, int(job.ProgressCPU)).Draw(t, "source")), N: rapid.Float64Range(0, 1e18).Draw(t, "progress"),
		Curve: rapid.SampledFrom([][]float64{nil, {0, 0, 0, 3.5, 10, 2}}).Draw(t, "curve"),
		Slow:  rapid.Bool().Draw(t, "slow"), Cut: rapid.Bool().Draw(t, "cut"),
		Lack: Lack(rapid.IntRange(0, int(LackTime)).Draw(t, "lack")), Last: rapid.Bool().Draw(t, "last"), Size: rapid.Int64Min(0).Draw(t, "size"),
		Expected: rapid.Float64Range(0, 1e9).Draw(t, "expected"), Left: drawText(t), Warning: drawText(t), LostOn: job.NodeID(drawText(t)),
		Outputs: rapid.SampledFrom([][]string{nil, {"out/a", "b"}}).Draw(t, "outputs"),
	}
}

func drawOther(t *rapid.T, like Record) Record {
	switch like.(type) {
	case OutputLost:
		a := drawAttempt(t)
		return OutputLost{Job: a.Job, Task: a.Task, Reason: drawText(t), Bad: rapid.Bool().Draw(t, "bad")}
	case OutputHeld:
		return OutputHeld{Attempt: drawAttempt(t), Node: job.NodeID(drawText(t))}
	case NodeJoined:
		return NodeJoined{Node: job.NodeID(drawText(t)), Host: drawText(t), Addr: drawText(t), Capacity: drawResources(t), Outputs: drawText(t)}
	case NodeLost:
		return NodeLost{Node: job.NodeID(drawText(t)), Gone: rapid.Bool().Draw(t, "gone"), Reason: drawText(t)}
	case AllocRequested:
		r := AllocRequested{Alloc: job.AllocID(drawText(t)), Request: drawRequest(t), Job: drawAttempt(t).Job, Beside: rapid.IntRange(0, 3).Draw(t, "beside")}
		for range rapid.IntRange(0, 2).Draw(t, "instead") {
			r.Instead = append(r.Instead, job.AllocID(drawText(t)))
		}
		return r
	case AllocEnded:
		return AllocEnded{Alloc: job.AllocID(drawText(t)), Reason: drawText(t), Unwanted: rapid.Bool().Draw(t, "unwanted"), Lost: rapid.Bool().Draw(t, "lost"),
			How: AllocEnd(rapid.IntRange(0, int(EndBroken)).Draw(t, "how")), Bad: drawText(t)}
	default:
		return drawElastic(t, like)
	}
}

// drawElastic draws a record that only elastic allocations bring.
func drawElastic(t *rapid.T, like Record) Record {
	switch like.(type) {
	case AllocBegan:
		return AllocBegan{Alloc: job.AllocID(drawText(t)), Ends: job.Time(rapid.Int64().Draw(t, "ends"))}
	case AllocCleared:
		return AllocCleared{Alloc: job.AllocID(drawText(t))}
	case AllocPaused:
		return AllocPaused{Alloc: job.AllocID(drawText(t)), Paused: rapid.Bool().Draw(t, "paused")}
	case AllocUsed:
		return AllocUsed{Alloc: job.AllocID(drawText(t)), Job: drawAttempt(t).Job, Until: job.Time(rapid.Int64().Draw(t, "until")), Held: rapid.Float64().Draw(t, "held"), Idle: rapid.Float64().Draw(t, "idle")}
	case JobPlanned:
		return JobPlanned{Job: drawAttempt(t).Job, Scout: rapid.Int().Draw(t, "scout"), Decision: drawText(t), TaskTimes: drawTimes(t), Most: drawDuration(t),
			Turnaround: job.Turnaround{Low: drawDuration(t), Up: drawDuration(t), Mean: drawDuration(t)}}
	default:
		return nil
	}
}

func drawEntry(t *rapid.T, like Record) Entry {
	return Entry{Seq: rapid.Uint64().Draw(t, "seq"), At: job.Time(rapid.Int64().Draw(t, "at")), Record: drawRecord(t, like)}
}
