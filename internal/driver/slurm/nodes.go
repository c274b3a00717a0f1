package slurm

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// site is the part of Slurm's configuration that berth uses.
type site struct {
	cluster    string
	id         string            // distinguishes clusters of the same name
	memory     bool              // memory is allocated: a job gets the memory that it requests and no more
	wholeNodes bool              // jobs never share nodes (select/linear)
	maxMem     map[string]string // MaxMemPerNode and MaxMemPerCPU, where a partition has none of its own
	private    bool              // users see their own jobs only
	limits     bool              // limits of associations and QOS are enforced
	accounting bool              // sacct knows jobs that have ended
	depth      int               // see cluster.Queue.Depth
	owner      string            // the user whom Slurm's daemons trust as they trust root (SlurmUser)
	preempts   bool              // jobs of partitions of a higher tier take nodes from those of lower tiers
}

func parseSite(out string) site {
	c := parseConfig(out)
	return site{
		cluster: c["ClusterName"], id: clusterID(c),
		memory:     strings.Contains(strings.ToUpper(c["SelectTypeParameters"]), "MEMORY"),
		wholeNodes: c["SelectType"] == "select/linear",
		maxMem:     c,
		private:    slices.Contains(strings.Split(c["PrivateData"], ","), "jobs"),
		limits:     strings.Contains(c["AccountingStorageEnforce"], "limits") || strings.Contains(c["AccountingStorageEnforce"], "safe"),
		accounting: c["AccountingStorageType"] == "accounting_storage/slurmdbd",
		depth:      backfillDepth(c["SchedulerParameters"]),
		owner:      strings.SplitN(c["SlurmUser"], "(", 2)[0], preempts: c["PreemptType"] == "preempt/partition_prio",
	}
}

// mostTested is how many pending jobs the backfill scheduler plans where bf_max_job_test does not say another number.
const mostTested = 500

// backfillDepth returns for how many pending jobs the backfill scheduler reserves nodes: for all that it plans.
func backfillDepth(parameters string) int {
	tested, reserved := mostTested, math.MaxInt
	for word := range strings.SplitSeq(parameters, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		switch n := parseCount(value); {
		case n == 0:
		case key == "bf_max_job_test":
			tested = n
		case key == "bf_job_part_count_reserve":
			reserved = n
		}
	}
	return min(tested, reserved)
}

// clusterID returns an id of a cluster from its configuration.
func clusterID(config map[string]string) string {
	return batch.ClusterID(config["ClusterName"], config["SlurmctldHost[0]"], config["SlurmctldPort"])
}

// parseNodes reads scontrol -d -o show node.
func parseNodes(out string, s site) (nodes []cluster.Node) {
	for _, r := range parseRecords(out, "NodeName") {
		nodes = append(nodes, parseNode(r, s))
	}
	return nodes
}

// guessedMem is the assumed memory per CPU, in bytes, where neither slurm.conf nor slurmd gives the size.
const guessedMem = 1 << 30

func parseNode(r map[string]string, s site) cluster.Node {
	cpus := cmp.Or(parseCount(r["CPUEfctv"]), parseCount(r["CPUTot"])) // the first is without the CPUs that are reserved for the system
	n := cluster.Node{Name: r["NodeName"], Down: nodeState(r["State"], r["Reason"])}
	if cores := parseCount(r["Sockets"]) * parseCount(r["CoresPerSocket"]); cores > 0 && parseCount(r["CPUTot"]) > cores { // slurm.conf may have CPUs=CORES
		n.Threads = parseCount(r["ThreadsPerCore"])
	}
	mem := parseMegabytes(r["RealMemory"]) - parseMegabytes(r["MemSpecLimit"])
	if !s.memory && mem <= 1<<20 { // the size is not configured: use the free memory that slurmd found, or a guess
		if mem = parseMegabytes(r["FreeMem"]); mem == 0 {
			mem = int64(cpus) * guessedMem
		}
	}
	n.Capacity = job.Resources{CPUs: cpus, Mem: max(mem, 0)}
	n.Free = n.Capacity.Minus(job.Resources{CPUs: parseCount(r["CPUAlloc"]), Mem: parseMegabytes(r["AllocMem"])})
	n.Free = job.Resources{CPUs: max(n.Free.CPUs, 0), Mem: max(n.Free.Mem, 0)}
	gpus, freeGPUs := nodeGPUs(r)
	n.Capacity, n.Free = n.Capacity.Plus(gpus), n.Free.Plus(freeGPUs)
	if f := given(r["ActiveFeatures"]); f != "" {
		n.Features = strings.Split(f, ",")
	}
	return n
}

// downStates are the parts of a node's state in which no job can start there, with their meanings.
// A job wakes nodes that are powered down to save power. PLANNED and COMPLETING end by themselves.
const downStates driver.Table = `
DOWN = down
ERROR = in error
UNKNOWN = not registered yet
FUTURE = not there yet
DYNAMIC_FUTURE = not there yet
NOT_RESPONDING = does not answer
DRAIN = drained
FAIL = failing
INVALID_REG = registered wrongly
REBOOT_REQUESTED = about to boot
REBOOT_ISSUED = booting
BLOCKED = blocked
`

// reserved is the reason why no job can start on a node that a reservation has at the moment.
const reserved = "reserved"

// nodeState reads a state such as "IDLE+DRAIN+NOT_RESPONDING". It returns the reason why no job can start on the node, or "".
func nodeState(state, reason string) (down string) {
	parts := strings.Split(strings.TrimRight(state, "*~#!%$@^-"), "+") // older versions print flags as signs
	if strings.Contains(state, "*") {
		parts = append(parts, "NOT_RESPONDING")
	}
	has := func(flag string) bool { return slices.Contains(parts, flag) }
	if means := downStates.First(has); means != "" {
		return strings.TrimSuffix(means+": "+reasonText(reason), ": ")
	}
	if has("RESERVED") || has("MAINT") || has("MAINTENANCE") {
		return reserved
	}
	return ""
}

// reasonText returns a reason without its author and time, as in "bad disk [root@1795231820]".
func reasonText(reason string) string {
	if i := strings.LastIndex(reason, " ["); i >= 0 && strings.Contains(reason[i:], "@") {
		reason = reason[:i]
	}
	return given(reason)
}

// caller is the user for whom partitions are read.
type caller struct {
	admin    bool // it is root
	anyGroup bool // partitions for some groups only are open to it
	groups   []string
}

// parsePartitions reads "scontrol show partition -o". Jobs of a higher tier start first.
func parsePartitions(out string, at *places, s site, who caller) (partitions []cluster.Partition, tiers map[string]int) {
	tiers = map[string]int{}
	modes := map[string]string{} // PreemptMode
	for _, r := range parseRecords(out, "PartitionName") {
		own := r
		if parseMegabytes(r["MaxMemPerNode"]) == 0 && parseMegabytes(r["MaxMemPerCPU"]) == 0 {
			own = s.maxMem
		}
		p := cluster.Partition{
			Name: r["PartitionName"], Hidden: r["Hidden"] == "YES", Default: r["Default"] == "YES", Nodes: at.indices(r["Nodes"]),
			MinNodes: parseCount(r["MinNodes"]), MaxNodes: parseCount(r["MaxNodes"]), // UNLIMITED is not a number
			MaxTime: parseLimit(r["MaxTime"]), DefaultTime: parseLimit(r["DefaultTime"]),
			Whole: s.wholeNodes || r["OverSubscribe"] == "EXCLUSIVE", QOS: given(r["QoS"]),
			MaxPerNode: job.Resources{CPUs: parseCount(r["MaxCPUsPerNode"])},
			Accounts:   admitted(r, "Accounts"), QOSes: admitted(r, "Qos"),
		}
		p.Closed, p.Drains = closed(r, who)
		if s.memory {
			p.MaxPerNode.Mem, p.MaxMemPerCPU = parseMegabytes(own["MaxMemPerNode"]), parseMegabytes(own["MaxMemPerCPU"])
		}
		partitions, tiers[p.Name], modes[p.Name] = append(partitions, p), parseCount(r["PriorityTier"]), r["PreemptMode"]
	}
	for i := range partitions {
		if p := &partitions[i]; s.preempts {
			p.Preempted = preempted(p, partitions, tiers, modes[p.Name])
		}
	}
	return slices.DeleteFunc(partitions, func(p cluster.Partition) bool { return p.Hidden && !who.admin }), tiers
}

// closed returns the reason why no job of this user can be submitted to a partition, or start in it, and whether jobs that are in it start
// all the same.
func closed(r map[string]string, who caller) (why string, drains bool) {
	switch state := r["State"]; {
	case state == "DOWN":
		return "it is down, so jobs wait", false
	case state == "INACTIVE" || state == "DRAIN":
		return "it accepts no jobs (" + strings.ToLower(state) + ")", state == "DRAIN"
	case r["RootOnly"] == "YES" && !who.admin:
		return "only administrators may use it", true
	case r["DisableRootJobs"] == "YES" && who.admin:
		return "root may not use it", true
	case r["AllowGroups"] != "ALL" && !who.anyGroup && bars(r["AllowGroups"], who.groups):
		return "none of your groups may use it (AllowGroups=" + r["AllowGroups"] + ")", true
	}
	return "", false
}

// bars reports whether a list of groups has none of the user's. Of groups that are not known, numbers, and names with blanks nobody knows.
func bars(list string, groups []string) bool {
	return len(groups) > 0 && !slices.ContainsFunc(strings.Split(list, ","), func(name string) bool {
		_, err := strconv.Atoi(name)
		return err == nil || strings.Contains(name, " ") || slices.Contains(groups, name)
	})
}

// admitted returns the accounts or QOS of a partition, in the form of cluster.Partition. Slurm prints those that are denied where none is allowed.
func admitted(r map[string]string, of string) []string {
	if list := given(r["Deny"+of]); list != "" {
		return strings.Split("-"+strings.ReplaceAll(list, ",", ",-"), ",")
	}
	if list := given(r["Allow"+of]); list != "" && list != "ALL" {
		return strings.Split(list, ",")
	}
	return nil
}

// preempted returns in words what jobs of partitions of a higher tier do to the jobs of a partition with the same nodes, or "".
func preempted(p *cluster.Partition, all []cluster.Partition, tiers map[string]int, mode string) string {
	by := slices.IndexFunc(all, func(o cluster.Partition) bool {
		return tiers[o.Name] > tiers[p.Name] && slices.ContainsFunc(o.Nodes, func(n int) bool { return slices.Contains(p.Nodes, n) })
	})
	if means := preemptModes.First(func(word string) bool { return strings.Contains(mode, word) }); by >= 0 && means != "" {
		return "jobs of partition " + all[by].Name + " " + means + " its jobs when they need the nodes"
	}
	return ""
}

// preemptModes are the words of PreemptMode by which jobs lose their nodes. Those of berth are cancelled where others are queued again.
const preemptModes driver.Table = `
SUSPEND = suspend
REQUEUE = end
CANCEL = end
`

// places are the indices of a snapshot's nodes, by name.
type places struct {
	index map[string]int
	err   error // of the first host list that is wrong
}

// placesOf returns the places of nodes.
func placesOf(nodes []cluster.Node) *places {
	at := &places{index: make(map[string]int, len(nodes))}
	for i, n := range nodes {
		at.index[n.Name] = i
	}
	return at
}

// indices returns the indices of the nodes in a host list. It skips unknown names: they are nodes of partitions that the user cannot see.
func (at *places) indices(list string) []int {
	names, err := expandHosts(list)
	at.err = cmp.Or(at.err, err)
	all := make([]int, 0, len(names))
	for _, name := range names {
		if i, ok := at.index[name]; ok {
			all = append(all, i)
		}
	}
	return all
}

// parseReservations reads "scontrol show reservation -o" for a user in these groups.
func parseReservations(out, user string, groups []string, at *places) (all []cluster.Reservation) {
	for _, r := range parseRecords(out, "ReservationName") {
		x := cluster.Reservation{
			Name: r["ReservationName"], Nodes: at.indices(r["Nodes"]), Start: parseTime(r["StartTime"]), End: parseTime(r["EndTime"]),
			Mine: admits(r["Users"], user) && admits(r["Groups"], groups...), Magnetic: slices.Contains(strings.Split(r["Flags"], ","), "MAGNETIC"),
		}
		accounts := given(r["Accounts"])
		x.Mine = x.Mine && given(r["Users"])+given(r["Groups"])+accounts != ""
		if accounts != "" {
			x.Accounts = strings.Split(accounts, ",")
		}
		all = append(all, x)
	}
	return all
}

// admits reports whether a list of a reservation admits somebody with these names: if it has one of them or, if it names those that are not
// admitted, none. There may be no list.
func admits(list string, names ...string) bool {
	return given(list) == "" || strings.HasPrefix(list, "-") != slices.ContainsFunc(strings.Split(list, ","), func(s string) bool {
		return slices.Contains(names, strings.TrimPrefix(s, "-"))
	})
}

// grain is the unit to which Slurm rounds wall times up.
const grain = time.Minute
