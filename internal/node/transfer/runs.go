package transfer

import (
	"os"
	"slices"

	"berth/internal/core/job"
	"berth/internal/node/process"
	"berth/internal/sys/statedir"
)

// Runs finds jobs by the folders of a user's runs, for one host.
type Runs struct {
	Home   statedir.Home
	Host   string // the name that the user gave it
	Rented bool   // it is a rented machine, which serves jobs that name types of machines
}

var _ Jobs = Runs{}

// Check returns an error for a job that does not exist or is over: the files of such a job may not change.
func (r Runs) Check(id job.ID) error {
	if statedir.RunNumber(id) == 0 {
		return process.Broken("%q is no job's id", id)
	}
	if _, err := os.Lstat(r.Home.Run(id).Summary()); err == nil {
		return lost("%s is over", id)
	}
	return nil
}

// Open reads a job. It returns an error for a job that does not run on this host.
func (r Runs) Open(id job.ID) (*Job, error) {
	spec, tasks, err := r.Home.Run(id).Load()
	if err != nil {
		return nil, err
	}
	on := &spec.Request.Remote
	if named := slices.ContainsFunc(on.Hosts, func(h job.Host) bool { return h.Name == r.Host }); !named && (!r.Rented || len(on.Rent.Machines) == 0) {
		return nil, process.Broken("%s does not run on host %s", id, r.Host)
	}
	return &Job{Spec: spec, Tasks: tasks, Logs: r.Home.Run(id).Logs()}, nil
}
