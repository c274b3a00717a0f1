package slurm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
	"unicode"

	"berth/internal/cluster"
	"berth/internal/job"
)

// site is what scontrol show config says that matters here.
type site struct {
	cluster    string
	id         string // tells the cluster from others of the same name
	version    string
	memory     bool // memory is given to jobs: what is asked for is had, and no more
	wholeNodes bool // nodes are never shared (select/linear)
	limits     bool // those of associations and QOS are enforced
	accounting bool // sacct knows of jobs that ended
}

func parseSite(out string) site {
	c := parseConfig(out)
	return site{
		cluster: c["ClusterName"], id: clusterID(c), version: c["SLURM_VERSION"],
		memory:     strings.Contains(strings.ToUpper(c["SelectTypeParameters"]), "MEMORY"),
		wholeNodes: c["SelectType"] == "select/linear",
		limits:     strings.Contains(c["AccountingStorageEnforce"], "limits") || strings.Contains(c["AccountingStorageEnforce"], "safe"),
		accounting: c["AccountingStorageType"] == "accounting_storage/slurmdbd",
	}
}

// clusterID names a cluster by its configuration: by its name, for people, and by a hash of its
// first controller and port, as small clusters often have the same name. It fits a file's name.
func clusterID(config map[string]string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{config["ClusterName"], config["SlurmctldHost[0]"], config["SlurmctldPort"]}, "\n")))
	name := strings.Map(func(r rune) rune {
		if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return -1
	}, config["ClusterName"])
	return name + "-" + hex.EncodeToString(sum[:6])
}

// node is a node with what only a whole snapshot can judge.
type node struct {
	cluster.Node
	reserved bool // a reservation keeps it now
}

// parseNodes reads scontrol show node -o.
func parseNodes(out string, s site) []node {
	var nodes []node
	for _, r := range parseRecords(out, "NodeName") {
		nodes = append(nodes, parseNode(r, s))
	}
	return nodes
}

// guessedMem is how much memory a CPU has, bytes, of which neither slurm.conf nor slurmd says anything.
const guessedMem = 1 << 30

func parseNode(r map[string]string, s site) node {
	cpus := parseCount(r["CPUEfctv"]) // without those that are kept for the system
	if cpus == 0 {
		cpus = parseCount(r["CPUTot"])
	}
	n := node{Node: cluster.Node{Name: r["NodeName"]}}
	mem := parseMegabytes(r["RealMemory"]) - parseMegabytes(r["MemSpecLimit"])
	if !s.memory && mem <= 1<<20 { // the size is not configured: what slurmd found to be free, or a guess
		if mem = parseMegabytes(r["FreeMem"]); mem == 0 {
			mem = int64(cpus) * guessedMem
		}
	}
	n.Capacity = job.Resources{CPUs: cpus, Mem: max(mem, 0)}
	n.Free = n.Capacity.Minus(job.Resources{CPUs: parseCount(r["CPUAlloc"]), Mem: parseMegabytes(r["AllocMem"])})
	n.Free = job.Resources{CPUs: max(n.Free.CPUs, 0), Mem: max(n.Free.Mem, 0)}
	if f := r["ActiveFeatures"]; !isNone(f) {
		n.Features = strings.Split(f, ",")
	}
	n.Down, n.reserved = nodeState(r["State"], r["Reason"])
	return n
}

// downStates are the parts of a node's state in which no job starts there, and what they
// mean. Nodes that are powered down to save power are woken by a job; PLANNED and COMPLETING pass.
var downStates = []struct{ state, means string }{
	{"DOWN", "down"}, {"ERROR", "in error"}, {"UNKNOWN", "not heard of yet"}, {"FUTURE", "not there yet"}, {"DYNAMIC_FUTURE", "not there yet"},
	{"NOT_RESPONDING", "does not answer"}, {"DRAIN", "drained"}, {"FAIL", "failing"}, {"INVALID_REG", "registered wrongly"},
	{"REBOOT_REQUESTED", "about to boot"}, {"REBOOT_ISSUED", "booting"}, {"BLOCKED", "blocked"},
}

// nodeState reads a state such as "IDLE+DRAIN+NOT_RESPONDING": why no job can start on the
// node, "" where one can, and whether a reservation keeps it at the moment.
func nodeState(state, reason string) (down string, reserved bool) {
	parts := strings.Split(strings.TrimRight(state, "*~#!%$@^-"), "+") // older versions print flags as signs
	if strings.Contains(state, "*") {
		parts = append(parts, "NOT_RESPONDING")
	}
	for _, d := range downStates {
		if slices.Contains(parts, d.state) {
			return strings.TrimSuffix(d.means+": "+reasonText(reason), ": "), false
		}
	}
	for _, p := range parts {
		reserved = reserved || p == "RESERVED" || p == "MAINT" || p == "MAINTENANCE"
	}
	return "", reserved
}

// reasonText returns a reason without who gave it and when, "bad disk [root@1795231820]".
func reasonText(reason string) string {
	if i := strings.LastIndex(reason, " ["); i >= 0 && strings.Contains(reason[i:], "@") {
		reason = reason[:i]
	}
	if isNone(reason) {
		return ""
	}
	return reason
}

// partition is a partition with what orders jobs.
type partition struct {
	cluster.Partition
	tier int // jobs of a higher one come first
}

// parsePartitions reads scontrol show partition -o. index is each node's place; admin says
// that the user is root.
func parsePartitions(out string, index map[string]int, s site, admin bool) ([]partition, error) {
	var partitions []partition
	for _, r := range parseRecords(out, "PartitionName") {
		nodes, err := indices(r["Nodes"], index)
		if err != nil {
			return nil, err
		}
		p := partition{tier: parseCount(r["PriorityTier"]), Partition: cluster.Partition{
			Name: r["PartitionName"], Default: r["Default"] == "YES", Nodes: nodes, Closed: closed(r, admin),
			MinNodes: parseCount(r["MinNodes"]), MaxNodes: parseCount(r["MaxNodes"]), // UNLIMITED is no number
			Whole: s.wholeNodes || r["OverSubscribe"] == "EXCLUSIVE",
		}}
		if !isNone(r["QoS"]) {
			p.QOS = r["QoS"]
		}
		p.MaxTime, _ = parseLimit(r["MaxTime"])
		p.DefaultTime, _ = parseLimit(r["DefaultTime"])
		partitions = append(partitions, p)
	}
	return partitions, nil
}

// closed returns why no job of this user can be submitted to a partition, or start in it.
func closed(r map[string]string, admin bool) string {
	switch state := r["State"]; {
	case state == "DOWN":
		return "it is down: jobs wait"
	case state == "INACTIVE" || state == "DRAIN":
		return "it takes no jobs (" + strings.ToLower(state) + ")"
	case r["RootOnly"] == "YES" && !admin:
		return "only administrators may use it"
	case r["DisableRootJobs"] == "YES" && admin:
		return "root may not use it"
	}
	return ""
}

// indices expands a host list to places in a snapshot. Names that are not there are passed
// over: nodes of partitions that the user cannot see.
func indices(list string, index map[string]int) ([]int, error) {
	names, err := expandHosts(list)
	if err != nil {
		return nil, err
	}
	places := make([]int, 0, len(names))
	for _, name := range names {
		if i, ok := index[name]; ok {
			places = append(places, i)
		}
	}
	return places, nil
}

// parseReservations reads scontrol show reservation -o.
func parseReservations(out, user string, index map[string]int) ([]cluster.Reservation, error) {
	var all []cluster.Reservation
	for _, r := range parseRecords(out, "ReservationName") {
		nodes, err := indices(r["Nodes"], index)
		if err != nil {
			return nil, err
		}
		all = append(all, cluster.Reservation{
			Name: r["ReservationName"], Nodes: nodes, Start: parseTime(r["StartTime"]), End: parseTime(r["EndTime"]),
			Mine: slices.Contains(strings.Split(r["Users"], ","), user),
		})
	}
	return all, nil
}

// grain is what Slurm rounds wall times up to.
const grain = time.Minute
