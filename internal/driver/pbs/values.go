package pbs

import (
	"math"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver/batch"
)

// Parsers of single values, in the formats of pbs_resources(7) and qstat(1).

var parseCount, parseSpan = batch.Count, batch.Span

// parseSize reads an amount of memory such as "8gb", "1048576kb" or "4096", in bytes; 0 if there is none. A word ("kw") has eight bytes.
func parseSize(s string) int64 {
	s, words := strings.CutSuffix(strings.ToLower(s), "w")
	n, err := parse.Size("", s)
	switch {
	case err != nil || words && n > math.MaxInt64/8:
		return 0
	case words:
		return n * 8
	}
	return n
}

// parseTime reads a time in UTC, as commandEnv asks for; 0 if there is none.
func parseTime(s string) job.Time { return batch.Time(s, time.ANSIC) }

// resources reads what a chunk or a vnode has, given the value of each resource. Cores count as given: the caller knows the default.
func resources(value func(name string) string) job.Resources {
	r := job.Resources{CPUs: parseCount(value("ncpus")), Mem: parseSize(value("mem")), GPUs: parseCount(value("ngpus"))}
	if r.GPUs > 0 {
		r.GPUType = value(gpuType)
	}
	return r
}

// gpuType is the resource by which sites usually tell kinds of GPUs apart.
const gpuType = "gpu_type"

// part is one or more chunks of a select, or the share of a job on one vnode.
type part struct {
	head string // how many chunks it is, or the name of the vnode
	job.Resources
}

// parseParts reads a select such as "2:ncpus=4:mem=1gb+ncpus=8", or an exec_vnode such as "(n1:ncpus=4:mem=1048576kb+n1b:ncpus=2)+(n2:ncpus=4)".
// A part that does not say how many cores it has, has that many.
func parseParts(s, cores string) []part {
	var parts []part
	for text := range strings.SplitSeq(strings.NewReplacer("(", "", ")", "").Replace(s), "+") {
		p, given := part{}, map[string]string{"ncpus": cores}
		for i, item := range strings.Split(text, ":") {
			if name, value, ok := strings.Cut(item, "="); ok {
				given[name] = value
			} else if i == 0 {
				p.head = item
			}
		}
		p.Resources = resources(func(name string) string { return given[name] })
		parts = append(parts, p)
	}
	return parts
}

// parseHosts reads the hosts of an exec_host such as "n1/0*4+n2/0*4", each once.
func parseHosts(s string) []string {
	var hosts []string
	for item := range strings.SplitSeq(s, "+") {
		if host, _, _ := strings.Cut(item, "/"); host != "" && (len(hosts) == 0 || hosts[len(hosts)-1] != host) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
