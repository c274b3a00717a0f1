package cluster

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/timeline"
)

// noon is when the snapshots of the scenarios were taken; times are given from then on.
const noon job.Time = 43200e9

// TestView runs the scenarios of testdata/scenarios: nodes and jobs, then steps and slots. Nodes are
// lists such as 0-3,7; times and limits are durations; never is no end.
//
//	clear                                     nothing is there
//	nodes n=2 cpus=4 mem=8 features=(a,b)     so many more nodes; also gpus=2:a100, down=why, free=(cpus,mem) or (cpus,mem,gpus)
//	partition name=main nodes=0-1 default     also max=, usual=, closed=why, later=why, whole, forced=expression of the last node
//	run nodes=0 cpus=4 mem=8 ago=1h limit=2h  a running job; also gpus=, partition=, whole
//	wait count=2 cpus=4 limit=2h              a pending job; also gpus=, nodes=, start=, held=why, repeat=, rank=, partition=, whole
//	rank each=1000 whole=500                  what a core of a request counts in the order of pending jobs
//	overtaking most=4 cpus=4                  from how many nodes on a request goes before more of them; also whole
//	reserve name=r nodes=0-1 from=1h to=2h    also mine
//	show cpus=4 mem=8                         the timeline; also gpus=, count=, partition=, whole, constraint=, reservation=, asks=
func TestView(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := scenario{snap: Snapshot{At: noon, Queue: &Queue{}}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, args{t, d}) })
	})
}

type scenario struct{ snap Snapshot }

func (s *scenario) run(t *testing.T, a args) string {
	q := s.snap.Queue
	switch a.d.Cmd {
	case "clear":
		*s = scenario{snap: Snapshot{At: noon, Queue: &Queue{}}}
	case "nodes":
		s.nodes(a)
	case "partition":
		p := Partition{Name: a.text("name"), Default: a.has("default"), Closed: a.text("closed"), Later: a.text("later"), Drains: a.has("drains"),
			Nodes: a.list("nodes"), MaxTime: a.span("max"), DefaultTime: a.span("usual"), Whole: a.has("whole")}
		if a.has("forced") {
			p.Forced = map[int]string{p.Nodes[len(p.Nodes)-1]: a.text("forced")}
		}
		q.Partitions = append(q.Partitions, p)
	case "run":
		j := a.job()
		j.Start = noon.Add(-a.span("ago"))
		q.Running = append(q.Running, j)
	case "wait":
		q.Pending = append(q.Pending, a.job())
	case "rank":
		q.Rank = Rank{PerCore: float64(a.number("each")), Whole: float64(a.number("whole"))}
	case "overtaking":
		return fmt.Sprintln(s.snap.Overtaking(View{PerNode: a.resources(), Whole: a.has("whole")}, a.number("most")))
	case "reserve":
		r := Reservation{Name: a.text("name"), Nodes: a.list("nodes"), Start: noon.Add(a.span("from")), Mine: a.has("mine")}
		if a.has("to") {
			r.End = noon.Add(a.span("to"))
		}
		q.Reservations = append(q.Reservations, r)
	case "show":
		return show(s.snap.Timeline(View{Partition: a.text("partition"), PerNode: a.resources(), Whole: a.has("whole"),
			Constraint: a.text("constraint"), Reservation: a.text("reservation"), Asks: a.text("asks"), Nodes: a.number("count")}))
	default:
		a.d.Fatalf(t, "unknown command %q", a.d.Cmd)
	}
	return ""
}

func (s *scenario) nodes(a args) {
	for range max(a.number("n"), 1) {
		n := Node{Name: "n" + strconv.Itoa(len(s.snap.Nodes)), Capacity: a.resources(), Down: a.text("down")}
		n.Free = n.Capacity
		if a.has("free") {
			free := []any{&n.Free.CPUs, &n.Free.Mem, &n.Free.GPUs}
			a.d.ScanArgs(a.t, "free", free[:len(a.texts("free"))]...)
		} else {
			n.Free = unexplained
		}
		n.Features = a.texts("features")
		s.snap.Nodes = append(s.snap.Nodes, n)
	}
}

// unexplained is more than any node has: what is free is what running jobs leave.
var unexplained = job.Resources{CPUs: 1 << 30, Mem: 1 << 60, GPUs: 1 << 30}

func show(line *timeline.Timeline, f Facts) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes\n", f.Usable)
	for _, e := range f.Excluded {
		fmt.Fprintf(&b, "not %d: %s\n", e.Nodes, e.Reason)
	}
	for _, n := range []struct {
		what string
		many int
	}{{"nodes with unseen jobs", f.Unseen}, {"jobs held", f.Held}, {"jobs of closed partitions", f.Closed}, {"jobs without a place", f.Unplaced}} {
		if n.many > 0 {
			fmt.Fprintf(&b, "%s: %d\n", n.what, n.many)
		}
	}
	for _, m := range f.NotUnderstood {
		fmt.Fprintln(&b, m)
	}
	for _, s := range line.Steps() {
		fmt.Fprintf(&b, "%8s %d\n", s.Start.Sub(noon), s.Free)
	}
	for _, s := range line.Slots() {
		d := s.Duration.String()
		if s.Duration == timeline.Unbounded {
			d = "∞"
		}
		fmt.Fprintf(&b, "slot %8s %d × %s\n", s.Start.Sub(noon), s.Nodes, d)
	}
	return b.String()
}

// args reads the arguments of a command; what is not given is 0 or empty.
type args struct {
	t *testing.T
	d *datadriven.TestData
}

func (a args) has(key string) bool { return a.d.HasArg(key) }

func (a args) texts(key string) []string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key {
			return arg.Vals
		}
	}
	return nil
}

func (a args) text(key string) string { return strings.Join(a.texts(key), ",") }

func (a args) number(key string) int {
	if !a.has(key) {
		return 0
	}
	n, err := strconv.Atoi(a.text(key))
	if err != nil {
		a.d.Fatalf(a.t, "%s: %v", key, err)
	}
	return n
}

func (a args) span(key string) time.Duration {
	if !a.has(key) {
		return 0
	}
	d, err := time.ParseDuration(a.text(key))
	if err != nil {
		a.d.Fatalf(a.t, "%s: %v", key, err)
	}
	return d
}

func (a args) resources() job.Resources {
	r := job.Resources{CPUs: a.number("cpus"), Mem: int64(a.number("mem"))}
	if a.has("gpus") {
		var err error
		if r.GPUs, r.GPUType, err = parse.GPUs("gpus", a.text("gpus")); err != nil {
			a.d.Fatalf(a.t, "%v", err)
		}
	}
	return r
}

func (a args) list(key string) []int {
	var out []int
	for _, part := range a.texts(key) {
		low, high, _ := strings.Cut(part, "-")
		from, err := strconv.Atoi(low)
		to := from
		if high != "" && err == nil {
			to, err = strconv.Atoi(high)
		}
		if err != nil {
			a.d.Fatalf(a.t, "%s: %v", key, err)
		}
		for i := from; i <= to; i++ {
			out = append(out, i)
		}
	}
	return out
}

func (a args) job() Queued {
	j := Queued{Partition: a.text("partition"), Nodes: a.list("nodes"), Count: a.number("count"), PerNode: a.resources(), Whole: a.has("whole"),
		Limit: a.span("limit"), Held: a.text("held"), Repeat: a.number("repeat"), Rank: float64(a.number("rank"))}
	if j.Partition == "" {
		j.Partition = "main"
	}
	if j.Count == 0 {
		j.Count = max(len(j.Nodes), 1)
	}
	if a.has("start") {
		j.Start = noon.Add(a.span("start"))
	}
	return j
}
