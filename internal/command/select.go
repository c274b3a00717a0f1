package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// shownOver is how many jobs that are over berth status lists: with those that are not over
// they fit a terminal.
const shownOver = 10

// selection is which jobs berth status lists. The zero value of cutoff is the beginning of time.
type selection struct {
	all    bool
	states []string
	since  string
	limit  int
	cutoff time.Time // that since stands for
}

func (s *selection) flags(c *cobra.Command) {
	c.Flags().BoolVar(&s.all, "all", false, "list all jobs")
	c.Flags().StringSliceVar(&s.states, "state", nil, "list only jobs in these states, separated by commas")
	c.Flags().StringVar(&s.since, "since", "", "list jobs that are not over, and jobs that ended within this time (2h, 3d) or after this date (2026-11-22, 2026-11-22 14:00)")
	c.Flags().IntVar(&s.limit, "limit", shownOver, "largest number of listed jobs that are over; the jobs that ended last are listed")
	c.MarkFlagsMutuallyExclusive("all", "limit")
	c.MarkFlagsMutuallyExclusive("all", "since")
}

// jobStates are the states that --state takes.
var jobStates = []string{
	string(event.StateQueued), string(event.StateRunning), string(event.StateStopping), string(event.StateFinalizing),
	string(event.StateDone), string(event.StateFailed), string(event.StateCancelled), report.StateInterrupted, report.StateDamaged,
}

// check checks the flags and reads what --since says at that time.
func (s *selection) check(cmd *cobra.Command, now time.Time) error {
	for _, state := range s.states {
		if !slices.Contains(jobStates, state) {
			return job.ArgumentError("", fmt.Sprintf("--state: %q is not a state of a job", state), "write one or more of "+strings.Join(jobStates, ", "))
		}
	}
	if s.limit < 0 {
		return job.ArgumentError("", fmt.Sprintf("--limit: %d is not a number of jobs", s.limit), "write a whole number from 0")
	}
	if s.since == "" {
		return nil
	}
	s.all = !cmd.Flags().Changed("limit")
	if at, ok := parse.Date(s.since); ok {
		s.cutoff = at.Std()
		return nil
	}
	d, err := parse.Duration("--since", s.since)
	if err != nil {
		return job.ArgumentError("", fmt.Sprintf("--since: %q is neither a time nor a date", s.since), "write 90m, 2h or 3d, or a date as 2026-11-22 or 2026-11-22 14:00")
	}
	s.cutoff = now.Add(-d)
	return nil
}

// takes reports whether a job is wanted, the limit apart.
func (s *selection) takes(v report.JobView) bool {
	return (len(s.states) == 0 || slices.Contains(s.states, v.State)) && (!over(v) || !v.Ended.Before(s.cutoff))
}

// filed is a run that is over and of which the coordinator has nothing any more.
type filed struct {
	run statedir.Run
	at  time.Time // when its summary was written, so not before it ended
}

// views returns the jobs that are wanted, and how many more of those that are over there are.
// Jobs are as the coordinator has them, where it runs, else as their folders tell. Those that
// cannot be read are among them, damaged. It reads no more summaries than it has to.
func (s *selection) views(ctx context.Context, h statedir.Home) (list []report.JobView, more int, err error) {
	present, ended, err := s.present(ctx, h)
	if err != nil {
		return nil, 0, err
	}
	var last []report.JobView
	for _, v := range present {
		switch {
		case !s.takes(v):
		case over(v):
			last = append(last, v)
		default:
			list = append(list, v)
		}
	}
	slices.SortFunc(ended, func(a, b filed) int { return b.at.Compare(a.at) })
	for i, f := range ended {
		if f.at.Before(s.cutoff) {
			break
		}
		if !s.all && len(s.states) == 0 && i == s.limit {
			more = len(ended) - i
			break
		}
		if v := folderView(f.run); s.takes(v) {
			last = append(last, v)
		}
	}
	slices.SortStableFunc(last, func(a, b report.JobView) int {
		return cmp.Or(b.Ended.Compare(a.Ended), cmp.Compare(statedir.RunNumber(b.ID), statedir.RunNumber(a.ID)))
	})
	if !s.all && len(last) > s.limit {
		more += len(last) - s.limit
		last = last[:s.limit]
	}
	return append(list, last...), more, nil
}

// present returns the jobs that the coordinator has and those that are not over, and the
// runs that are over besides.
func (s *selection) present(ctx context.Context, h statedir.Home) (present []report.JobView, ended []filed, err error) {
	live := map[job.ID]report.JobView{}
	jobs, err := control.NewClient(h.Socket()).Jobs(ctx)
	if err != nil && !lost(err) {
		return nil, nil, err
	}
	for _, v := range jobs {
		live[v.ID] = v
	}
	runs, err := h.List()
	if err != nil {
		return nil, nil, err
	}
	for i, end := range h.Ends(runs) {
		r := runs[i]
		if v, ok := live[r.ID]; ok {
			present = append(present, v)
			continue
		}
		if !end.IsZero() {
			ended = append(ended, filed{r, end})
		} else if whole(r) { // else its command is still writing its folder, or died at it
			present = append(present, folderView(r))
		}
	}
	return present, ended, nil
}

// folderView returns what a run's folder says of it, or why it cannot be read.
func folderView(r statedir.Run) report.JobView {
	v, err := rundir.View(r)
	if err != nil {
		v = rundir.Damaged(r, err)
	}
	return v
}
