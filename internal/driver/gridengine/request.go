package gridengine

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// addressSpace is added to requests of h_vmem and s_vmem, which bound the address space of each process and, where the site
// measures it, of all processes of a job together: a worker and a stand-in reserve more than a gigabyte each and use little of it.
const addressSpace = 3 << 30

// told takes the parallel environment that the user names from the arguments.
func told(args []string) (name string, rest []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "-pe" && i+1 < len(args) {
			name = args[i+1]
			i++
			if i+1 < len(args) && parseCount(args[i+1]) > 0 {
				i++ // the number of slots is ours
			}
			continue
		}
		rest = append(rest, args[i])
	}
	return name, rest
}

// environmentFor returns the parallel environment for a request and the slots on each node; "" if the request needs none. It is
// the one that the user names, else one with exactly as many slots on each host, for one node one that keeps jobs on one
// host, else the one with the fewest slots above.
func (c *site) environmentFor(req job.AllocRequest, name string) (pe string, each int, err error) {
	cores := max(req.PerNode.CPUs, 1)
	if name != "" {
		e := matching(c.environments, name)
		if !e.suits(req.Nodes, cores) {
			return "", 0, c.unsuitable(e, req)
		}
		return name, max(e.perHost(), cores), nil
	}
	if req.Nodes == 1 && cores == 1 {
		return "", 1, nil
	}
	best := environment{}
	for _, e := range c.offered(req.Batch.Partition) {
		k := e.perHost()
		switch {
		case c.offering(e.name, req.Batch.Partition) < req.Nodes:
		case k == cores, req.Nodes == 1 && e.rule == "$pe_slots":
			if e.slots >= req.Nodes*cores && best.perHost() != cores {
				best, each = e, cores
			}
		case k > cores && e.slots >= req.Nodes*k && (best.name == "" || each > k):
			best, each = e, k
		}
	}
	if best.name == "" {
		return "", 0, c.unsuited(req)
	}
	return best.name, each, nil
}

// suits reports whether the environment gives this many nodes with this many slots each. With $fill_up and $round_robin, Grid Engine
// spreads slots as hosts have them free. An environment that is not known is left to qsub.
func (e environment) suits(nodes, cores int) bool {
	switch {
	case e.rule == "" || nodes*cores == 1:
		return true
	case e.rule == "$pe_slots":
		return nodes == 1
	}
	return e.perHost() >= cores
}

// unsuitable returns the error for an environment that the user names and that does not suit. It names the one that does.
func (c *site) unsuitable(e environment, req job.AllocRequest) error {
	what := fmt.Sprintf("the parallel environment %s (allocation_rule %s) does not give %s with %s each", e.name, e.rule,
		job.Count(req.Nodes, "node"), job.Count(max(req.PerNode.CPUs, 1), "slot"))
	other, _, err := c.environmentFor(req, "")
	if err != nil || other == "" {
		return job.ConfigError(Name, what, "leave -pe out")
	}
	return job.ConfigError(Name, what, "leave -pe out, or name "+other)
}

// offered returns the parallel environments that jobs in a queue, or in one of a list of queues, may use.
func (c *site) offered(queues string) (all []environment) {
	for _, e := range c.environments {
		if c.offering(e.name, queues) > 0 {
			all = append(all, e)
		}
	}
	return all
}

// offering returns on how many hosts of a queue, or of one of a list of queues, jobs may use a parallel environment.
func (c *site) offering(pe, queues string) (n int) {
	for i := range c.queues {
		if queues == "" || slices.Contains(strings.Split(queues, ","), c.queues[i].name) {
			n += c.queues[i].offering(pe)
		}
	}
	return n
}

// unsuited returns the error for a request for which there is no parallel environment.
func (c *site) unsuited(req job.AllocRequest) error {
	var have []string
	for _, e := range c.offered(req.Batch.Partition) {
		have = append(have, e.name+": "+e.rule)
	}
	what := fmt.Sprintf("no parallel environment gives %s with %s each", job.Count(req.Nodes, "node"), job.Count(max(req.PerNode.CPUs, 1), "slot"))
	if have != nil {
		what += " (" + strings.Join(have, ", ") + ")"
	}
	return job.ConfigError(cmp.Or(req.Batch.Partition, Name), what,
		fmt.Sprintf("ask the administrator for one with allocation_rule %d, name one by --%s '-pe NAME', or use -N 1-1", max(req.PerNode.CPUs, 1), argFlag))
}

// shapeArgs returns the qsub options that describe the request. The user's own options come first, as the last value of a
// resource counts.
func (c *site) shapeArgs(req job.AllocRequest) ([]string, error) {
	b := req.Batch
	name, args := told(strings.Fields(strings.Join(b.Args, " "))) // each may have several words: "-l gpu=1"
	pe, each, err := c.environmentFor(req, name)
	if err != nil {
		return nil, err
	}
	wants, err := c.resources(req, each)
	if err != nil {
		return nil, err
	}
	if pe != "" {
		args = append(args, "-pe", pe, strconv.Itoa(req.Nodes*each))
	}
	if wants != nil {
		args = append(args, "-l", strings.Join(wants, ","))
	}
	for _, o := range []struct{ name, value string }{{"-q", b.Partition}, {"-P", b.Account}, {"-js", b.QOS}} {
		if o.value != "" {
			args = append(args, o.name, o.value)
		}
	}
	return append(args, "-R", "y"), nil
}

// resources returns the values of -l: the wall time, and of each consumable what a slot needs, as Grid Engine counts by slots.
func (c *site) resources(req job.AllocRequest, each int) (wants []string, err error) {
	if req.Time > 0 {
		wants = append(wants, "h_rt="+batch.Units(int64(req.Time), int64(grain)))
	}
	for _, x := range c.memory {
		need := batch.Ceil(req.PerNode.Mem+overhead(x.name), x.share(each))
		wants = append(wants, x.name+"="+batch.Units(need, 1<<20)+"M")
	}
	if n := req.PerNode.GPUs; n > 0 {
		if c.gpus.name == "" || req.PerNode.GPUType != "" {
			return nil, job.ConfigError(Name, "no resource of the cluster counts GPUs, or those of a type", "see qconf -sc; a type can be a --constraint")
		}
		share := int(c.gpus.share(each))
		if n%share != 0 {
			return nil, job.ConfigError(Name, fmt.Sprintf("a node of %d slots cannot have %s: the resource %s counts for each slot", each, job.Count(n, "GPU"), c.gpus.name),
				"ask for a multiple of the cores")
		}
		wants = append(wants, c.gpus.name+"="+strconv.Itoa(n/share))
	}
	if req.Batch.Exclusive {
		if c.exclusive == "" {
			return nil, job.ConfigError(Name, "no resource of the cluster gives hosts to one job alone", "request as many cores as a host has, instead of --exclusive")
		}
		wants = append(wants, c.exclusive+"=true")
	}
	if req.Batch.Constraint != "" {
		wants = append(wants, req.Batch.Constraint)
	}
	return wants, nil
}

// share returns by how many a node's amount of the resource is divided for a request.
func (x complex) share(slots int) int64 {
	if x.consumed == "YES" {
		return int64(slots)
	}
	return 1
}

// overhead returns what is requested of a resource beside a worker's memory.
func overhead(resource string) int64 {
	if strings.HasSuffix(resource, "_vmem") {
		return addressSpace
	}
	return 0
}

// ownArgs returns the qsub options that say how berth's jobs run: once, from a folder that all nodes have. Their scripts write to the
// allocation's folder themselves, as qsub replaces $HOME, and other texts, in names of files.
func ownArgs(s batch.Submission) []string {
	return append(strings.Fields("-terse -r n -w n -m n -j y -S /bin/sh -wd / -o /dev/null -N"), jobName(s.Request.Batch.Name, s.Script))
}

// waitArgs returns the qsub options that say what a job waits for.
func waitArgs(w batch.Wait, now time.Time) (args []string) {
	if w.Delay > 0 {
		args = append(args, "-a", w.Begin(now))
	}
	if len(w.After) > 0 {
		args = append(args, "-hold_jid", strings.Join(w.After, ","))
	}
	return args
}

// jobName returns the name of a job: one for people, and the part of the script's name that no other job has, by which the job
// is found.
func jobName(name, script string) string {
	unique := "." + mark(script)
	clean := batch.JobName(name)
	return clean[:min(len(clean), batch.LongestName-len(unique))] + unique
}

// mark returns the part of a script's name that no other job has: batch-MARK.sh.
func mark(script string) string {
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(script), "batch-"), ".sh")
}
