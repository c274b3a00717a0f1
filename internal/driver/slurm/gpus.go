package slurm

import (
	"strings"

	"berth/internal/core/job"
)

// gres is a number of GPUs of one type in one of Slurm's lists; the type may be empty.
type gres struct {
	kind  string
	count int
}

// parseGres reads the GPUs of a list of generic resources, as nodes and requests have them: "gpu:4", "gpu:a100:4(S:0-1)",
// "gpu:a100:2(IDX:0,3),gpu:v100:0(IDX:N/A)", "gres:gpu:2", "gres/gpu:a100:2". Parts in parentheses say which of them.
func parseGres(list string) (all []gres) {
	for item := range strings.SplitSeq(withoutParentheses(list), ",") {
		item = strings.TrimPrefix(strings.TrimPrefix(item, "gres/"), "gres:")
		parts := strings.Split(item, ":")
		if parts[0] != "gpu" {
			continue
		}
		g := gres{count: 1} // "gpu" alone and "gpu:a100" are one
		if last := len(parts) - 1; last > 0 && isCount(parts[last]) {
			g.count, parts = parseCount(parts[last]), parts[:last]
		}
		if len(parts) > 1 && parts[1] != "no_consume" {
			g.kind = parts[1]
		}
		all = append(all, g)
	}
	return all
}

// isCount reports whether a word is a number and not the name of a type, such as "1g.5gb".
func isCount(s string) bool {
	s = strings.TrimRight(s, "KM")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// withoutParentheses returns a text without what stands in parentheses.
func withoutParentheses(s string) string {
	var b strings.Builder
	depth := 0
	for _, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// tresGres reads the GPUs of a list of trackable resources: "cpu=2,gres/gpu=2,gres/gpu:a100=2". The count without a type is that
// of all of them.
func tresGres(list string) (all []gres) {
	for item := range strings.SplitSeq(list, ",") {
		name, count, ok := strings.Cut(item, "=")
		name, is := strings.CutPrefix(name, "gres/gpu")
		if kind, typed := strings.CutPrefix(name, ":"); ok && is && (typed || name == "") {
			all = append(all, gres{kind, parseCount(count)})
		}
	}
	return all
}

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
	used := tresGres(r["AllocTRES"])
	if !isNone(r["GresUsed"]) {
		used = parseGres(r["GresUsed"])
	}
	busy, untyped, typed := 0, 0, false
	for _, u := range used {
		switch u.kind {
		case "":
			untyped += u.count
		case most.kind:
			busy += u.count
		}
		typed = typed || u.kind != ""
	}
	if !typed {
		busy = untyped
	}
	all = job.Resources{GPUs: most.count, GPUType: most.kind}
	free = all
	free.GPUs = max(0, most.count-max(0, busy))
	return all, free
}

// jobGPUs returns the GPUs that a job has, or asks for, on each of its nodes: as accounted for, else as requested for a node or for
// the job. Without accounting Slurm does not count GPUs otherwise.
func jobGPUs(tres, perNode, perJob string, nodes int) (count int, kind string) {
	all := tresGres(tres)
	if all == nil {
		if each := parseGres(perNode); each != nil {
			return sumGres(each)
		}
		all = parseGres(perJob)
	}
	count, kind = sumGres(all)
	return (count + nodes - 1) / nodes, kind
}
