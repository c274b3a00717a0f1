package engine_test

import (
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// demands parses the demands of phases at full speed: "takes=map:500,256M,10M;merge:…", cores in thousandths, memory,
// disk and network, each for ten seconds.
func (s *scenario) demands(a args) (all []job.PhaseDemand) {
	for part := range strings.SplitSeq(a.key["takes"], ";") {
		name, amounts, ok := strings.Cut(part, ":")
		if !ok {
			continue
		}
		v := append(strings.Split(amounts, ","), "", "", "")
		cpu, err := strconv.Atoi(v[0])
		s.must(err)
		takes := job.Vector{CPU: int64(cpu), Memory: s.size(v[1]), Disk: s.size(v[2]), Net: s.size(v[3])}
		all = append(all, job.PhaseDemand{Phase: s.phase(name), Demand: takes, Seconds: 10})
	}
	return all
}
