package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/simulate/batch"
)

// TestSite runs the scenarios of testdata/site, which test the driver contract
// (test/support/drivertest) in virtual time. They print all reports and all workers that connect.
//
//	cluster nodes=4 max=600 startup=5
//	request a1 nodes=2 time=60 [cores=1]
//	release a1
//	live a1                prints the expected start
//	close                  closes the driver, as a coordinator that ends does
//	fail | repair node=0   changes the state of a node
//	pass 10                advances the time by 10 s
//	snapshot               prints the nodes, and the running and waiting jobs
func TestSite(t *testing.T) {
	datadriven.Walk(t, "testdata/site", func(t *testing.T, path string) {
		var s siteScenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.do(t, d)
			return s.out.String()
		})
	})
}

type siteScenario struct {
	w    *World
	site *site
	out  strings.Builder
}

func (s *siteScenario) do(t *testing.T, d *datadriven.TestData) {
	id := job.AllocID("")
	if len(d.CmdArgs) > 0 {
		id = job.AllocID(d.CmdArgs[0].Key)
	}
	req := job.AllocRequest{Nodes: int(float(t, d, "nodes")), PerNode: job.Resources{CPUs: int(max(1, float(t, d, "cores")))}, Time: span(t, d, "time"), Elastic: true}
	var err error
	switch d.Cmd {
	case "cluster":
		cfg := &Config{Cluster: Cluster{Nodes: int(float(t, d, "nodes")), MaxTime: span(t, d, "max"), StartUp: span(t, d, "startup")}, Policy: batch.CBF}
		s.w = newWorld(t.Context(), cfg)
		s.site = newSite(s.w, s.report, func(k *Worker) { fmt.Fprintf(&s.out, "%v: worker of %s on %s\n", s.now(), k.ID, k.host()) })
	case "request":
		err = s.site.request(id, req)
	case "release":
		s.site.release(id)
	case "live":
		live := []job.Live{{ID: id}}
		snap := s.site.snapshot()
		expectStarts(live, &snap)
		fmt.Fprintf(&s.out, "%s is to begin at %v\n", id, sec(since(live[0].Start)))
	case "close":
		s.site.close()
	case "fail":
		s.w.breakDown(int(float(t, d, "node")))
	case "repair":
		s.w.repair(int(float(t, d, "node")))
	case "pass":
		s.pass(seconds(numbers(t, string(id))[0]))
		return
	case "snapshot":
		s.snapshot()
	default:
		t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
	}
	if err != nil {
		fmt.Fprintf(&s.out, "%s error: %v\n", job.ClassOf(err), err)
	}
	s.w.start()
}

func (s *siteScenario) now() float64 { return sec(since(s.w.now)) }

// pass fires all events of the next d.
func (s *siteScenario) pass(d time.Duration) {
	until := s.w.now.Add(d)
	for min(s.w.agenda.first(), s.w.queues[0].Next()) <= until {
		s.w.advance()
	}
	s.w.now = until
}

func (s *siteScenario) report(in step.Input) {
	fmt.Fprintf(&s.out, "%v: ", s.now())
	switch in := in.(type) {
	case step.AllocUp:
		fmt.Fprintf(&s.out, "%s is up, ends %v\n", in.Alloc, sec(since(in.Ends)))
	case step.AllocDown:
		fmt.Fprintf(&s.out, "%s is down: %s\n", in.Alloc, in.Reason)
	case step.NodeDown:
		fmt.Fprintf(&s.out, "%s is down, gone %t: %s\n", in.Node, in.Gone, in.Reason)
	default:
		fmt.Fprintf(&s.out, "%T %+v\n", in, in)
	}
}

func (s *siteScenario) snapshot() {
	snap := s.site.snapshot()
	fmt.Fprintf(&s.out, "%s at %v, up to %v\n", snap.Driver, sec(since(snap.At)), snap.Queue.Partitions[0].MaxTime)
	for _, n := range snap.Nodes {
		fmt.Fprintf(&s.out, "%s: %d of %d cores free %s\n", n.Name, n.Free.CPUs, n.Capacity.CPUs, n.Down)
	}
	for _, j := range snap.Queue.Running {
		fmt.Fprintf(&s.out, "runs: %d nodes %v since %v for %v\n", j.Count, j.Nodes, sec(since(j.Start)), j.Limit)
	}
	for _, j := range snap.Queue.Pending {
		planned := "unplanned"
		if j.Start != 0 {
			planned = fmt.Sprintf("planned %v", sec(since(j.Start)))
		}
		fmt.Fprintf(&s.out, "waits: %d nodes for %v, %s %s\n", j.Count, j.Limit, planned, j.Held)
	}
}
