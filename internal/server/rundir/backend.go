package rundir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan"
	"berth/internal/driver"
	"berth/internal/driver/registry"
)

// backend is the observed backend of a job.
type backend struct {
	driver.Observation
	idle   []job.Live // idle allocations that can serve the job …
	beside []job.Live // … and those that have work
	asked  plan.Question
}

// OnVar is the environment variable that selects the backend of --on auto.
const OnVar = "BERTH_ON"

// PowerVar is the environment variable with the node power of jobs without --node-power.
const PowerVar = "BERTH_NODE_POWER"

// ProgressVar is the environment variable with the source of progress of bags without --progress.
const ProgressVar = "BERTH_PROGRESS"

// auto is the value of --on for jobs whose user names no backend.
const auto = "auto"

// observe finds and observes the backend of the spec, and adds to the spec what variables of the environment say. --on auto is the backend that OnVar names, else the batch system on a machine that belongs to one, else this
// machine. A batch system that cannot be used is an error and never a reason to run on this machine: it may be a
// login node, where other users would suffer.
func observe(ctx context.Context, spec *job.Spec) (backend, error) {
	on, where := spec.Request.On, "--on"
	if value := os.Getenv(OnVar); on == auto && value != "" {
		on, where = value, OnVar
	}
	if err := fromEnvironment(spec); err != nil {
		return backend{}, err
	}
	hosts, rents := len(spec.Request.Remote.Hosts) > 0, len(spec.Request.Remote.Rent.Machines) > 0
	switch {
	case spec.Request.On == auto && hosts:
		on = registry.Hosts
	case spec.Request.On == auto && rents:
		on = registry.Rented
	}
	if dir, is := strings.CutPrefix(on, registry.Scripts); is { // the environment leads to the cluster, as with other batch systems
		dir, err := filepath.Abs(dir)
		if err := errors.Join(err, os.Setenv(registry.ScriptsVar, dir)); err != nil {
			return backend{}, err
		}
		if spec.Request.On != auto {
			spec.Request.On = registry.Scripts + dir
		}
	}
	found, note := registry.Named(on), ""
	if on == auto {
		var err error
		if found, note, err = registry.Auto(ctx, os.Environ()); err != nil {
			return backend{}, offerLocal(err)
		}
	}
	rent := &spec.Request.Remote.Rent
	switch {
	case found == nil:
		return backend{}, job.ConfigError(where, fmt.Sprintf("berth cannot run on %q", on), "use "+registry.Names()+" or auto")
	case hosts && found.Name() != registry.Hosts:
		return backend{}, job.ArgumentError("--hosts", "jobs on "+found.Name()+" do not run on named hosts", "use --on "+registry.Hosts+", or omit --hosts")
	case found.Name() != registry.Rented && (rents || rent.Catalogue != "" || rent.Budget > 0):
		return backend{}, job.ArgumentError("--on", "jobs on "+found.Name()+" rent no machines", "name the machines to rent with --machines, or omit --machines, --catalogue and --budget")
	case spec.Bag != nil && spec.Bag.Ungroup && found.Name() != registry.Local:
		return backend{}, job.ArgumentError("--ungroup", "tasks that run on "+found.Name()+" cannot write to this command's standard output", "say --group, which prints what each wrote when it is over")
	}
	at := now()
	spec.Request.SetDue(at)
	seen, err := found.Observe(ctx, os.Environ(), at, &spec.Request)
	if found.Name() == registry.Rented {
		rent.Purpose = spec.Name
		*spec = *spec.Apart("PATH") // where a machine sees the files of this one, tasks have no other PATH
	}
	if err != nil && found.Name() != registry.Local && found.Name() != registry.Rented {
		err = offerLocal(err)
	}
	if note != "" {
		seen.Notes = append(seen.Notes, note)
	}
	seen.Snapshot = seen.Snapshot.Physical(spec.Request.BatchArgs)
	if err == nil {
		seen.LeftOut, err = plan.Anywhere(seen.Snapshot.Queue, spec)
	}
	return backend{Observation: seen}, err
}

// fromEnvironment adds to the spec what its user set by variables and not by options.
func fromEnvironment(spec *job.Spec) (err error) {
	if value := os.Getenv(PowerVar); value != "" && len(spec.Request.NodePower) == 0 {
		spec.Request.NodePower, err = parse.NodePower(PowerVar, value)
	}
	if value := os.Getenv(ProgressVar); value != "" && err == nil && spec.Bag != nil && spec.Bag.Progress == "" {
		spec.Bag.Progress, err = parse.Progress(ProgressVar, value)
	}
	return err
}

// offerLocal adds to an error the advice how to run on this machine.
func offerLocal(err error) error {
	var e *job.Error
	if !errors.As(err, &e) {
		return err
	}
	advised := *e
	advised.Do = "use --on " + registry.Local + ", or set " + OnVar + "=" + registry.Local + ", to run on this machine"
	if e.Do != "" {
		advised.Do = e.Do + "; or " + advised.Do
	}
	return &advised
}
