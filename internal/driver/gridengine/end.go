package gridengine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// gone returns the state of a job that qstat does not show. Its script has written its exit status if it has ended by itself. Else
// the accounting knows the end, which is written some seconds later; it has nothing about jobs that were deleted while
// they waited.
func (s *System) gone(ctx context.Context, j batch.Job) batch.Status {
	st := batch.Status{Phase: batch.Gone}
	if !j.Explain {
		return st
	}
	if exit, ok := scriptExit(j.Dir); ok {
		st.Verdict = batch.Exited(exit, j.Output)
		return st
	}
	for try := 0; ; try++ {
		if r, ok := s.account(ctx, j); ok {
			st.Verdict = r.verdict(j)
			return st
		}
		if batch.Host(j.Dir, 0) == "" {
			st.Verdict = batch.Taken("it was cancelled before it started")
			return st
		}
		if try == accountTries {
			return st
		}
		select {
		case <-ctx.Done():
			return st
		case <-time.After(time.Second):
		}
	}
}

// accountTries is how often qacct is asked again, a second later each time.
const accountTries = 8

// scriptExit returns the exit status that a job's script has written.
func scriptExit(dir string) (exit int, ok bool) {
	text, err := os.ReadFile(filepath.Join(dir, exitFile))
	if err != nil {
		return 0, false
	}
	exit, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return exit, err == nil
}

// ended is what the accounting says about the end of a job.
type ended struct {
	name   string
	failed int // a code of Grid Engine's own; 0: its script ended by itself
	why    string
	exit   int
	host   string
	ran    time.Duration
	limit  time.Duration // h_rt; 0: none
}

// account asks the accounting for a job.
func (s *System) account(ctx context.Context, j batch.Job) (ended, bool) {
	out, err := s.Output(ctx, "qacct", "-j", j.ID)
	if err != nil {
		return ended{}, false
	}
	return lastOf(parseAccounts(out), j)
}

// lastOf returns the last of the records that is of the job: ids repeat.
func lastOf(all []ended, j batch.Job) (found ended, ok bool) {
	for _, e := range all {
		if ours(&row{Name: e.name}, j) {
			found, ok = e, true
		}
	}
	return found, ok
}

// parseAccounts reads qacct -j.
func parseAccounts(out string) (all []ended) {
	for _, f := range parseObjects(out) {
		if f["jobnumber"] == "" {
			continue
		}
		code, why, _ := strings.Cut(f["failed"], ":")
		exit, _, _ := strings.Cut(f["exit_status"], " ")
		e := ended{name: f["jobname"], failed: parseCount(strings.TrimSpace(code)), why: strings.TrimSpace(why), exit: parseCount(exit), host: f["hostname"]}
		if start, end := accountTime(f["start_time"]), accountTime(f["end_time"]); start > 0 && end > start {
			e.ran = end.Sub(start)
		}
		for want := range strings.FieldsSeq(strings.ReplaceAll(f["category"], ",", " ")) {
			if text, ok := strings.CutPrefix(want, "h_rt="); ok {
				e.limit = parseSpan(text)
			}
		}
		all = append(all, e)
	}
	return all
}

// accountTime reads a time of qacct, in the formats of Son of and of Univa Grid Engine.
func accountTime(text string) job.Time {
	return batch.Time(text, time.ANSIC, "01/02/2006 15:04:05")
}

// Codes of "failed" in the accounting.
const (
	failedUnknown = 19  // before the script's end was written: its host failed
	failedLimit   = 37  // the qmaster ended it at a limit, as its node had not
	failedLater   = 100 // the script was killed: for its wall time, by qdel, or for its memory
)

// verdict returns the reason why a job ended. The accounting does not tell the wall time from a deletion: the run time does.
func (e ended) verdict(j batch.Job) batch.Verdict {
	limit := e.limit
	if limit == 0 {
		limit = j.Request.Time
	}
	switch {
	case e.failed == 0:
		v := batch.Exited(e.exit, j.Output)
		if v.Failed && v.Output == batch.NoOutput {
			v.Output = "no line of it ran, as where a login script (.profile, .cshrc) or the queue's starter_method ends the job"
		}
		return v
	case (e.failed == failedLater || e.failed == failedLimit) && limit > 0 && e.ran >= limit:
		return batch.Verdict{Reason: batch.TimePassed(limit)}
	case e.failed == failedLimit:
		return batch.Verdict{Reason: batch.OutOfMemory(j.Request)}
	case e.failed == failedLater:
		return batch.Taken("it was cancelled (qdel), or killed on its node")
	case e.failed == failedUnknown || e.failed == 22 || e.failed == 21:
		return batch.Taken(batch.NodeFailed(e.host))
	}
	return batch.Verdict{Reason: fmt.Sprintf("Grid Engine could not run it on %s (code %d): %s", e.host, e.failed, e.why)}
}
