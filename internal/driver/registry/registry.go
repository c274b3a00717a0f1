// Package registry lists berth's backends. To add one, write a package in a folder beside this one and add a line to All. No other code
// in berth distinguishes backends by their names.
//
//	backend := registry.Named("slurm") // nil for an unknown name
//	if backend == nil {
//		backend, note, err = registry.Auto(ctx, os.Environ())
//	}
package registry

import (
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver"
	"berth/internal/driver/batch"
	"berth/internal/driver/ec2"
	"berth/internal/driver/gridengine"
	"berth/internal/driver/local"
	"berth/internal/driver/pbs"
	"berth/internal/driver/script"
	"berth/internal/driver/slurm"
	"berth/internal/driver/ssh"
	"berth/internal/node/process"
)

// systems returns the batch systems that have names of their own.
func systems() []batch.Backend {
	return []batch.Backend{
		func(env []string) batch.System { return slurm.Open(env) },
		func(env []string) batch.System { return pbs.Open(env) },
		func(env []string) batch.System { return gridengine.Open(env) },
	}
}

// All returns all backends. If the user of a job names none, the job runs on the first one to which the machine belongs (Auto).
func All() (all []driver.Backend) {
	for _, s := range systems() {
		all = append(all, s)
	}
	return append(all, scripts, local.Backend{Batch: Words()}, ssh.Backend{}, ec2.Backend{})
}

// scripts are schedulers that users bind by scripts. Their names are in the folder of the scripts.
var scripts = batch.Backend(func(env []string) batch.System { return script.Open(env) })

// Scripts is what a user writes before the folder of scripts, ScriptsVar the variable that has the folder then.
const (
	Scripts    = script.Name + ":"
	ScriptsVar = script.DirVar
)

// Local is the name of the backend for this machine, Hosts for hosts that the user names, and Rented for rented machines.
const (
	Local  = local.Name
	Hosts  = ssh.Name
	Rented = ec2.Name
)

// Named returns the backend with this name, or nil.
func Named(name string) driver.Backend {
	if strings.HasPrefix(name, Scripts) {
		name = script.Name
	}
	for _, p := range All() {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// Names returns the names of all backends as a text: "local, slurm".
func Names() string {
	var names []string
	for _, p := range All() {
		if names = append(names, p.Name()); p.Name() == script.Name {
			names[len(names)-1] = Scripts + "DIR"
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Batch returns the backend with this name if a batch system manages it, else nil.
func Batch(name string) driver.BatchBackend {
	b, _ := Named(name).(driver.BatchBackend)
	return b
}

// Batches returns the backends that batch systems manage.
func Batches() (all []driver.BatchBackend) {
	for _, p := range All() {
		if b, ok := p.(driver.BatchBackend); ok {
			all = append(all, b)
		}
	}
	return all
}

// Words returns the names that the batch systems have of their own. Those that scripts bind have none without them.
func Words() (all []driver.BatchWords) {
	for _, s := range systems() {
		all = append(all, s.Words())
	}
	return all
}

// Variables returns the environment variables of all batch systems, as a task of one may be a job of another, and of launchers of ranks.
func Variables() (all []process.SystemVariables) {
	for _, w := range Words() {
		all = append(all, w.Variables)
	}
	return append(all, batch.Launchers)
}

// Each returns one of the names of each batch system as a text: "Slurm".
func Each(name func(driver.BatchWords) string) string {
	var names []string
	for _, w := range Words() {
		names = append(names, name(w))
	}
	return strings.Join(names, " or ")
}

// Options returns the options of every kind of job, with those that batch systems add.
func Options() []parse.Option {
	var systems []parse.BatchSystem
	for _, w := range Words() {
		systems = append(systems, w.BatchSystem)
	}
	return parse.Options(systems...)
}

// Inside returns the id of the batch job that a process with this environment is part of, or "".
func Inside(env []string) string {
	for _, b := range Batches() {
		if id := job.Getenv(env, b.Words().Variables.Job); id != "" {
			return id
		}
	}
	return ""
}
