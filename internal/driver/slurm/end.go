package slurm

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"berth/internal/driver/batch"
	"berth/internal/job"
)

// account returns how a job ended that slurmctld has forgotten, as far as accounting
// knows; its state is "" where nobody does. sacct heeds no SLURM_CLUSTERS.
func (s *System) account(ctx context.Context, id string) watched {
	c, err := s.config(ctx)
	if err != nil || !c.accounting {
		return watched{}
	}
	out, err := s.run(ctx, "sacct", "--noheader", "--parsable2", "--allocations", "--clusters="+c.cluster, "--jobs="+id, "--format=State,Reason,ExitCode,End")
	if err != nil {
		return watched{}
	}
	return parseAccount(out)
}

// parseAccount reads a line "CANCELLED by 1000|None|0:15|1795231277" of sacct.
func parseAccount(out string) watched {
	line, _, _ := strings.Cut(out, "\n")
	f := strings.Split(line, "|")
	if len(f) != 4 {
		return watched{}
	}
	w := watched{state: f[0], reason: f[1], end: parseTime(f[3])}
	w.exit, w.signal = parseExit(f[2])
	return w
}

// verdict returns why a job ended or is ending.
func verdict(j batch.Job, w watched) batch.Verdict {
	state, by, _ := strings.Cut(w.state, " by ")
	text := output(j.Output)
	if state == "COMPLETING" || state == "" {
		state = logState(text, w)
	}
	if outOfMemory(j, state, text) {
		return batch.Verdict{Reason: memoryWords(j.Request)}
	}
	switch state {
	case "TIMEOUT":
		return batch.Verdict{Reason: "its time limit of " + job.FormatDuration(limit(j.Request)) + " has passed"}
	case "PREEMPTED":
		return batch.Verdict{Reason: "it was preempted by another job"}
	case "NODE_FAIL":
		return batch.Verdict{Reason: strings.TrimSuffix("the node that ran its script failed: "+batch.Host(j.Dir, 0), ": ")} // of others it can do without
	case "DEADLINE":
		return batch.Verdict{Reason: "its deadline has passed"}
	case "BOOT_FAIL", "LAUNCH_FAILED":
		return batch.Verdict{Reason: "its nodes did not start"}
	case "CANCELLED":
		if by != "" {
			return batch.Verdict{Reason: "it was cancelled by user " + by}
		}
		return batch.Verdict{Reason: "it was cancelled, and not by berth"}
	case "COMPLETED", "FAILED", "OUT_OF_MEMORY":
		return batch.Verdict{Script: true, Failed: state != "COMPLETED", Exit: w.exit, Output: lastWords(j.Output)}
	case "":
		return batch.Verdict{}
	}
	return batch.Verdict{Reason: "it ended in state " + strings.ToLower(state)}
}

// memoryKills are what slurmstepd writes in a job's output when it has ended a step that used more memory than it was given
// (JobAcctGatherParams=OverMemoryKill), or has found that the kernel has ended some of its processes (task/cgroup); there are two spellings.
var memoryKills = []string{"xceeded memory limit", "oom-kill event", "oom_kill event"}

// killedForMemory reports whether the output of a job says so.
func killedForMemory(text string) bool {
	return slices.ContainsFunc(memoryKills, func(said string) bool { return strings.Contains(text, said) })
}

// outOfMemory reports whether a job in that state ended for lack of memory. The kernel may have ended a task of a job that
// went on, and Slurm calls that job out of memory when its workers have ended by themselves.
func outOfMemory(j batch.Job, state, text string) bool {
	switch state {
	case "OUT_OF_MEMORY", "FAILED":
		return !workersEnded(j.Dir) && (state == "OUT_OF_MEMORY" || killedForMemory(text))
	}
	return false
}

// workersEnded reports whether a worker of the allocation has come to its end, or was given up.
func workersEnded(dir string) bool {
	entries, _ := os.ReadDir(dir) // none can be read where the folder is gone
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasSuffix(e.Name(), batch.EndedEnd) || strings.HasSuffix(e.Name(), batch.FailedEnd)
	})
}

// memoryWords says that a job ran out of memory, and what helps.
func memoryWords(req job.AllocRequest) string {
	had := ""
	if req.PerNode.Mem > 0 {
		had = " than the " + job.FormatSize(req.PerNode.Mem) + " it had on a node"
	}
	return "it ran out of memory: its tasks took more" + had + "; give each task more by --mem, or run fewer at once on a node"
}

// limit returns the wall time that was asked for, as Slurm takes it.
func limit(req job.AllocRequest) time.Duration {
	return time.Duration(ceil(int64(req.Time), int64(grain))) * grain
}

// output returns what a job has printed, "" where that cannot be read.
func output(log string) string {
	b, err := os.ReadFile(log)
	if err != nil {
		return ""
	}
	return string(b)
}

// logState returns the state that what slurmstepd wrote in the job's output amounts to, ""
// where it wrote nothing: while a job is ending, Slurm shows no other state.
func logState(text string, w watched) string {
	if w.reason == "TimeLimit" {
		return "TIMEOUT"
	}
	for _, m := range []struct{ said, state string }{
		{memoryKills[0], "OUT_OF_MEMORY"}, {"DUE TO TIME LIMIT", "TIMEOUT"}, {"DUE TO PREEMPTION", "PREEMPTED"}, {"DUE TO NODE FAILURE", "NODE_FAIL"}, {" CANCELLED AT ", "CANCELLED"},
	} {
		if strings.Contains(text, m.said) {
			return m.state
		}
	}
	switch {
	case w.state != "COMPLETING":
		return ""
	case w.exit != 0 || w.signal != 0:
		return "FAILED"
	}
	return "COMPLETED"
}

// lastWords returns the last line of a job's output that tells something. On clusters that
// bind nothing srun says so of --cpu-bind=none.
func lastWords(log string) string {
	b, err := os.ReadFile(log)
	if err != nil {
		return "its output cannot be read: " + err.Error()
	}
	last := "its output is empty"
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "lacks support for cpu binding") {
			last = line
		}
	}
	return last
}
