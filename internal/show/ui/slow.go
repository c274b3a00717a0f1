package ui

import (
	"fmt"
	"io"
	"math"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// mostSlowHosts is how many nodes are listed, the slowest first.
const mostSlowHosts = 20

// Slowness writes how often nodes were slow. Its JSON form is the value itself.
func Slowness(w io.Writer, v predict.Slowness) error {
	if v.Attempts == 0 {
		return put(w, "no run has ended yet with ten or more tasks of a second or longer\n")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s were slow: %s. They took more than 1.5 times the median of their job and lay beyond its spread,\nor were ended as too slow.\n",
		job.FormatCount(v.Slow), job.Count(v.Attempts, "attempt"), perMille(v.Share()))
	for _, n := range v.None {
		fmt.Fprintf(&b, "a job of %s meets no slow node with a probability of %.2g\n", job.Count(n.Tasks, "task"), n.Probability)
	}
	hours, hosts := newTable("HOUR>", "ATTEMPTS>", "SLOW>", "SHARE>", ""), newTable("NODE", "ATTEMPTS>", "SLOW>", "SHARE>")
	most := 0.0
	for _, x := range v.Hours {
		most = max(most, x.Share())
	}
	for _, x := range v.Hours {
		hours.add(fmt.Sprint(x.Hour), job.FormatCount(x.Attempts), job.FormatCount(x.Slow), perMille(x.Share()), strings.Repeat("#", int(math.Round(30*x.Share()/max(most, 1e-9)))))
	}
	for _, x := range v.Hosts[:min(mostSlowHosts, len(v.Hosts))] {
		hosts.add(x.Host, job.FormatCount(x.Attempts), job.FormatCount(x.Slow), perMille(x.Share()))
	}
	return put(w, b.String()+"\n"+hours.String()+"\n"+hosts.String())
}

// perMille writes a small share of 1 as "0.5 %".
func perMille(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
