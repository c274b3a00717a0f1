package pbs

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver"
)

// node is a node: all vnodes of one host.
type node struct {
	cluster.Node
	record      // of its first vnode
	excl   bool // no two jobs share it
}

// parseNodes reads "pbsnodes -a -F dsv". It returns the nodes, and the index of the node of each vnode.
func parseNodes(records []record) (nodes []node, index map[string]int) {
	index = make(map[string]int, len(records))
	hosts := map[string]int{}
	for _, r := range records {
		host := cmp.Or(r["resources_available.host"], r.name())
		i, known := hosts[host]
		if !known {
			i = len(nodes)
			hosts[host] = i
			nodes = append(nodes, node{record: r, Node: cluster.Node{Name: host, Down: down(r), Features: features(r)}, excl: exclusive(r["sharing"])})
		}
		index[r.name()] = i
		nodes[i].add(r)
	}
	return nodes, index
}

// add adds the resources of a vnode. A vnode that is down, beside others of its host that are up, adds none.
func (n *node) add(r record) {
	why := down(r)
	switch {
	case why != "" && n.Down == "":
		return
	case why == "" && n.Down != "":
		n.Node = cluster.Node{Name: n.Name, Features: n.Features}
	}
	all := resources(func(name string) string { return r["resources_available."+name] })
	used := resources(func(name string) string { return r["resources_assigned."+name] })
	free := all.Minus(used)
	free.CPUs, free.Mem, free.GPUs = max(free.CPUs, 0), max(free.Mem, 0), max(free.GPUs, 0)
	if is := r.has("state"); is("job-exclusive") || is("resv-exclusive") {
		free = job.Resources{GPUType: free.GPUType} // its user has all of it, whatever was requested
	}
	n.Capacity, n.Free = n.Capacity.Plus(all), n.Free.Plus(free)
}

// exclusive says of a vnode's sharing that jobs never share it unless they ask for it, or never at all.
var exclusive = driver.Says(`^(default|force)_excl`)

// downStates are the states of a vnode in which no job can start there, with their meanings. A job starts a node that sleeps.
const downStates driver.Table = stateUnknown + ` = not reported yet
down = down
offline = offline
stale = no longer reported
unknown = not reported yet
unresolvable = its name has no address
maintenance = in maintenance
provisioning = being provisioned
wait-provisioning = about to be provisioned
busy = its load is too high
`

// stateUnknown is the state of a vnode that has not reported since the server was started.
const stateUnknown = "state-unknown"

// down returns the reason why no job can start on a vnode, or "".
func down(r record) string {
	means := downStates.First(r.has("state"))
	if means == "" {
		return ""
	}
	return strings.TrimSuffix(means+": "+strings.TrimPrefix(r["comment"], "node down: "), ": ")
}

// features returns what --constraint can require of a vnode: resources that are texts or are True, as in "arch=linux" and "bigmem".
func features(r record) []string {
	var all []string
	for key := range r {
		name, ok := strings.CutPrefix(key, "resources_available.")
		if _, consumed := r["resources_assigned."+name]; !ok || consumed || slices.Contains(countable, name) {
			continue
		}
		for _, value := range r.list(key) {
			if all = append(all, name+"="+value); value == "True" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return all
}

// countable are resources that are no features.
var countable = strings.Fields("ncpus mem vmem ngpus host vnode nodect mpiprocs ompthreads")

// serves reports whether jobs of a queue may run on the node. A queue has the nodes that name it, if there are any, else those that
// name no queue; a scheduler of its own has the nodes of its partition; and a value that the queue adds to each chunk must be on the node.
func (n *node) serves(queue record, named bool) bool {
	of := n.record["queue"]
	if named != (of == queue.name()) || !named && of != "" || n.record["partition"] != queue["partition"] {
		return false
	}
	for key, value := range queue {
		name, ok := strings.CutPrefix(key, "default_chunk.")
		if ok && !slices.Contains(countable, name) && !n.has("resources_available."+name)(value) {
			return false
		}
	}
	return true
}
