package gridengine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/driver/batch"
	"berth/test/support/batchtest"
	"berth/test/support/gridenginetest"
)

// open returns Grid Engine as the cluster's users reach it.
func open(c *gridenginetest.Cluster) *System { return Open(append(os.Environ(), c.Env()...)) }

// TestRefused: a request that can never run is refused before it is submitted, with the reason in one line. One that can
// run is not, even if it would have to wait, as one for whole hosts does while jobs run on all of them.
func TestRefused(t *testing.T) {
	t.Parallel()
	c := aCluster(t)
	s := open(c)
	busy := c.Fill(t, 3, 1, 600*time.Second, time.Hour)
	c.WaitState(t, busy, "r")
	defer c.Run(t, "qdel", busy)
	for _, x := range []struct {
		nodes, cpus int
		mem         int64
		time        time.Duration
		b           job.Batch
		says        string
	}{
		{3, 16, 1 << 30, time.Hour, job.Batch{Partition: gridenginetest.Main}, ""},
		{1, 16, 0, time.Hour, job.Batch{Partition: gridenginetest.Narrow}, ""},
		{3, 16, 1 << 30, time.Hour, job.Batch{Partition: gridenginetest.Main, Exclusive: true}, ""},
		{4, 2, 0, time.Hour, job.Batch{Partition: gridenginetest.Main, Exclusive: true}, "no suitable queues"},
		{1, 1, 0, time.Hour, job.Batch{Partition: "nope"}, `unknown queue "nope"`},
		{2, 2, 0, time.Hour, job.Batch{Partition: gridenginetest.Narrow}, "no parallel environment gives 2 nodes with 2 slots each (smp: $pe_slots)"},
		{4, 2, 0, time.Hour, job.Batch{Partition: gridenginetest.Main}, "no suitable queues"},
		{1, 1, 200 << 30, time.Hour, job.Batch{Partition: gridenginetest.Main}, "it offers only hc:h_vmem=100.000G"},
		{1, 1, 0, time.Hour, job.Batch{Partition: gridenginetest.Short}, "no suitable queues"},
		{1, 1, 0, time.Hour, job.Batch{Partition: gridenginetest.Closed}, "no suitable queues"},
		{1, 1, 0, time.Hour, job.Batch{Account: "nobody"}, `the requested project "nobody" does not exist`},
		{1, 1, 0, time.Hour, job.Batch{Args: []string{"-l nothing=1"}}, `unknown resource "nothing"`},
	} {
		_, err := s.Test(t.Context(), job.AllocRequest{Nodes: x.nodes, PerNode: job.Resources{CPUs: x.cpus, Mem: x.mem}, Time: x.time, Batch: x.b})
		if (err == nil) != (x.says == "") || err != nil && (!strings.Contains(err.Error(), x.says) || strings.Contains(err.Error(), "\n") || job.ClassOf(err) != job.User) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// TestSnapshot: the queue has its jobs with their nodes and ends, the pending ones in the order of their priority, and says which
// cannot start by themselves. A job without a wall time has that of its queue. Queues that the user may not use are closed,
// and those without a suitable parallel environment have jobs of one node. It says what a request must have to go before a job that waits,
// and Grid Engine gives such a request, and no other, the higher priority.
// --constraint can require properties of hosts.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	c := gridenginetest.Start(t, gridenginetest.Nodes(2))
	runs := c.Fill(t, 2, 1, 300*time.Second, 10*time.Minute)
	c.WaitState(t, runs, "r")
	free := c.Submit(t, "-q", gridenginetest.Main, "-b", "y", "/bin/sleep", "300")
	c.WaitState(t, free, "r")
	wide := c.Fill(t, 2, 2, time.Second, time.Minute)
	c.Poll(t, func() (bool, string) {
		out, err := c.Try("qstat", "-u", "*", "-s", "p", "-pri")
		return err == nil && strings.Contains(out, wide+" 0.") && !strings.Contains(out, wide+" 0.00000"), out
	})
	held := c.Submit(t, "-h", "-b", "y", "/bin/sleep", "1")
	after := c.Submit(t, "-hold_jid", runs, "-b", "y", "/bin/sleep", "1")
	later := c.Submit(t, "-a", "203001010000", "-b", "y", "/bin/sleep", "1")
	many, _, _ := strings.Cut(c.Submit(t, "-t", "1-9:2", "-tc", "2", "-l", "h_rt=60", "-pe", "node2", "2", "-b", "y", "/bin/sleep", "1"), ".")
	snap, err := open(c).Snapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]cluster.Queued{}
	var order []string
	for _, q := range append(snap.Queue.Running, snap.Queue.Pending...) {
		if _, twice := byID[q.ID]; !twice {
			order, byID[q.ID] = append(order, q.ID), q
		}
	}
	if q := byID[runs]; len(q.Nodes) != 2 || q.PerNode != (job.Resources{CPUs: 1, Mem: 100 << 20}) || q.Limit != 10*time.Minute || time.Since(q.Start.Std()) > time.Hour {
		t.Errorf("the first job: %+v", q)
	}
	if q := byID[free]; q.Limit != 24*time.Hour || q.PerNode.Mem != 1<<30 {
		t.Errorf("the job without a wall time: %+v", q)
	}
	if q := byID[wide]; q.Count != 2 || q.PerNode.CPUs != 2 || q.Held != "" {
		t.Errorf("the job that waits for nodes: %+v", q)
	}
	if q := byID[many]; q.Repeat != 2 || q.Held != "" || q.Count != 1 {
		t.Errorf("the array: %+v", q)
	}
	for id, says := range map[string]string{held: "it is held", after: "it depends on another job", later: "its earliest start is not reached"} {
		if q := byID[id]; !strings.Contains(q.Held, says) {
			t.Errorf("job %s is held because %q, want %q", id, q.Held, says)
		}
	}
	snap.Queue.Pending = []cluster.Queued{byID[wide]}
	view := cluster.View{Partition: gridenginetest.Main, PerNode: job.Resources{CPUs: 2}}
	if shared := snap.Overtaking(view, 2); len(shared) > 0 {
		t.Errorf("requests of %v nodes go before %s", shared, wide)
	}
	view.Whole = true
	if whole := snap.Overtaking(view, 2); !slices.Contains(whole, 2) {
		t.Errorf("requests of %v whole nodes go before %s of rank %v, each core counts %+v", whole, wide, byID[wide].Rank, snap.Queue.Rank)
	}
	equal, before := c.Fill(t, 2, 2, time.Second, time.Minute), c.Submit(t, "-l", "exclusive=true,h_rt=60", "-pe", "node2", "4", "-b", "y", "/bin/sleep", "1")
	c.Poll(t, func() (bool, string) {
		rows, err := open(c).jobs(t.Context(), "*")
		prio := map[string]float64{}
		for _, r := range rows {
			prio[r.Number] = r.Priority
		}
		return err == nil && prio[equal] > 0 && prio[equal] <= prio[wide] && prio[before] > prio[wide], fmt.Sprint(prio, err)
	})
	if len(order) < 3 || order[2] != wide {
		t.Errorf("the order is %v, want %s first of those that wait", order, wide)
	}
	for constraint, want := range map[string]int{"arch=lx-amd64": 2, "a=lx-amd64": 2, "arch=other": 0, "bigmem": 0} {
		if nodes, _ := snap.Usable(cluster.View{PerNode: job.Resources{CPUs: 1}, Constraint: constraint}); len(nodes) != want {
			t.Errorf("%d nodes have %s: %v", len(nodes), constraint, snap.Nodes[0].Features)
		}
	}
	for _, n := range snap.Nodes {
		if n.Capacity.CPUs != 2 || n.Capacity.Mem != 13<<30-2<<20 || n.Free.CPUs > 1 || n.Down != "" {
			t.Errorf("node %+v", n)
		}
	}
	for _, p := range snap.Queue.Partitions {
		if (p.Closed != "") != (p.Name == gridenginetest.Closed) || (p.MaxNodes == 1) != (p.Name == gridenginetest.Closed || p.Name == gridenginetest.Narrow) || p.Default != (p.Name == gridenginetest.Main) {
			t.Errorf("queue %+v", p)
		}
	}
	sites(t, c)
}

// sites gives a cluster of two nodes habits of sites, one after the other: Grid Engine accepts the requests that a snapshot allows.
func sites(t *testing.T, c *gridenginetest.Cluster) {
	t.Helper()
	one := "all.q@" + c.Node(1)
	set := func(script string) { t.Helper(); c.Run(t, "sh", "-c", "set -e; f=$(mktemp); "+script+"; rm $f") }
	expect := func(what string, ok func(p cluster.Partition) bool, requests ...job.AllocRequest) {
		t.Helper()
		s := open(c)
		var p cluster.Partition
		c.Poll(t, func() (bool, string) {
			snap, err := s.Snapshot(t.Context(), "")
			if err == nil {
				p = snap.Queue.Partitions[slices.IndexFunc(snap.Queue.Partitions, func(p cluster.Partition) bool { return p.Name == gridenginetest.Main })]
			}
			return err == nil && ok(p), fmt.Sprintf("%s: %+v, %v", what, p, err)
		})
		for _, r := range requests {
			r.Batch.Partition = gridenginetest.Main
			if _, err := s.Test(t.Context(), r); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	small := job.AllocRequest{Nodes: 1, PerNode: job.Resources{CPUs: 2, Mem: 100 << 20}}
	pair := job.AllocRequest{Nodes: 2, PerNode: small.PerNode}

	set("qconf -rattr queue user_lists nobody " + one)
	expect("a host of its owners", func(p cluster.Partition) bool { return len(p.Nodes) == 1 && p.Closed == "" }, small)
	set("qconf -purge queue user_lists " + one + "; qconf -rattr queue pe_list NONE " + one + "; qconf -rattr queue h_rt 1:0:0 " + one)
	expect("environments of some hosts", func(p cluster.Partition) bool {
		return len(p.Nodes) == 1 && p.MaxNodes == 1 && p.MaxTime == 24*time.Hour
	}, small)
	set("qconf -purge queue '*' " + one + "; (qconf -sc; echo big b BOOL == FORCED NO 0 0; echo scratch scr MEMORY '<=' YES YES 0 0) >$f; qconf -Mc $f; " +
		"qconf -mattr exechost complex_values big=true " + c.Node(1))
	forced := small
	forced.Batch.Constraint = "big"
	expect("a forced resource and a disk", func(p cluster.Partition) bool { return len(p.Nodes) == 2 && len(p.Forced) == 1 }, small, forced)
	set("qconf -dattr exechost complex_values big " + c.Node(1) + "; qconf -sp node2 | sed 's/^pe_name.*/pe_name first/; s/^user_lists.*/user_lists nobody/' >$f; qconf -Ap $f; " +
		"qconf -aattr queue pe_list first all.q")
	expect("an environment of others", func(p cluster.Partition) bool { return len(p.Forced) == 0 }, pair)
	set("printf 'calendar_name off\\nyear NONE\\nweek mon-sun=0-24=off\\n' >$f; qconf -Acal $f; qconf -rattr queue calendar off all.q")
	expect("a closed calendar", func(p cluster.Partition) bool { return len(p.Nodes) == 2 && p.Later != "" && p.Closed == "" }, pair)
}

// TestOffset: the scheduler counts each job as a minute longer than its wall time. As it does so for the job that ends, too, a job
// that ends before a reservation begins is started at once, as the timeline has it: so the minute is in none of its lengths.
func TestOffset(t *testing.T) {
	t.Parallel()
	c := gridenginetest.Start(t, gridenginetest.Nodes(2))
	first := c.Fill(t, 1, 2, 300*time.Second, 300*time.Second)
	c.WaitState(t, first, "r")
	wide := c.Fill(t, 2, 2, time.Second, 300*time.Second)
	c.Poll(t, func() (bool, string) {
		plan, err := os.ReadFile(strings.TrimPrefix(c.Env()[0], "SGE_ROOT=") + "/default/common/schedule")
		return strings.Contains(string(plan), wide+":1:RESERVING"), string(plan) + wide + errText(err)
	})
	long := c.Fill(t, 1, 2, time.Second, 400*time.Second)
	fits := c.Fill(t, 1, 2, 200*time.Second, 240*time.Second)
	c.WaitState(t, fits, "r")
	if state, err := c.State(long); state != "qw" {
		t.Errorf("the job that would delay the reservation is %q, %v", state, err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestLimits: where the cluster allows a user only some jobs, a plan says so before anything is submitted, and a submission is tried
// again later.
func TestLimits(t *testing.T) {
	t.Parallel()
	c := gridenginetest.Start(t, gridenginetest.Nodes(1), gridenginetest.Global("max_u_jobs 1"))
	b := batchtest.NewBed(t, system, bed{c}, batchtest.Idle)
	first := c.Submit(t, "-h", "-b", "y", "/bin/sleep", "1")
	_, err := open(c).Test(t.Context(), job.AllocRequest{Nodes: 1, PerNode: share})
	if !errors.Is(err, batch.ErrLater) || !strings.Contains(err.Error(), "you have 1 job in the queue, as many as the cluster allows a user") {
		t.Errorf("the check says %v", err)
	}
	b.Request("a1", 1, job.Batch{})
	b.Noted("a1", "Grid Engine does not accept its job now")
	c.Run(t, "qdel", first)
	b.Up("a1")
}

// TestFaultNodes: a node that is lost is told, and the allocation ends if it ran the job's script.
func TestFaultNodes(t *testing.T) {
	if os.Getenv("BERTH_FAULT_ROUNDS") == "" {
		t.Skip("Grid Engine counts a node as lost when it has not reported for max_unheard, and of each of two nodes here: 8 s, as busy machines report late. " +
			"So it takes 30 s or more, and runs if BERTH_FAULT_ROUNDS is set, as make soak does")
	}
	t.Parallel()
	c := gridenginetest.Start(t, gridenginetest.Nodes(2))
	quick := batchtest.System{Share: share, Open: func(env []string) batch.System {
		s := Open(env)
		s.hearing = 0
		return s
	}}
	b := batchtest.NewBed(t, quick, bed{c}, batchtest.Idle)
	b.Request("a1", 2, job.Batch{})
	b.Up("a1")
	b.Poll("both loops run", func() bool { return b.Host("a1", 0) != "" && b.Host("a1", 1) != "" })
	number := func(rank int) string { return strings.TrimPrefix(b.Host("a1", rank), c.Node(0)[:len(c.Node(0))-1]) }
	c.Kill(t, "n"+number(1))
	lost := batchtest.Report(b, func(in step.NodeDown) bool { return true })
	if lost.Node != "a1/1" || !lost.Gone {
		t.Errorf("reported %+v", lost)
	}
	c.Kill(t, "n"+number(0))
	b.Down("a1", "the node that ran its script failed: "+b.Host("a1", 0), false)
	c.Start(t, "n"+number(0)) // Grid Engine shows the job until then
	c.Start(t, "n"+number(1))
}

// TestMaster: a qmaster that does not answer is an error that passes, and so is one without room for a job.
func TestMaster(t *testing.T) {
	t.Parallel()
	c := gridenginetest.Start(t, gridenginetest.Nodes(1))
	b := batchtest.NewBed(t, system, bed{c}, batchtest.Idle)
	c.Pause(t)
	s := open(c)
	s.Patience = 2 * time.Second
	if _, err := s.Jobs(t.Context(), nil); job.ClassOf(err) != job.Transient || !errors.Is(err, batch.ErrAway) {
		t.Errorf("a stopped qmaster: %v", err)
	}
	c.Start(t, gridenginetest.Master)

	spool := strings.TrimPrefix(c.Env()[0], "SGE_ROOT=") + "/default/spool/qmaster/job_scripts"
	c.Run(t, "mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", spool)
	t.Cleanup(func() { _, _ = c.Try("umount", spool) }) // it is done below unless the test fails
	c.Run(t, "sh", "-c", "head -c 100000 /dev/zero >"+spool+"/full || :")
	b.Request("a1", 1, job.Batch{})
	b.Noted("a1", "submission failed: ")
	c.Run(t, "umount", spool)
	b.Up("a1")
}

// TestFaultMaster: allocations continue when the qmaster was killed and started again, although no host has answered to the new one
// yet, and later requests are submitted to it. It gives ids of ended jobs again, which are not taken for ours.
func TestFaultMaster(t *testing.T) {
	if os.Getenv("BERTH_FAULT_ROUNDS") == "" {
		t.Skip("hosts wait for 30 s, which cannot be set, before they report to a qmaster that was started again; it runs if BERTH_FAULT_ROUNDS is set, as make soak does")
	}
	t.Parallel()
	c := gridenginetest.Start(t, gridenginetest.Nodes(1))
	b := batchtest.NewBed(t, system, bed{c}, batchtest.Idle)
	b.Request("a1", 1, job.Batch{})
	b.Up("a1")
	c.Kill(t, gridenginetest.Master)
	if _, err := open(c).Jobs(context.Background(), nil); job.ClassOf(err) != job.Transient {
		t.Errorf("a dead qmaster: %v", err)
	}
	b.Request("a2", 1, job.Batch{})
	b.Noted("a2", "submission failed")
	c.Start(t, gridenginetest.Master)
	b.Up("a2") // it fails if another allocation is over
}

// TestRepeated: a job of ours that has ended is not taken for a later one with the same id.
func TestRepeated(t *testing.T) {
	t.Parallel()
	c := aCluster(t)
	id := c.Submit(t, "-N", "other", "-h", "-b", "y", "/bin/sleep", "1")
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/batch-aa.sh", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := open(c).Jobs(t.Context(), []batch.Job{{ID: id, Dir: dir}})
	if err != nil || all[id].Phase != batch.Gone || !all[id].Other {
		t.Errorf("it is %+v, %v", all[id], err)
	}
	c.Run(t, "qdel", id)
	if err := open(c).Cancel(t.Context(), id, false); !errors.Is(err, batch.ErrGone) {
		t.Errorf("cancelled again: %v", err)
	}
}
