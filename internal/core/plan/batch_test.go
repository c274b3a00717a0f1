package plan

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/timeline"
)

// What the scenarios of a queue know besides those of TestPlan:
//
//	queue unit=60 cpus=2 mem=4G gpus=2  a drawing of the queue, a line a node, a letter a job, from now on; main is its first nodes up to last
//	partition name=… min-time=… …       a partition of some of its nodes; the first one is drawn with it
//	resize first=… last=… cpus=… mem=…  other nodes of the drawing
//	share cpus=… mem=… hours=…          jobs of others that use so much of each node
//	mine cpus=…                         a job of the user that runs on the first node
//	needs n=… c=… need=… g=…            tasks of the next plans with these needs, besides those before; without arguments none
//	set rest=… cut=… span=… start-up=… scout=off power=100:250 energy=5 within=1800 …   what is left of the job, and how the user wants it
//	live nodes=… start=… ends=…         an allocation that the job has; without an end but with a time it waits
//	idle nodes=… start=… ends=…         one that waits for work, of a job that has not begun
//	beside nodes=… next=… ends=…        one that has work of another job of the user
//	free job=A at=…                     when a running job of the user is expected to be given back
//	check nodes=… time=… start=…        an answer of the batch system
//	measured tasks=… ms=…               what this run has shown
//	forget                              the profile
//	elsewhere kind=bag tasks=…          what is told of other partitions than the default one
//	table kind=bag tasks=…              the plan, its requests and the compared candidates
func (s *scenario) runBatch(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "queue":
		s.queue(t, d)
	case "mine":
		s.snap.Queue.Running = append(s.snap.Queue.Running, cluster.Queued{ID: "mine", User: s.snap.Queue.User, Partition: "main", PerNode: resources(t, d, "cpus", "mem", "gpus"),
			Start: begin, Count: 1, Nodes: []int{0}, Limit: time.Hour})
	case "share":
		for i := range s.snap.Nodes {
			r, n := resources(t, d, "cpus", "mem", "gpus"), &s.snap.Nodes[i]
			n.Free = n.Free.Minus(r)
			s.snap.Queue.Running = append(s.snap.Queue.Running, cluster.Queued{ID: n.Name, User: "other", Partition: "main", PerNode: r, Start: begin, Count: 1,
				Nodes: []int{i}, Limit: time.Duration(number(t, d, "hours", 1)) * time.Hour})
		}
	case "resize":
		for i := number(t, d, "first", 1) - 1; i < number(t, d, "last", len(s.snap.Nodes)); i++ {
			s.snap.Nodes[i].Capacity = resources(t, d, "cpus", "mem", "gpus")
			s.snap.Nodes[i].Free = s.snap.Nodes[i].Capacity
		}
	case "forget":
		s.prof = nil
	case "partition":
		s.partition(t, d)
	case "live", "idle", "beside":
		s.live(t, d)
	case "free":
		s.snap = s.snap.GivenBack(text(t, d, "job", "A"), seconds(number(t, d, "at", 0)))
	case "check":
		s.q.Checks = append(s.q.Checks, Check{Nodes: number(t, d, "nodes", 1), PerNode: job.Resources{CPUs: number(t, d, "cpus", 1)},
			Time: time.Duration(number(t, d, "time", 0)) * time.Second, Start: seconds(number(t, d, "start", 0)), Refused: text(t, d, "refused", ""), ForTime: strings.Contains(text(t, d, "refused", ""), "time")})
	case "set":
		s.set(t, d)
	case "start":
		p, err := s.decide(t, d)
		if err != nil {
			return describe(err)
		}
		return fmt.Sprintf("wait %v, start %v\n", p.Outlook.Wait, p.Outlook.Start)
	case "elsewhere":
		p, err := s.decide(t, d)
		if err != nil {
			return describe(err)
		}
		return strings.Join(append(Elsewhere(s.asked, &p), ""), "\n")
	case "table":
		p, err := s.decide(t, d)
		if err != nil {
			return describe(err)
		}
		return table(p)
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
	return ""
}

// begin is the time of plans in scenarios.
const begin job.Time = 1000

func seconds(n int) job.Time { return begin.Add(time.Duration(n) * time.Second) }

// queue reads a drawing: each line is a node, each letter in it a job that holds the node
// for a unit of time, a dot a unit in which it is free. What is in the last column goes
// on for ever. Jobs of the first column run, others are planned.
func (s *scenario) queue(t *testing.T, d *datadriven.TestData) {
	unit := time.Duration(number(t, d, "unit", 60)) * time.Second
	has := resources(t, d, "cpus", "mem", "gpus")
	q := &cluster.Queue{Cluster: "test", User: "me", Grain: time.Duration(number(t, d, "grain", 60)) * time.Second}
	part := cluster.Partition{Name: "main", Default: true}
	jobs := map[rune]*cluster.Queued{}
	var names []rune
	s.snap = cluster.Snapshot{Driver: "slurm", At: begin, Queue: q}
	for i, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		if i < number(t, d, "last", math.MaxInt) {
			part.Nodes = append(part.Nodes, i)
		}
		s.snap.Nodes = append(s.snap.Nodes, cluster.Node{Name: fmt.Sprintf("n%d", i+1), Capacity: has, Free: has})
		seen := map[rune]bool{}
		for col, c := range line {
			if c == '.' {
				continue
			}
			j := jobs[c]
			if j == nil {
				j = &cluster.Queued{ID: string(c), User: "other", Partition: "main", PerNode: has, Start: begin.Add(time.Duration(col) * unit)}
				jobs[c] = j
				names = append(names, c)
			}
			if !seen[c] {
				seen[c] = true
				j.Nodes = append(j.Nodes, i)
				j.Count++
			}
			if j.Limit = begin.Add(time.Duration(col+1) * unit).Sub(j.Start); col == len(line)-1 {
				j.Limit = 0
			}
		}
	}
	for _, c := range names {
		if j := *jobs[c]; j.Start == begin {
			q.Running = append(q.Running, j)
		} else {
			q.Pending = append(q.Pending, j)
		}
	}
	q.Partitions = []cluster.Partition{part}
	s.bounds(t, d, &q.Partitions[0])
}

// bounds sets the rules of a partition.
func (s *scenario) bounds(t *testing.T, d *datadriven.TestData, p *cluster.Partition) {
	p.MaxTime = time.Duration(number(t, d, "max-time", 0)) * time.Second
	p.DefaultTime = time.Duration(number(t, d, "default-time", 0)) * time.Second
	p.MaxNodes, p.MinNodes = number(t, d, "max-nodes", 0), number(t, d, "min-nodes", 0)
	p.MinTime, p.MinCPUs = time.Duration(number(t, d, "min-time", 0))*time.Second, number(t, d, "min-cpus", 0)
	p.Bounds[cluster.UserCPUs] = int64(number(t, d, "user-cpus", 0))
	p.Preempted = text(t, d, "preempted", "")
	p.Closed, p.Later, p.Whole = text(t, d, "closed", ""), text(t, d, "later", ""), d.HasArg("whole")
	p.Default = !d.HasArg("no-default") && p.Name == "main"
}

func (s *scenario) partition(t *testing.T, d *datadriven.TestData) {
	p := cluster.Partition{Name: text(t, d, "name", "other")}
	for i := number(t, d, "first", 1) - 1; i < number(t, d, "last", len(s.snap.Nodes)); i++ {
		p.Nodes = append(p.Nodes, i)
	}
	if d.HasArg("forced") {
		p.Forced = map[int]string{p.Nodes[len(p.Nodes)-1]: text(t, d, "forced", "")}
	}
	s.bounds(t, d, &p)
	s.snap.Queue.Partitions = append(s.snap.Queue.Partitions, p)
}

func (s *scenario) live(t *testing.T, d *datadriven.TestData) {
	if s.q.Remaining == nil && d.Cmd == "live" {
		s.q.Remaining = &job.Remaining{}
	}
	l := job.Live{Request: job.AllocRequest{Nodes: number(t, d, "nodes", 1), PerNode: resources(t, d, "cpus", "mem", "gpus")},
		Start: seconds(number(t, d, "start", 0))}
	l.Request.Time = time.Duration(number(t, d, "time", 0)) * time.Second
	if d.HasArg("unknown") {
		l.Start = 0
	}
	if d.HasArg("ends") {
		l.Ends = seconds(number(t, d, "ends", 0))
	}
	if d.Cmd == "beside" {
		l.Busy, l.Next = true, seconds(number(t, d, "next", 0))
		s.q.Beside = append(s.q.Beside, l)
		return
	}
	if d.Cmd == "idle" {
		l.ID = job.AllocID(fmt.Sprint("a", len(s.q.Idle)+1))
		s.q.Idle = append(s.q.Idle, l)
		return
	}
	s.q.Remaining.Live = append(s.q.Remaining.Live, l)
}

// set sets the values with which the following tables are made.
func (s *scenario) set(t *testing.T, d *datadriven.TestData) {
	s.ask = job.Request{
		Partition: text(t, d, "partition", ""), PreemptibleOK: d.HasArg("preemptible-ok"), Exclusive: d.HasArg("exclusive"), NoScout: d.HasArg("no-scout"),
		MaxAllocs: number(t, d, "allocs", 0), WallTime: text(t, d, "wall", ""), StartWithin: time.Duration(number(t, d, "within", 0)) * time.Second,
	}
	if d.HasArg("power") {
		var err error
		if s.ask.NodePower, err = parse.NodePower("power", text(t, d, "power", "")); err != nil {
			t.Fatal(err)
		}
	}
	if d.HasArg("energy") { // seconds a kilojoule
		s.ask.EnergyWeight = float64(number(t, d, "energy", 0)) / 1000
	}
	s.q = Question{}
	if d.HasArg("rest") || d.HasArg("rest-reduces") {
		s.q.Remaining = &job.Remaining{Tasks: number(t, d, "rest", 0), Reduces: number(t, d, "rest-reduces", 0),
			CutShort: time.Duration(number(t, d, "cut", 0)) * time.Second,
			Span:     time.Duration(number(t, d, "span", 0)) * time.Second, StartUp: time.Duration(number(t, d, "start-up", 0)) * time.Second}
	}
}

// table returns the text of a plan.
func table(p Plan) string {
	var b strings.Builder
	for _, r := range p.Reasons {
		fmt.Fprintln(&b, r)
	}
	for _, n := range p.Notes {
		fmt.Fprintln(&b, "note: "+n)
	}
	for i, r := range p.Requests() {
		fmt.Fprintf(&b, "ask: %d × %d/%s for %v in %s at %s", r.Nodes, r.PerNode.CPUs, job.FormatSize(r.PerNode.Mem), r.Time, r.Batch.Partition, ago(r.Start))
		if p.Serves != nil {
			fmt.Fprintf(&b, " for %v of %s", p.Serves[i], r.Batch.Among)
		}
		if r.Latest != 0 {
			fmt.Fprintf(&b, ", by %s", ago(r.Latest))
		}
		b.WriteString("\n")
	}
	if len(p.Idle) > 0 {
		fmt.Fprintf(&b, "counts on: %v\n", p.Idle)
	}
	if p.Scout > 0 {
		fmt.Fprintf(&b, "scout: %d\n", p.Scout)
	}
	fmt.Fprintf(&b, "%d reduces, task %v, reduce %v, wait %.0f, turnaround %.1f\n", p.Reduces, p.TaskTime.Round(time.Millisecond), p.ReduceTime.Round(time.Millisecond),
		p.Outlook.Wait, p.Outlook.Turnaround)
	for _, c := range p.Outlook.Slots {
		mark := " "
		if c.Chosen {
			mark = "*"
		}
		length := "∞"
		if c.Duration != timeline.Unbounded {
			length = c.Duration.String()
		}
		fmt.Fprintf(&b, "%s %5s %2d × %-6s  take %2d × %d for %-7v  run %6.1f  total %6.1f  risk %3.0f%%  %s\n", mark, ago(c.Start), c.Nodes, length,
			c.Take, c.PerNode.CPUs, c.Time, c.Run, c.Total, math.Round(100*c.Risk), c.Why)
	}
	for _, x := range p.Outlook.LeftOut {
		fmt.Fprintf(&b, "left out: %s: %s\n", x.Partition, x.Why)
	}
	return b.String()
}

// ago returns when an instant is, counted from the time of the plan.
func ago(t job.Time) string {
	if t == 0 {
		return "?"
	}
	return "+" + t.Sub(begin).String()
}
