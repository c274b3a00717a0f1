package slurm

import (
	"cmp"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// gres is a number of GPUs of one type in one of Slurm's lists; the type may be empty.
type gres struct {
	kind  string
	count int
}

// parseGres reads the GPUs of a list of resources as nodes, requests and accounting have them: "gpu:4", "gpu:a100:4(S:0-1)",
// "gpu:a100:2(IDX:0,3),gpu:v100:0(IDX:N/A)", "gres:gpu:2", "gres/gpu:a100:2", "cpu=2,gres/gpu=2,gres/gpu:a100=2". Parts in parentheses say
// which of them. Without a number it is one.
func parseGres(list string) (all []gres) {
	if !strings.Contains(list, "gpu") {
		return nil
	}
	for item := range strings.SplitSeq(inParentheses().ReplaceAllString(list, ""), ",") {
		if of := gpuItem().FindStringSubmatch(item); of != nil {
			all = append(all, gres{strings.TrimPrefix(of[1], "no_consume"), parseCount(cmp.Or(of[2], "1"))})
		}
	}
	return all
}

// gpuItem finds the type and the number of GPUs in an item of such a list. A number at its end is the count, also where a type before it is a
// number (gpu:2080:4), and what is no number is a type, as "1g.5gb".
var (
	gpuItem       = pattern.Lazy(`^(?:gres[/:])?gpu(?::([^:=]*))??(?::no_consume)?(?:[:=]([0-9]+[KM]?))?$`)
	inParentheses = pattern.Lazy(`\([^()]*\)`)
)

// sumGres returns the number of all GPUs, and their type if all have the same one.
func sumGres(all []gres) (count int, kind string) {
	total, typed, kinds := 0, 0, map[string]bool{}
	for _, g := range all {
		if g.kind == "" {
			total += g.count
		} else if g.count > 0 {
			typed, kind, kinds[g.kind] = typed+g.count, g.kind, true
		}
	}
	if count = min(max(total, typed), job.MaxCPUs); len(kinds) > 1 || typed < total {
		kind = ""
	}
	return count, kind
}

// nodeGPUs returns the GPUs of a node and those of them that are free. Of a node with several types those count which it has most of.
func nodeGPUs(r map[string]string) (all, free job.Resources) {
	has, most := map[string]int{}, gres{}
	for _, g := range parseGres(r["Gres"]) {
		if has[g.kind] = min(has[g.kind]+g.count, job.MaxCPUs); has[g.kind] > most.count {
			most = gres{g.kind, has[g.kind]}
		}
	}
	busy := map[string]int{}
	for _, u := range parseGres(cmp.Or(given(r["GresUsed"]), r["AllocTRES"])) {
		busy[u.kind] += u.count
	}
	used := busy[most.kind]
	if untyped, is := busy[""]; is && len(busy) == 1 {
		used = untyped
	}
	all = job.Resources{GPUs: most.count, GPUType: most.kind}
	free = all
	free.GPUs = max(0, most.count-max(0, used))
	return all, free
}

// jobGPUs returns the GPUs that a job has, or asks for, on each of its nodes: as accounted for, else as requested for a node or for
// the job. Without accounting Slurm does not count GPUs otherwise.
func jobGPUs(tres, perNode, perJob string, nodes int) (count int, kind string) {
	all := parseGres(tres)
	if all == nil {
		if each := parseGres(perNode); each != nil {
			return sumGres(each)
		}
		all = parseGres(perJob)
	}
	count, kind = sumGres(all)
	return (count + nodes - 1) / nodes, kind
}
