package run

import (
	"context"
	"errors"
	"fmt"
	"os"

	"berth/internal/driver"
	"berth/internal/driver/registry"
	"berth/internal/job"
	"berth/internal/job/parse"
)

// backend is what the backend of a job has to offer.
type backend struct {
	driver.Observation
	idle []job.Live // allocations that wait for work and would serve the job
}

// OnVar is the environment variable that says what --on auto means to the user.
const OnVar = "BERTH_ON"

// PowerVar is the environment variable that says what --node-power does, for jobs that leave it open.
const PowerVar = "BERTH_NODE_POWER"

// auto is the backend of a job whose user names none.
const auto = "auto"

// observe finds the backend that the spec asks for, and adds to the spec what the environment says of nodes (PowerVar). What --on auto means the user's environment
// may say (OnVar); otherwise it is the batch system on a machine that belongs to one, and this machine
// elsewhere. A batch system that cannot be used is an error and never a reason to run on this
// machine: it may be a login node, where nobody else wants a bag of tasks.
func observe(ctx context.Context, spec *job.Spec) (backend, error) {
	on, where := spec.Request.On, "--on"
	if said := os.Getenv(OnVar); on == auto && said != "" {
		on, where = said, OnVar
	}
	if said := os.Getenv(PowerVar); said != "" && len(spec.Request.NodePower) == 0 {
		var err error
		if spec.Request.NodePower, err = parse.NodePower(PowerVar, said); err != nil {
			return backend{}, err
		}
	}
	hosts, rents := len(spec.Request.Remote.Hosts) > 0, len(spec.Request.Remote.Rent.Machines) > 0
	switch {
	case spec.Request.On == auto && hosts:
		on = registry.Hosts
	case spec.Request.On == auto && rents:
		on = registry.Rented
	}
	found := registry.Named(on)
	if on == auto {
		found = registry.Auto(os.Environ())
	}
	if found != nil && hosts && found.Name() != registry.Hosts {
		return backend{}, job.ArgumentError("--hosts", "jobs on "+found.Name()+" have no hosts to name", "say --on "+registry.Hosts+", or leave the hosts out")
	}
	if rent := &spec.Request.Remote.Rent; found != nil && found.Name() != registry.Rented && (rents || rent.Catalogue != "" || rent.Budget > 0 || rent.Deadline > 0) {
		return backend{}, job.ArgumentError("--on", "jobs on "+found.Name()+" rent no machines", "name those to rent with --machines, or leave --machines, --catalogue, --budget and --deadline out")
	}
	if found == nil {
		return backend{}, &job.Error{Class: job.User, Code: job.CodeConfig, Where: where,
			What: fmt.Sprintf("berth cannot run on %q", on), Do: "say " + registry.Names() + " or auto"}
	}
	seen, err := found.Observe(ctx, os.Environ(), now(), &spec.Request)
	if found.Name() == registry.Rented {
		spec.Request.Remote.Rent.Purpose = spec.Name
		spec.Withhold(os.Environ())
	}
	if err != nil && found.Name() != registry.Local && found.Name() != registry.Rented {
		err = offerLocal(err)
	}
	return backend{Observation: seen}, err
}

// offerLocal returns the error with the advice how to run on this machine after all.
func offerLocal(err error) error {
	var e *job.Error
	if !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Do = "use --on " + registry.Local + ", or set " + OnVar + "=" + registry.Local + ", to run on this machine"
	if e.Do != "" {
		told.Do = e.Do + "; or " + told.Do
	}
	return &told
}
