package slurm

import (
	"context"
	"os"
	"strings"

	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// account returns how a job ended that slurmctld has forgotten, from accounting. The state is ""
// if accounting does not know the job. sacct ignores SLURM_CLUSTERS.
func (s *System) account(ctx context.Context, id string) watched {
	c, err := s.config(ctx)
	if err != nil || !c.accounting {
		return watched{}
	}
	out, err := s.Output(ctx, strings.Fields("sacct --noheader --parsable2 --allocations --clusters="+c.cluster+" --jobs="+id+" --format=State,Reason,ExitCode")...)
	if err != nil {
		return watched{}
	}
	return parseAccount(out)
}

// parseAccount reads a line of sacct's output, such as "CANCELLED by 1000|None|0:15".
func parseAccount(out string) (w watched) {
	for _, f := range barred(out, 3) {
		w = watched{state: f[0], reason: f[1]}
		w.exit, w.signal = parseExit(f[2])
		break
	}
	return w
}

// verdict returns the reason why a job ended or is ending.
func verdict(j batch.Job, w watched) batch.Verdict {
	state, by, _ := strings.Cut(w.state, " by ")
	output, _ := os.ReadFile(j.Output) // it may not be there
	text := string(output)
	if state == "COMPLETING" || state == "" {
		state = logState(text, w)
	}
	if outOfMemory(j, state, text) {
		return batch.Verdict{Reason: batch.OutOfMemory(j.Request)}
	}
	switch state {
	case "TIMEOUT":
		return batch.Verdict{Reason: batch.TimePassed(batch.Rounded(j.Request.Time, grain))}
	case "NODE_FAIL":
		return batch.Taken(batch.NodeFailed(batch.Host(j.Dir, 0))) // a job survives the failure of its other nodes
	case "DEADLINE":
		return batch.Verdict{Reason: "its deadline has passed"}
	case "CANCELLED":
		if by != "" {
			return batch.Taken("it was cancelled by user " + by)
		}
		return batch.Taken("it was cancelled, and not by berth")
	case "COMPLETED", "FAILED", "OUT_OF_MEMORY":
		v := batch.Exited(w.exit, j.Output, noise...)
		v.Failed = state != "COMPLETED" // also by a signal
		return v
	case "":
		return batch.Verdict{}
	}
	if reason := taken.Of(state); reason != "" {
		return batch.Taken(reason)
	}
	return batch.Verdict{Reason: "it ended in state " + strings.ToLower(state)}
}

const taken driver.Table = `
PREEMPTED = it was preempted by another job
BOOT_FAIL = its nodes did not start
LAUNCH_FAILED = its nodes did not start
`

// noise is in srun's message about --cpu-bind=none on clusters that bind no processes, and in that of our script, which follows srun's own.
var noise = []string{"lacks support for cpu binding", "before its workers did"}

// memoryKills are the messages that slurmstepd writes to a job's output when it has ended a step that used more memory than allocated
// (JobAcctGatherParams=OverMemoryKill), or when the kernel has ended some of its processes (task/cgroup). The latter has two spellings.
var memoryKills = driver.Says(overMemory + `|oom[-_]kill event`)

const overMemory = "xceeded memory limit"

// outOfMemory reports whether a job in this state ended for lack of memory. If its workers have ended by themselves, it did not:
// the kernel may have ended only a task, which Slurm then reports as the job's state.
func outOfMemory(j batch.Job, state, text string) bool {
	return (state == "OUT_OF_MEMORY" || state == "FAILED" && memoryKills(text)) && !batch.WorkersEnded(j.Dir)
}

// logState derives a job's state from slurmstepd's messages in the job's output, or returns "" if it has none.
// It is needed because Slurm shows no other state than COMPLETING while a job is ending.
func logState(text string, w watched) string {
	if w.reason == "TimeLimit" {
		return "TIMEOUT"
	}
	switch said := logStates.First(func(said string) bool { return strings.Contains(text, said) }); {
	case said != "" || w.state != "COMPLETING":
		return said
	case w.exit != 0 || w.signal != 0:
		return "FAILED"
	}
	return "COMPLETED"
}

// logStates are the states by slurmstepd's messages.
const logStates driver.Table = `
xceeded memory limit = OUT_OF_MEMORY
DUE TO TIME LIMIT = TIMEOUT
DUE TO PREEMPTION = PREEMPTED
DUE TO NODE FAILURE = NODE_FAIL
CANCELLED AT = CANCELLED
`
