package main

import (
	"context"
	"errors"

	"berth/internal/control"
	"berth/internal/event"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/report"
	"berth/internal/run"
)

// views returns all jobs, newest last: as the coordinator has them, where it
// runs, else as their folders tell.
func views(ctx context.Context, h home.Home) ([]report.JobView, error) {
	live := map[job.ID]report.JobView{}
	jobs, err := control.NewClient(h.Socket()).Jobs(ctx)
	if err != nil && !errors.Is(err, control.ErrNoServer) {
		return nil, err
	}
	for _, v := range jobs {
		live[v.ID] = v
	}
	runs, err := h.List()
	if err != nil {
		return nil, err
	}
	all := []report.JobView{}
	for _, r := range runs {
		v, ok := live[r.ID]
		if !ok {
			if v, err = run.View(r); err != nil {
				return nil, err
			}
		}
		all = append(all, v)
	}
	return all, nil
}

// find returns the run that a user names: by id, by number, or "last".
func find(h home.Home, name string) (home.Run, error) {
	runs, err := h.List()
	if err != nil {
		return home.Run{}, err
	}
	if name == "last" && len(runs) > 0 {
		return runs[len(runs)-1], nil
	}
	for _, r := range runs {
		if string(r.ID) == name || home.NumberName(r.ID) == name {
			return r, nil
		}
	}
	return home.Run{}, &job.Error{Class: job.User, Code: job.CodeArguments, What: "no job " + name, Do: "berth status lists the jobs there are"}
}

// view returns one job as it is now.
func view(ctx context.Context, h home.Home, r home.Run) (report.JobView, error) {
	jobs, err := control.NewClient(h.Socket()).Jobs(ctx)
	if err != nil && !errors.Is(err, control.ErrNoServer) {
		return report.JobView{}, err
	}
	for _, v := range jobs {
		if v.ID == r.ID {
			return v, nil
		}
	}
	return run.View(r)
}

// over reports whether a job has ended.
func over(v report.JobView) bool { return event.State(v.State).Final() }
