package slurm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// TestSnapshots checks that the output of several versions of Slurm gives the snapshots in
// testdata.
func TestSnapshots(t *testing.T) {
	datadriven.Walk(t, "testdata/snapshot", func(t *testing.T, path string) {
		var x texts
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			input := d.Input + "\n"
			switch d.Cmd {
			case "config":
				x.config = input
				s := parseSite(input)
				return fmt.Sprintf("cluster %s, version %s, memory %t, whole %t, accounting %t\n", s.cluster, parseConfig(input)["SLURM_VERSION"], s.memory, s.wholeNodes, s.accounting)
			case "nodes":
				x.nodes = input
			case "partitions":
				x.partitions = input
			case "reservations":
				x.reservations = input
			case "queue":
				var err error
				if x.queue, err = parseTable(strings.ReplaceAll(input, "|", separator), len(queueFields)); err != nil {
					d.Fatalf(t, "%v", err)
				}
			case "snapshot":
				user := "root"
				d.MaybeScanArgs(t, "user", &user)
				var groups string
				d.MaybeScanArgs(t, "groups", &groups)
				x.groups = strings.Fields(strings.ReplaceAll(groups, "+", " "))
				snap, err := x.snapshot(user, d.HasArg("admin"))
				if err != nil {
					return "error: " + err.Error() + "\n"
				}
				return render(snap)
			default:
				d.Fatalf(t, "unknown command")
			}
			return ""
		})
	})
}

// TestBackfillDepth: nodes are reserved for all jobs that the backfill scheduler plans, unless the configuration says for how many.
func TestBackfillDepth(t *testing.T) {
	for parameters, want := range map[string]int{"(null)": 500, "": 500, "bf_interval=1,bf_continue,bf_max_job_test=1000": 1000,
		"bf_max_job_test=100, bf_job_part_count_reserve=3": 3, "bf_job_part_count_reserve=0": 500} {
		if s := parseSite("SchedulerParameters     = " + parameters + "\n"); s.depth != want {
			t.Errorf("%q: for %d jobs, want %d", parameters, s.depth, want)
		}
	}
}

// render writes a snapshot, one line for each thing in it.
func render(s cluster.Snapshot) string {
	var b strings.Builder
	q := s.Queue
	fmt.Fprintf(&b, "%s: cluster %s, user %s, grain %v\n", s.Driver, q.Cluster, q.User, q.Grain)
	for i, n := range s.Nodes {
		fmt.Fprintf(&b, "node %d %s: %s, free %s, features %v, down %q\n", i, n.Name, res(n.Capacity), res(n.Free), n.Features, n.Down)
	}
	for _, p := range q.Partitions {
		fmt.Fprintf(&b, "partition %s: nodes %v, default %t, max time %v, default time %v, nodes %d-%d, whole %t, closed %q\n",
			p.Name, p.Nodes, p.Default, p.MaxTime, p.DefaultTime, p.MinNodes, p.MaxNodes, p.Whole, p.Closed)
		if len(p.Accounts)+len(p.QOSes) > 0 || p.Preempted != "" {
			fmt.Fprintf(&b, "  accounts %v, QOS %v, preempted %q\n", p.Accounts, p.QOSes, p.Preempted)
		}
	}
	for _, r := range q.Reservations {
		fmt.Fprintf(&b, "reservation %s: nodes %v, from %s to %s, mine %t\n", r.Name, r.Nodes, at(r.Start), at(r.End), r.Mine)
	}
	jobs := func(what string, list []cluster.Queued) {
		for _, j := range list {
			fmt.Fprintf(&b, "%s %s of %s in %s: %d nodes %v, each %s, whole %t, start %s, limit %v", what, j.ID, j.User, j.Partition, j.Count, j.Nodes,
				res(j.PerNode), j.Whole, at(j.Start), j.Limit)
			if j.Repeat > 0 {
				fmt.Fprintf(&b, ", %d times", j.Repeat)
			}
			if j.Held != "" {
				fmt.Fprintf(&b, ", held: %s", j.Held)
			}
			b.WriteByte('\n')
		}
	}
	jobs("running", q.Running)
	jobs("pending", q.Pending)
	return b.String()
}

func res(r job.Resources) string {
	s := fmt.Sprintf("%d CPUs %s", r.CPUs, job.FormatSize(r.Mem))
	if r.GPUs > 0 || r.GPUType != "" {
		s += " " + r.GPUWords()
	}
	return s
}

func at(t job.Time) string {
	if t == 0 {
		return "?"
	}
	return t.Std().Format(time.RFC3339)
}
