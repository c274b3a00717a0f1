package report_test

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/server/report"
)

// watts is the power of a node in these tests: 100 W with nothing to do, 40 W more for each of four cores.
var watts = []job.NodePower{{Power: job.Power{Idle: 100, Max: 260}}, {Nodes: "big*", Power: job.Power{Idle: 300, Max: 460}}}

// cluster is folds of jobs that share nodes of four cores.
type cluster struct {
	nodes *report.Nodes
	jobs  []*report.Job
	seq   uint64
}

func newCluster(power []job.NodePower, hosts ...string) *cluster {
	c := &cluster{nodes: report.NewNodes()}
	for i := range 2 {
		id := job.ID(fmt.Sprintf("bag-%d", i+1))
		c.jobs = append(c.jobs, report.New(report.Info{ID: id, Nodes: c.nodes, Planned: report.Planned{Power: power}}))
		c.at(0, event.JobSubmitted{Work: job.Work{ID: id, Kind: job.Bag, Tasks: 2, Terms: job.Terms{Attempts: 1, MaxFails: -1}}})
	}
	for i, host := range hosts {
		c.at(0, event.NodeJoined{Node: job.AllocID("a1").Node(i), Host: host, Capacity: job.Resources{CPUs: 4}})
	}
	return c
}

func second(s int) job.Time { return job.Time(1e9).Add(time.Duration(s) * time.Second) }

func (c *cluster) at(s int, r event.Record) {
	c.seq++
	e := event.Entry{Seq: c.seq, At: second(s), Record: r}
	c.nodes.Apply(e)
	for _, j := range c.jobs {
		j.Apply(e)
	}
}

// run has a job's task run on a node for a time, with so many cores in use and so much energy measured.
func (c *cluster) run(of job.ID, task, rank, from, to int, cores, joules float64) {
	a := job.Attempt{Job: of, Task: task, N: 1}
	c.at(from, event.AttemptStarted{Attempt: a, Node: job.AllocID("a1").Node(rank), Through: job.PhaseStore})
	c.at(to, event.AttemptEnded{Attempt: a, Outcome: event.Done, Stats: []job.PhaseStat{
		{Phase: job.PhaseCompute, Start: second(from), End: second(to), CPU: time.Duration(cores * float64(to-from) * 1e9), Joules: joules}}})
}

// TestEnergy: idle power counts from a job's first attempt on a node until the job or the node is gone, and is shared by
// what jobs did there; what cores take beyond it counts by their use. What was measured goes before that.
func TestEnergy(t *testing.T) {
	for name, tt := range map[string]struct {
		power []job.NodePower
		hosts []string
		play  func(c *cluster)
		want  *report.Energy
	}{
		"nothing is known": {nil, []string{"n1"}, func(c *cluster) { c.run("bag-1", 0, 0, 0, 10, 2, 0) }, nil},
		"nothing has run":  {watts, []string{"n1"}, func(*cluster) {}, nil},
		"alone": {watts, []string{"n1"}, func(c *cluster) { c.run("bag-1", 0, 0, 10, 20, 2, 0) },
			&report.Energy{Joules: 90*100 + 10*2*40, Idle: 90 * 100, Source: "estimated"}},
		"until its end": {watts, []string{"n1"}, func(c *cluster) {
			c.run("bag-1", 0, 0, 10, 20, 2, 0)
			c.at(30, event.JobEnded{Job: "bag-1", State: event.StateDone})
		}, &report.Energy{Joules: 20*100 + 10*2*40, Idle: 20 * 100, Source: "estimated"}},
		"until its node goes": {watts, []string{"n1"}, func(c *cluster) {
			c.run("bag-1", 0, 0, 10, 20, 2, 0)
			c.at(25, event.NodeLost{Node: "a1/0", Gone: true})
		}, &report.Energy{Joules: 15*100 + 10*2*40, Idle: 15 * 100, Source: "estimated"}},
		"shared with another job": {watts, []string{"n1"}, func(c *cluster) {
			c.run("bag-2", 1, 0, 0, 10, 4, 0) // before it
			c.run("bag-1", 0, 0, 10, 20, 1, 0)
			c.run("bag-2", 0, 0, 20, 30, 3, 0)
		}, &report.Energy{Joules: 90*100/4 + 10*40, Idle: 90 * 100 / 4, Source: "estimated"}},
		"two workers of one machine": {watts, []string{"n1", "n1"}, func(c *cluster) {
			c.run("bag-1", 0, 0, 0, 50, 4, 0)
			c.run("bag-1", 1, 1, 0, 50, 4, 0)
		}, &report.Energy{Joules: 100*100 + 50*160, Idle: 100 * 100, Source: "estimated"}},
		"two machines": {watts, []string{"n1", "n2"}, func(c *cluster) {
			c.run("bag-1", 0, 0, 0, 50, 4, 0)
			c.run("bag-1", 1, 1, 50, 100, 4, 0)
		}, &report.Energy{Joules: 150*100 + 100*160, Idle: 150 * 100, Source: "estimated"}},
		"by the name of the node": {watts, []string{"big1.site"}, func(c *cluster) { c.run("bag-1", 0, 0, 10, 20, 2, 0) },
			&report.Energy{Joules: 90*300 + 10*2*40, Idle: 90 * 300, Source: "estimated"}},
		"measured": {watts, []string{"n1"}, func(c *cluster) {
			c.run("bag-1", 0, 0, 10, 20, 2, 1234.5)
			c.run("bag-1", 1, 0, 10, 20, 2, 1000)
		}, &report.Energy{Joules: 2234.5, Source: "measured"}},
	} {
		c := newCluster(tt.power, tt.hosts...)
		tt.play(c)
		got := c.jobs[0].View(second(100)).Energy
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
