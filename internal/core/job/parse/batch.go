package parse

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/core/job"
)

// BatchSystem has the names that a batch system has on a command line. They come from its driver.
type BatchSystem struct {
	Name    string   // of the backend, as in --on: "slurm"
	Flag    string   // the flag with which users give arguments to Command: "sbatch-arg"
	Command string   // the command that submits jobs: "sbatch"
	Own     []string // arguments of Command that berth sets itself. A second value would contradict it.
	// Elsewhere has the arguments that send a job to another cluster, whose queue berth would not read. Choose says how users
	// name a cluster instead.
	Elsewhere []string
	Choose    string
	// NoQOS says that the batch system has no quality of service, so that --qos is refused.
	NoQOS bool
}

// placeUsage returns the help text of --on.
func placeUsage(systems []BatchSystem) string {
	var names, tried string
	for _, s := range systems {
		names += s.Name + ", "
		tried += s.Name + " if it is installed, otherwise "
	}
	return "backend that runs the job: local (this machine), " + names + "script:DIR (a scheduler by the scripts in DIR), ssh (the hosts of --hosts), ec2 (rented machines) or auto; " +
		"auto is ssh with --hosts, ec2 with --machines, otherwise the value of BERTH_ON, otherwise " + tried + "local"
}

// noBatchArgs is the value of a batch system's flag that removes all earlier arguments.
const noBatchArgs = "none"

// option returns the option for arguments of the batch system's own.
func (b BatchSystem) option() Option {
	return Option{Name: b.Flag, Arg: "ARG", Many: true, Batch: true, set: b.addArg,
		Usage: "batch system: pass this argument to " + b.Command + "; " + noBatchArgs + " removes the earlier ones"}
}

// addArg adds an argument to the request.
func (b BatchSystem) addArg(a *Ask, where, value string) error {
	names := func(own string) bool {
		name, _, _ := strings.Cut(value, "=")
		return name == own || len(own) == 2 && strings.HasPrefix(value, own)
	}
	switch {
	case slices.ContainsFunc(b.Elsewhere, names):
		return job.ArgumentError(where, fmt.Sprintf("%q names another cluster, whose queue berth would not read", value), b.Choose)
	case slices.ContainsFunc(b.Own, names):
		return job.ArgumentError(where, fmt.Sprintf("berth sets %q itself", value), "bound it with --nodes, --max-nodes, --time or --max-time")
	}
	first := a.first("batch arguments", where)
	a.write(func(s *job.Spec) error {
		r := &s.Request
		switch {
		case value == noBatchArgs:
			r.BatchArgs, r.ArgsFlag = nil, ""
		case first:
			r.BatchArgs, r.ArgsFlag = []string{value}, b.Flag
		case r.ArgsFlag != "" && r.ArgsFlag != b.Flag:
			return job.ArgumentError(where, "arguments for another batch system are given with --"+r.ArgsFlag, "use one of the two flags")
		default:
			r.BatchArgs, r.ArgsFlag = append(r.BatchArgs, value), b.Flag
		}
		return nil
	})
	return nil
}
