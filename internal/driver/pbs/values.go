package pbs

import (
	"math"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
)

// Parsers of single values, in the formats of pbs_resources(7) and qstat(1).

// parseCount reads a number that is not negative; 0 if there is none.
func parseCount(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

// parseSize reads an amount of memory such as "8gb", "1048576kb" or "4096", in bytes; 0 if there is none. A word ("kw") has eight bytes.
func parseSize(s string) int64 {
	s = strings.ToLower(s)
	unit := int64(1)
	if strings.HasSuffix(s, "w") {
		unit = 8
	}
	s = strings.TrimSuffix(strings.TrimSuffix(s, "w"), "b")
	if s != "" {
		if i := strings.IndexByte("kmgtp", s[len(s)-1]); i >= 0 {
			unit, s = unit<<(10*(i+1)), s[:len(s)-1]
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0
	}
	return n * unit
}

// parseSpan reads a time such as "48:00:00", "90" (seconds) or "1:30.5"; 0 if there is none.
func parseSpan(s string) time.Duration {
	whole, _, _ := strings.Cut(s, ".")
	total := int64(0)
	parts := strings.Split(whole, ":")
	if len(parts) > 3 {
		return 0
	}
	for _, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return 0
		}
		total = total*60 + n
	}
	if total > math.MaxInt64/int64(time.Second) {
		return 0
	}
	return time.Duration(total) * time.Second
}

// timeLayout is the form of PBS's times in the locale C.
const timeLayout = "Mon Jan _2 15:04:05 2006"

// parseTime reads a time in UTC, as commandEnv asks for; 0 if there is none.
func parseTime(s string) job.Time {
	t, err := time.Parse(timeLayout, s)
	if err != nil || t.Unix() < 0 || t.Unix() > math.MaxInt64/int64(time.Second) {
		return 0
	}
	return job.Time(t.UnixNano())
}

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

// part is some chunks of a select, or the share of a job on one vnode.
type part struct {
	name string // of the vnode
	n    int    // number of chunks
	job.Resources
}

// parseSelect reads a select such as "2:ncpus=4:mem=1gb+ncpus=8". Chunks have one core unless they say otherwise.
func parseSelect(s string) []part {
	var parts []part
	for chunk := range strings.SplitSeq(s, "+") {
		p := part{n: 1}
		given := map[string]string{"ncpus": "1"}
		for i, item := range strings.Split(chunk, ":") {
			name, value, ok := strings.Cut(item, "=")
			switch {
			case ok:
				given[name] = value
			case i == 0:
				p.n = max(parseCount(item), 1)
			}
		}
		p.Resources = resources(func(name string) string { return given[name] })
		parts = append(parts, p)
	}
	return parts
}

// parseVnodes reads an exec_vnode such as "(n1:ncpus=4:mem=1048576kb+n1b:ncpus=2)+(n2:ncpus=4)".
func parseVnodes(s string) []part {
	var parts []part
	for share := range strings.SplitSeq(strings.NewReplacer("(", "", ")", "").Replace(s), "+") {
		name, rest, _ := strings.Cut(share, ":")
		if name == "" {
			continue
		}
		given := map[string]string{}
		for item := range strings.SplitSeq(rest, ":") {
			key, value, _ := strings.Cut(item, "=")
			given[key] = value
		}
		parts = append(parts, part{name: name, n: 1, Resources: resources(func(name string) string { return given[name] })})
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
