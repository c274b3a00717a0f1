// Package registry lists the places to run that berth knows. Another one is a folder beside this one and a line in All; nothing else in berth
// tells places apart by their names.
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

// All returns the places. A job whose user names none runs on the first to which the machine belongs (driver.Place.Here).
func All() []driver.Place {
	return []driver.Place{
		batch.Place(func(env []string) batch.System { return slurm.Open(env) }),
		local.Place{},
		ssh.Place{},
		ec2.Place{},
	}
}

// Local is the name of the place that is this machine, Hosts of the one whose machines the user names, Rented of the one whose machines are rented.
const (
	Local  = local.Name
	Hosts  = ssh.Name
	Rented = ec2.Name
)

// Named returns the place of that name, nil where there is none.
func Named(name string) driver.Place {
	for _, p := range All() {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// Auto returns the place of a job whose user names none.
func Auto(env []string) driver.Place {
	all := All()
	return all[slices.IndexFunc(all, func(p driver.Place) bool { return p.Here(env) })]
}

// Names lists the names of all places in words, "local, slurm".
func Names() string {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Batch returns the place of that name where a batch system manages it, else nil.
func Batch(name string) driver.BatchPlace {
	b, _ := Named(name).(driver.BatchPlace)
	return b
}

// Batches returns the places that batch systems manage.
func Batches() (all []driver.BatchPlace) {
	for _, p := range All() {
		if b, ok := p.(driver.BatchPlace); ok {
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
