// Package registry lists the backends that berth knows. Another one is a folder beside this one and a line in All; nothing else in berth
// tells backends apart by their names.
package registry

import (
	"slices"
	"strings"

	"berth/internal/driver"
	"berth/internal/driver/batch"
	"berth/internal/driver/ec2"
	"berth/internal/driver/local"
	"berth/internal/driver/slurm"
	"berth/internal/driver/ssh"
)

// All returns the backends. A job whose user names none runs on the first to which the machine belongs (driver.Backend.Detect).
func All() []driver.Backend {
	return []driver.Backend{
		batch.Backend(func(env []string) batch.System { return slurm.Open(env) }),
		local.Backend{},
		ssh.Backend{},
		ec2.Backend{},
	}
}

// Local is the name of the backend that is this machine, Hosts of the one whose machines the user names, Rented of the one whose machines are rented.
const (
	Local  = local.Name
	Hosts  = ssh.Name
	Rented = ec2.Name
)

// Named returns the backend of that name, nil where there is none.
func Named(name string) driver.Backend {
	for _, p := range All() {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// Auto returns the backend of a job whose user names none.
func Auto(env []string) driver.Backend {
	all := All()
	return all[slices.IndexFunc(all, func(p driver.Backend) bool { return p.Detect(env) })]
}

// Names lists the names of all backends in words, "local, slurm".
func Names() string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Batch returns the backend of that name where a batch system manages it, else nil.
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

// Inside returns the id of the batch job that a process with that environment is part of, empty for none.
func Inside(env []string) string {
	for _, b := range Batches() {
		if id := b.Inside(env); id != "" {
			return id
		}
	}
	return ""
}
