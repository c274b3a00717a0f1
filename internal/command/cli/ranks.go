package cli

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// scriptOption is an option in the lines of a script for a batch system.
type scriptOption struct {
	said, name, value string // said is the whole as in the script
	here              string // what a bag calls it, "" if a bag has none
}

// scriptRanks is what the options of a script say about the ranks of its job. Slurm starts one on each node unless they say otherwise.
type scriptRanks struct {
	job.Gang
	onNode int      // how many ranks each node has; 0: not known
	said   []string // options that say it
}

// ranksOf returns the ranks that the options say, and the others. One that is not a number, as in --nodes=2-4, stays: it is named as not used.
func ranksOf(options []scriptOption) (r scriptRanks, others []scriptOption) {
	n := make(map[string]int)
	for _, o := range options {
		number, err := strconv.Atoi(o.value)
		if o.here != "ranks" && o.here != "ranks-per-node" || err != nil || number < 1 || number > job.MaxRanks {
			others = append(others, o)
			continue
		}
		if r.said = append(r.said, o.said); o.name[0] == 'N' || o.name == "nodes" {
			n["nodes"] = number
		} else {
			n[o.here] = number
		}
	}
	nodes, per := n["nodes"], n["ranks-per-node"]
	switch r.Ranks = n["ranks"]; {
	case r.Ranks == 0:
		r.onNode = max(1, per)
		r.Ranks = min(job.MaxRanks, max(1, nodes)*r.onNode)
	case per > 0:
		r.onNode = min(per, r.Ranks)
	case nodes > 0:
		r.onNode = (r.Ranks + nodes - 1) / nodes
	case r.Ranks == 1:
		r.onNode = 1
	}
	r.RanksPerNode = r.onNode
	return r, others
}

// forRank returns the value of an option for one rank, of which a script says it for a node: its memory, and its GPUs as in gpu:a100:4. It
// returns "" if that is not known.
func (r *scriptRanks) forRank(where string, o scriptOption) string {
	switch {
	case r.onNode == 0:
		return ""
	case o.name == "mem":
		size, err := parse.Mem(where, o.value)
		if err != nil || r.onNode == 1 {
			return o.value // an error is told where it is set
		}
		each := int64(r.onNode) << 20
		return strconv.FormatInt((size+each-1)/each, 10) + "M" // rounded up: 0 is no limit
	}
	kind, number, typed := strings.Cut(strings.TrimPrefix(o.value, "gpu:"), ":")
	if !typed {
		kind, number = "", kind
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n%r.onNode > 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%d:%s", n/r.onNode, kind), ":")
}

// isOfNode reports whether the option of a script says what a node has, and not what a rank has.
func (o *scriptOption) isOfNode() bool {
	return o.name == "mem" || o.name == "gpus-per-node" || o.name == "gres"
}
