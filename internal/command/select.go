package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
	All    bool `flag:"all" usage:"list all jobs"`
	states []string
	Since  string    `flag:"since" usage:"list jobs that are not over, and jobs that ended within this time (2h, 3d) or after this date (2026-11-22, 2026-11-22 14:00)"`
	Limit  int       `flag:"limit" usage:"largest number of listed jobs that are over; the jobs that ended last are listed"`
	cutoff time.Time // that Since stands for
	table  bool      // running attempts are not wanted
}

func (s *selection) flags(c *cobra.Command) {
	s.Limit = shownOver
	addFlags(c.Flags(), s)
	c.Flags().StringSliceVar(&s.states, "state", nil, "list only jobs in these states, separated by commas")
	c.MarkFlagsMutuallyExclusive("all", "limit")
	c.MarkFlagsMutuallyExclusive("all", "since")
}

// jobStates are the states that --state takes.
const jobStates = "queued, running, stopping, finalizing, done, failed, cancelled, interrupted, damaged"

// check checks the flags and reads what --since says at that time.
func (s *selection) check(cmd *cobra.Command, now time.Time) error {
	for _, state := range s.states {
		if !slices.Contains(strings.Split(jobStates, ", "), state) {
			return job.ArgumentError("", fmt.Sprintf("--state: %q is not a state of a job", state), "write one or more of "+jobStates)
		}
	}
	if s.Limit < 0 {
		return job.ArgumentError("", fmt.Sprintf("--limit: %d is not a number of jobs", s.Limit), "write a whole number from 0")
	}
	if s.Since == "" {
		return nil
	}
	s.All = !cmd.Flags().Changed("limit")
	if at, ok := parse.Date(s.Since); ok {
		s.cutoff = at.Std()
		return nil
	}
	d, err := parse.Duration("--since", s.Since)
	if err != nil {
		return job.ArgumentError("", fmt.Sprintf("--since: %q is neither a time nor a date", s.Since), "write 90m, 2h or 3d, or a date as 2026-11-22 or 2026-11-22 14:00")
	}
	s.cutoff = now.Add(-d)
	return nil
}

// takes reports whether a job is wanted, the limit apart.
func (s *selection) takes(v report.JobView) bool {
	return (len(s.states) == 0 || slices.Contains(s.states, string(v.State))) && (!over(v) || !v.Ended.Before(s.cutoff))
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
		if !s.All && len(s.states) == 0 && i == s.Limit {
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
	if !s.All && len(last) > s.Limit {
		more += len(last) - s.Limit
		last = last[:s.Limit]
	}
	return append(list, last...), more, nil
}

// present returns the jobs that the coordinator has and those that are not over, and the
// runs that are over besides.
func (s *selection) present(ctx context.Context, h statedir.Home) (present []report.JobView, ended []filed, err error) {
	l, err := control.NewClient(h).List(ctx, !s.table, "")
	if err != nil && !lost(err) {
		return nil, nil, err
	}
	runs, err := h.List()
	if err != nil {
		return nil, nil, err
	}
	live, at := map[job.ID]report.JobView{}, make(map[job.ID]time.Time, len(l.Filed.IDs))
	for _, v := range l.Jobs.Jobs {
		live[v.ID] = v
	}
	for i, id := range l.Filed.IDs {
		at[id] = time.Unix(0, l.Filed.At[i])
	}
	var asked []statedir.Run // of which the coordinator knows nothing
	for _, r := range runs {
		if v, ok := live[r.ID]; ok {
			present = append(present, v)
		} else if end, ok := at[r.ID]; ok {
			ended = append(ended, filed{r, end})
		} else {
			asked = append(asked, r)
		}
	}
	for i, end := range h.Ends(asked) {
		if r := asked[i]; !end.IsZero() {
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
