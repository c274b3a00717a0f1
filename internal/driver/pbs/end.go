package pbs

import (
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// startPatience is how long a host has to start a job. A server that is killed while it gives a job to its hosts may leave it for good
// in a state in which it runs, but was never started.
const startPatience = 5 * time.Minute

// status returns the state of one of berth's jobs at the time now.
func (r record) status(now job.Time) batch.Status {
	start, span := parseTime(r["stime"]), parseSpan(r["Resource_List.walltime"])
	st := batch.Status{Start: start, Hosts: parseHosts(r["exec_host"])}
	if start > 0 && span > 0 {
		st.End = start.Add(span)
	}
	state := r["job_state"]
	switch st.Phase = states.Phase(state); st.Phase {
	case batch.Waiting:
		st.Why, st.Start, st.End = waitsFor(r), parseTime(r["estimated.start_time"]), 0
		st.Never = strings.HasPrefix(r["comment"], never)
	case batch.Running:
		switch provisioning := r["substate"] == "71"; {
		case !provisioning && start == 0 && now > parseTime(r["mtime"]).Add(startPatience):
			st.Phase, st.Verdict = batch.Ending, batch.Taken("its nodes have not started it for "+job.FormatDuration(startPatience))
		case provisioning || start == 0: // or it is being sent to its nodes
			st.Phase = batch.Starting
		}
	case batch.Over:
		st.End = max(parseTime(r["obittime"]), parseTime(r["mtime"]))
	case batch.Gone, batch.Odd:
		st.Phase, st.Why = batch.Odd, "suspended (state "+state+")"
	}
	return st
}

// Exit statuses of jobs that PBS itself ended. A job that a signal ended has that of its shell, or 256 and the signal.
const (
	exitWallTime = -29
	exitMemory   = -27
	exitVMemory  = -26
	exitSignal   = 256
	exitNotFound = 127 // of a shell that does not find what it is to run
)

// verdict returns the reason why a job ended or is ending, as the history shows it. While it is ending, PBS may not know it yet.
func verdict(j batch.Job, r record) batch.Verdict {
	text, known := r["Exit_status"]
	exit, err := strconv.Atoi(text)
	known = known && err == nil
	_, by, cancelled := strings.Cut(r["comment"], "terminated by ")
	by, _, _ = strings.Cut(by, "@")
	_, exceeded, _ := strings.Cut(r["comment"], "exceeded resource ")
	switch {
	case exit == exitWallTime || strings.HasPrefix(exceeded, "walltime"):
		return batch.Verdict{Reason: batch.TimePassed(batch.Rounded(j.Request.Time, grain))}
	case exit == exitMemory || exit == exitVMemory || strings.HasPrefix(exceeded, "mem") || strings.HasPrefix(exceeded, "vmem"):
		return batch.Verdict{Reason: batch.OutOfMemory(j.Request)}
	case exceeded != "":
		return batch.Verdict{Reason: "it used more than it requested of " + exceeded}
	case cancelled:
		return batch.Taken("it was cancelled by user " + by)
	case !known && r["job_state"] == "F":
		return batch.Taken("it was cancelled before it started")
	case !known:
		return batch.Verdict{Script: r["job_state"] == "E"}
	case exit == exitNotFound && batch.LastWords(j.Output) == batch.NoOutput:
		return batch.Verdict{Reason: "its node did not have its script"}
	case exit < 0:
		return batch.Verdict{Reason: strings.TrimSuffix("a node of it failed, or could not run it: "+strings.Join(parseHosts(r["exec_host"]), ", "), ": ")}
	case exit >= exitSignal && !batch.WorkersEnded(j.Dir):
		return batch.Verdict{Reason: "its script was ended by signal " + strconv.Itoa(exit-exitSignal) + ", and not by berth"}
	}
	return batch.Exited(exit, j.Output)
}
