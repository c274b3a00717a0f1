package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// whole reports whether the command that made a run's folder came to its end.
func whole(r statedir.Run) bool {
	_, err := os.Stat(r.Plan()) // it is written last
	return err == nil || rundir.HandedIn(r)
}

// find returns the run that a user names: by id, by number, or "last".
func find(h statedir.Home, name string) (statedir.Run, error) {
	runs, err := h.List()
	if err != nil {
		return statedir.Run{}, err
	}
	for _, r := range slices.Backward(runs) {
		named := name == "last" || string(r.ID) == name || strconv.Itoa(statedir.RunNumber(r.ID)) == name
		if named && whole(r) {
			return r, nil
		}
	}
	if name == "last" {
		return statedir.Run{}, job.ArgumentError("", "there are no jobs yet", "")
	}
	return statedir.Run{}, job.ArgumentError("", "no job "+name, "berth status lists the jobs there are")
}

// view returns one job as it is now.
func view(ctx context.Context, r statedir.Run) (report.JobView, error) {
	jobs, err := control.NewClient(r.Home).Job(ctx, r.ID)
	return viewIn(jobs, err, r)
}

// brief is view with what lists have.
func brief(ctx context.Context, r statedir.Run) (report.JobView, error) {
	l, err := control.NewClient(r.Home).List(ctx, false, r.ID)
	return viewIn(l.Jobs.Jobs, err, r)
}

// viewIn returns one of the jobs that the coordinator has, or what the folder of another one says. err is the coordinator's.
func viewIn(jobs []report.JobView, err error, r statedir.Run) (report.JobView, error) {
	if err != nil && !lost(err) {
		return report.JobView{}, err
	}
	for _, v := range jobs {
		if v.ID == r.ID {
			return v, nil
		}
	}
	return rundir.View(r)
}

// lost reports whether an error means that there is no coordinator, or not any more.
func lost(err error) bool {
	return errors.Is(err, control.ErrLost) || errors.Is(err, control.ErrNoServer)
}

// withoutMissingOutput returns the view of a job without a folder of output that does not exist, as that of a bag whose tasks
// printed nothing.
func withoutMissingOutput(v report.JobView) report.JobView {
	if v.Kind != job.Bag || !over(v) || v.Output == "" {
		return v
	}
	if _, err := os.Stat(v.Output); errors.Is(err, fs.ErrNotExist) {
		v.Output = ""
	}
	return v
}

// over reports whether a job has ended.
func over(v report.JobView) bool { return v.State.Final() }
