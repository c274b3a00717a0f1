package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/driver"
	"berth/internal/job"
)

// account returns how a job ended that slurmctld has forgotten, as far as accounting
// knows; its state is "" where nobody does.
func (d *Driver) account(ctx context.Context, a *alloc) watched {
	s, err := d.theSite(ctx)
	if err != nil || !s.accounting {
		return watched{}
	}
	out, err := d.client().run(ctx, "sacct", "--noheader", "--parsable2", "--allocations", "--jobs="+a.job, "--format=State,Reason,ExitCode,End")
	if err != nil {
		d.opts.Log.Info("accounting does not tell how a job ended", "job", a.job, "err", err)
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
	w.status, w.signal = parseExit(f[2])
	return w
}

// ended returns why a job ended, in plain words. It is refused for good where its workers
// cannot run: another job would end like this one.
func ended(a *alloc, w watched, now job.Time) end {
	state, by, _ := strings.Cut(w.state, " by ")
	if state == "COMPLETING" || state == "" {
		state = logState(filepath.Join(a.dir, slurmLog), w)
	}
	switch state {
	case "TIMEOUT":
		return end{reason: "its time limit of " + job.FormatDuration(a.limit()) + " has passed"}
	case "PREEMPTED":
		return end{reason: "it was preempted by another job"}
	case "NODE_FAIL":
		return end{reason: strings.TrimSuffix("the node that ran its script failed: "+a.host(0), ": ")} // of others it can do without
	case "OUT_OF_MEMORY":
		return end{reason: "it ran out of memory"}
	case "DEADLINE":
		return end{reason: "its deadline has passed"}
	case "BOOT_FAIL", "LAUNCH_FAILED":
		return end{reason: "its nodes did not start"}
	case "CANCELLED":
		if by != "" {
			return end{reason: "it was cancelled by user " + by}
		}
		return end{reason: "it was cancelled, and not by berth"}
	case "COMPLETED", "FAILED":
		return finished(a, state, w.status)
	case "":
		if a.ends > 0 && now >= a.ends {
			return end{reason: "its time limit has passed"}
		}
		return end{reason: "Slurm does not know it any more"}
	}
	return end{reason: "it ended in state " + strings.ToLower(state)}
}

// tellTime is how long it is waited for that somebody tells why a job is ending.
const tellTime = time.Minute

// untold reports whether a job is ending and nothing tells why as yet: the controller knows
// that a job was cancelled, or preempted, a moment before its node writes so, and shows of it
// no more than of one whose script has ended well. The lock is held.
func (a *alloc) untold(w watched, now job.Time) bool {
	if w.state != "COMPLETING" {
		return false
	}
	if a.ending == 0 {
		a.ending = now
	}
	return now.Sub(a.ending) < tellTime && logState(filepath.Join(a.dir, slurmLog), w) == "COMPLETED" && !a.leftByWorkers()
}

// limit returns the wall time that was asked for, as Slurm takes it.
func (a *alloc) limit() time.Duration {
	return time.Duration(ceil(int64(a.req.Time), int64(grain))) * grain
}

// finished returns why a job's script came to its end with that status.
func finished(a *alloc, state string, status int) end {
	if rank := a.gaveUp(); rank >= 0 {
		return end{reason: fmt.Sprintf("the worker of %s ends as soon as it starts: %s", a.id.Node(rank), driver.LastLine(a.file(rank, logEnd))), refuse: true}
	}
	if state == "COMPLETED" && a.began() {
		return end{reason: "its workers have ended"}
	}
	said := lastWords(filepath.Join(a.dir, slurmLog))
	if !a.began() {
		return end{refuse: true, reason: fmt.Sprintf("its script ended before any worker began (status %d): %s; do nodes see %s under this path?", status, said, a.dir)}
	}
	return end{reason: fmt.Sprintf("its script ended with status %d: %s", status, said)}
}

// logState returns the state that what slurmstepd wrote in the job's output amounts to, ""
// where it wrote nothing: while a job is ending, Slurm shows no other state.
func logState(log string, w watched) string {
	if w.reason == "TimeLimit" {
		return "TIMEOUT"
	}
	b, err := os.ReadFile(log)
	if err != nil {
		return ""
	}
	text := string(b)
	for _, m := range []struct{ said, state string }{
		{"DUE TO TIME LIMIT", "TIMEOUT"}, {"DUE TO PREEMPTION", "PREEMPTED"}, {"DUE TO NODE FAILURE", "NODE_FAIL"}, {" CANCELLED AT ", "CANCELLED"},
	} {
		if strings.Contains(text, m.said) {
			return m.state
		}
	}
	switch {
	case w.state != "COMPLETING":
		return ""
	case w.status != 0 || w.signal != 0:
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
	last := "it says nothing"
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "lacks support for cpu binding") {
			last = line
		}
	}
	return last
}
