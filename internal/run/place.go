package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"berth/internal/cluster"
	"berth/internal/driver"
	"berth/internal/driver/local"
	"berth/internal/driver/slurm"
	"berth/internal/job"
	"berth/internal/predict"
)

// place is what there is to run on.
type place struct {
	snap     cluster.Snapshot
	nodeType string        // for profiles
	tester   driver.Tester // who reckons when a request would begin; nil: nobody
	idle     []job.Live    // allocations that wait for work and would serve the job
	notes    []string      // for the user
}

// OnVar is the environment variable that says what --on auto means to the user.
const OnVar = "BERTH_ON"

// auto is the place of a job whose user names none.
const auto = "auto"

// look finds the place that the spec asks for. What --on auto means the user's environment
// may say (OnVar); otherwise it is Slurm on a machine of a Slurm cluster, and this machine
// elsewhere. A Slurm that cannot be used is an error and never a reason to run on this
// machine: it may be a login node, where nobody else wants a bag of tasks.
func look(ctx context.Context, spec *job.Spec) (place, error) {
	on, where := spec.Request.On, "--on"
	if said := os.Getenv(OnVar); on == auto && said != "" {
		on, where = said, OnVar
	}
	if on == auto && !slurm.Here(os.Environ()) {
		on = local.Name
	}
	switch on {
	case local.Name:
		return thisMachine()
	case slurm.Name, auto:
		if err := slurm.Available(ctx, os.Environ()); err != nil { // the other commands would take long to say so
			return place{}, offerLocal(err)
		}
		p, err := batchPlace(ctx, spec)
		return p, offerLocal(err)
	default:
		return place{}, &job.Error{Class: job.User, Code: job.CodeConfig, Where: where,
			What: fmt.Sprintf("berth cannot run on %q", on), Do: "say local, slurm or auto"}
	}
}

// offerLocal returns the error with the advice how to run on this machine after all.
func offerLocal(err error) error {
	var e *job.Error
	if !errors.As(err, &e) {
		return err
	}
	told := *e
	told.Do = "use --on local, or set " + OnVar + "=local, to run on this machine"
	if e.Do != "" {
		told.Do = e.Do + "; or " + told.Do
	}
	return &told
}

func thisMachine() (place, error) {
	m, err := local.ThisMachine()
	if err != nil {
		return place{}, err
	}
	return place{snap: m.Snapshot(now(), job.Resources{}), nodeType: predict.NodeType(m.CPUModel, len(m.CPUs))}, nil
}

// batchPlace looks at Slurm's queue. What the user's environment says of all their jobs holds
// for this one where it says nothing itself.
func batchPlace(ctx context.Context, spec *job.Spec) (place, error) {
	r, env := &spec.Request, slurm.BatchDefaults(os.Environ())
	r.Partition, r.Account = cmp.Or(r.Partition, env.Partition), cmp.Or(r.Account, env.Account)
	r.QOS, r.Constraint = cmp.Or(r.QOS, env.QOS), cmp.Or(r.Constraint, env.Constraint)
	system, begin := slurm.Open(os.Environ()), now()
	snap, err := system.Snapshot(ctx, "")
	if err != nil {
		return place{}, err
	}
	snap.At = begin
	at := place{snap: snap, tester: system}
	at.nodeType = at.nodeTypeOf(spec)
	return at, nil
}

// nodeTypeOf is what profiles of runs on a batch system are kept under: nodes of one
// partition are taken for alike.
func (at *place) nodeTypeOf(spec *job.Spec) string {
	return strings.Join([]string{at.snap.Driver, at.snap.Queue.Cluster, cmp.Or(spec.Request.Partition, at.snap.Queue.DefaultPartition())}, ":")
}

// warnings says what of the request has no effect here.
func (p place) warnings(r *job.Request) []string {
	notes := p.notes
	if none := r.BatchOnly(); p.snap.Queue == nil && len(none) > 0 {
		notes = append(notes, "there is no batch system here, so this has no effect: --"+strings.Join(none, ", --"))
	}
	return notes
}
