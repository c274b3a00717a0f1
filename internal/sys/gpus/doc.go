// Package gpus finds the GPUs that a process may use, without any vendor's library, and shares them out among tasks.
//
//	d := gpus.OfMachine(os.Environ(), "/")
//	pool := gpus.NewPool(d)
//	held, err := pool.Acquire(ctx, job.Resources{GPUs: 1}, 1, nil)
//	env = pool.Env(env, held)
//
// A program learns which GPUs are its own from an environment variable of the vendor. Whoever starts a process that starts others
// (a batch system, a user) limits it the same way, so what is handed out are entries of the list that this process has itself.
package gpus

import (
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// Override is the variable with which users say how many GPUs a machine has: N or N:TYPE.
const Override = "BERTH_GPUS"

// The variables that limit programs to some GPUs.
const (
	nvidia = "CUDA_VISIBLE_DEVICES"
	amd    = "ROCR_VISIBLE_DEVICES"
	intel  = "ZE_AFFINITY_MASK"
	openCL = "GPU_DEVICE_ORDINAL"
	hip    = "HIP_VISIBLE_DEVICES" // among those that ROCR_VISIBLE_DEVICES leaves; never set here
)

// variables are those that are set. Only Slurm sets the last one by itself.
var variables = [...]string{nvidia, amd, intel, openCL}

// List is the GPUs of a process as one variable has them: numbers, or names that the vendor gives them.
type List struct {
	Variable string   `json:"variable"`
	IDs      []string `json:"ids"`
}

// Devices are the GPUs that a process may use.
type Devices struct {
	Count int    `json:"count"`
	Type  string `json:"type,omitempty"` // empty: unknown
	Lists []List `json:"lists"`          // each has Count entries, in the same order
}

// OfMachine returns the GPUs of this machine that a process with that environment may use. root is the folder with the files of the
// system, "/" but in tests.
func OfMachine(env []string, root string) Devices {
	found := detect(root)
	names := namesOf(found)
	if said := job.Getenv(env, Override); said != "" {
		n, kind, err := parse.GPUs(Override, said)
		if err != nil {
			return Devices{}
		}
		found.count, found.kind = n, kind
		return with(env, names, found)
	}
	if limit, limited := listed(env, found.variable); limited && found.count > 0 {
		found.count = len(limit)
	}
	return with(env, names, found)
}

// OfAllocation returns the n GPUs that a batch system gave to a process with that environment. Without a list of them they are
// numbered from 0.
func OfAllocation(env []string, n int, root string) Devices {
	names := present(env)
	if names == nil {
		names = namesOf(detect(root))
	}
	return with(env, names, hardware{count: n})
}

// namesOf returns the variable of the vendor, or all but OpenCL's if the vendor is unknown.
func namesOf(found hardware) []string {
	if found.variable == "" {
		return variables[:3]
	}
	return []string{found.variable}
}

// present returns the variables that the environment has.
func present(env []string) (names []string) {
	for _, name := range variables {
		if _, set := job.LookupEnv(env, name); set {
			names = append(names, name)
		}
	}
	return names
}

// listed returns the entries of a variable, and whether it is set. As the drivers do, it ends at an entry that is none.
func listed(env []string, name string) (ids []string, set bool) {
	text, set := job.LookupEnv(env, name)
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id == "" || id == "-1" || id == "NoDevFiles" {
			break
		}
		ids = append(ids, id)
	}
	return ids, set
}

// with returns the devices with their names in each of the variables: those that the environment has, or numbers from 0.
func with(env, names []string, found hardware) Devices {
	d := Devices{Count: found.count, Type: found.kind}
	if d.Count == 0 {
		return Devices{}
	}
	for _, name := range names {
		ids, _ := listed(env, name)
		if len(ids) < d.Count {
			ids = numbers(d.Count)
		}
		d.Lists = append(d.Lists, List{name, ids[:d.Count]})
	}
	return d
}

func numbers(n int) (ids []string) {
	for i := range n {
		ids = append(ids, strconv.Itoa(i))
	}
	return ids
}

// Part returns the share of one of several workers, each of which gets n.
func (d Devices) Part(rank, n int) Devices {
	if n == 0 || (rank+1)*n > d.Count {
		return Devices{}
	}
	part := Devices{Count: n, Type: d.Type}
	for _, l := range d.Lists {
		part.Lists = append(part.Lists, List{l.Variable, slices.Clone(l.IDs[rank*n : (rank+1)*n])})
	}
	return part
}
