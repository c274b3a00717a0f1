package process

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// SystemVariables are the environment variables by which a batch system, or a launcher of ranks, describes to a process the allocation that it
// is part of. In Names, Kept and Loose a * at the end stands for any end of the name.
type SystemVariables struct {
	Job, Index string // the id of the job, the index of a task of a job array; a launcher of ranks has neither

	Names []string // variables that describe an allocation
	Kept  []string // those of Names that do not: users choose a cluster or set options with them
	// Loose are names that users have for other things, too. They describe an allocation only beside a variable of Names. One that is
	// written NAME=OTHER does so only with the value of OTHER.
	Loose []string
	// Tasks are the variables of a task on a node of the batch system: NAME with the value that the worker has there, or NAME=TEXT, where
	// $CPUS, $MEM (MB) and $DIR are those of the task and other words variables of the worker. One with a missing value is left out.
	Tasks []string
	// Gang are those of a task of several ranks, in the same way, in place of others of Tasks. $HOSTS are the names that the batch system has
	// for its nodes, $RANKS_ON and $CPUS_ON their ranks and cores, with commas between them, $CPUS_HERE the cores of the process's own node, $MEM_ON the
	// memory (MB) of the node with the most ranks, $HOSTFILE a file with the name of its node for each rank, and $RANKS, $NODES, $RANK, $LOCAL_RANK and
	// $NODE_INDEX numbers.
	Gang []string
	MPI  []string // the names by which implementations of MPI know it as a means to start ranks
	Node string   // the variable with the name that the batch system has for a node; empty: the name of its host
}

// Describing returns a function that reports whether a variable of an environment describes an allocation.
func (v *SystemVariables) Describing(env []string) func(kv string) bool {
	is := func(kv string) bool { return v.names(nameOf(kv)) }
	if !slices.ContainsFunc(env, func(kv string) bool { return nameOf(kv) != v.Index && is(kv) }) { // berth sets the index everywhere
		return is
	}
	return func(kv string) bool { return is(kv) || v.loose(env, kv) }
}

func (v *SystemVariables) names(name string) bool {
	return name == v.Index && name != "" || matches(v.Names, name) && !matches(v.Kept, name)
}

func (v *SystemVariables) loose(env []string, kv string) bool {
	name, value, _ := strings.Cut(kv, "=")
	return matches(v.Loose, name) || slices.ContainsFunc(v.Loose, func(of string) bool {
		same, other, is := strings.Cut(of, "=")
		return is && same == name && value == job.Getenv(env, other)
	})
}

// matches reports whether a name is among patterns.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if beginning, is := strings.CutSuffix(p, "*"); is {
			return strings.HasPrefix(name, beginning)
		}
		return p == name
	})
}

// OfTask returns what a task has of the allocation of its worker, given the worker's environment, what the task needs, and its job's folder.
func (v *SystemVariables) OfTask(worker []string, need job.Resources, dir string) (env []string) {
	known := map[string]string{"CPUS": strconv.Itoa(need.CPUs), "DIR": dir}
	if need.Mem > 0 {
		known["MEM"] = strconv.FormatInt(max(1, need.Mem>>20), 10)
	}
	return expand(v.Tasks, worker, known)
}

// OfGang returns the variables of a process of a task of several ranks, given the words of Gang.
func (v BatchVariables) OfGang(known map[string]string) []string {
	s := v.active()
	if s == nil {
		return nil
	}
	return expand(s.Gang, v.Node, known)
}

// NodeName returns the name that the batch system has for this node; empty: it has none of its own.
func (v BatchVariables) NodeName() string {
	if s := v.active(); s != nil && s.Node != "" {
		return job.Getenv(v.Node, s.Node)
	}
	return ""
}

// MPI returns the names by which implementations of MPI know the batch systems and other means to start ranks.
func (v BatchVariables) MPI() (names []string) {
	for _, s := range v.Systems {
		names = append(names, s.MPI...)
	}
	return names
}

// active returns the batch system that has started this worker, or nil.
func (v BatchVariables) active() *SystemVariables {
	for i, s := range v.Systems {
		if s.Job != "" && job.Getenv(v.Node, s.Job) != "" {
			return &v.Systems[i]
		}
	}
	return nil
}

// expand returns the variables of entries as in SystemVariables.Tasks.
func expand(entries, worker []string, known map[string]string) (env []string) {
	for _, entry := range entries {
		name, text, made := strings.Cut(entry, "=")
		if !made {
			text = "$" + name
		}
		whole := true
		value := os.Expand(text, func(word string) string {
			s, is := known[word]
			if !is {
				s, is = job.LookupEnv(worker, word)
			}
			whole = whole && is
			return s
		})
		if whole {
			env = append(env, name+"="+value)
		}
	}
	return env
}
