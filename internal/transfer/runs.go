package transfer

import (
	"os"
	"slices"

	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/process"
)

// Runs are the jobs of a user that one host may have tasks of, by their runs' folders.
type Runs struct {
	Home home.Home
	On   string // place of the host's allocation
	Host string // as the user calls it
}

var _ Jobs = Runs{}

// Check returns an error for a job that is not there or over: what it left is not to be written to any more.
func (r Runs) Check(id job.ID) error {
	if home.RunNumber(id) == 0 {
		return process.Broken("%q is no job's id", id)
	}
	if _, err := os.Lstat(r.Home.Run(id).Summary()); err == nil {
		return lost("%s is over", id)
	}
	return nil
}

// Open reads a job. One that is to run elsewhere is refused.
func (r Runs) Open(id job.ID) (*Job, error) {
	spec, tasks, err := r.Home.Run(id).Load()
	if err != nil {
		return nil, err
	}
	hosts := spec.Request.Remote.Hosts
	if spec.Request.On != "auto" && spec.Request.On != r.On || len(hosts) > 0 && !slices.ContainsFunc(hosts, func(h job.Host) bool { return h.Name == r.Host }) {
		return nil, process.Broken("%s does not run on host %s", id, r.Host)
	}
	return &Job{Spec: spec, Entries: tasks.Entries}, nil
}
