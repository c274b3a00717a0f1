package test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"berth/test/support/gridenginetest"
	"berth/test/support/pbstest"
	"berth/test/support/slurmtest"
)

// cluster is a cluster of a batch system that ends with the test.
type cluster interface {
	env() []string                                      // variables with which a user on its login node uses it
	fill(t testing.TB)                                  // submits jobs of others in several shapes, of which some run and some wait
	queue() ([]string, error)                           // the jobs that have not ended, a line each: name, and the jobs that it waits for
	ran() (bool, error)                                 // whether a job of berth has run on it
	cancel(t testing.TB, id string)                     // ends a job by the batch system's own command
	victims() []string                                  // parts that can be killed, beside berth's processes
	strike(t testing.TB, victim string, rng *rand.Rand) // kills one, and starts it again as an administrator would
}

// system is a batch system on which the tests of this package run.
type system struct {
	name      string // as in --on
	partition string // the one in which jobs run that name none
	variable  string // with the id of the job that a process is part of
	names     string // a variable whose value is another in each cluster
	brief     string // a short wall time, and the seconds of a task of which some fit into it
	task      int
	start     func(t testing.TB, nodes int) cluster
}

// systems are all batch systems.
var systems = []system{
	{"slurm", "main", "SLURM_JOB_ID", "SLURM_CONF", "1", 9, startSlurm},
	{"gridengine", gridenginetest.Main, "SGE_JOB_SPOOL_DIR", "SGE_ROOT", "0:20", 4, startGridEngine},
	{"pbs", pbstest.Main, "PBS_JOBID", "PBS_CONF_FILE", "0:20", 4, startPBS},
}

// onEach runs a test on each batch system.
func onEach(t *testing.T, run func(t *testing.T, s system)) {
	t.Parallel()
	for _, s := range systems {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			run(t, s)
		})
	}
}

// rounds returns the number of rounds of a fault test: a fifth of the number for local jobs, as a round takes half a minute, and fewer on
// the batch systems after the first unless more are asked for.
func (s system) rounds(t *testing.T) int {
	n := max(1, faultRounds(t, 25)/5)
	if s.name != systems[0].name && os.Getenv(roundsVar) == "" {
		n = min(n, 2)
	}
	return n
}

// atLeisure skips a test on the batch systems after the first unless fault tests are asked for: what it tests depends little on the
// batch system.
func (s system) atLeisure(t *testing.T) {
	t.Helper()
	if s.name != systems[0].name && os.Getenv(roundsVar) == "" {
		t.Skipf("on %s it runs if %s is set, as make soak does", s.name, roundsVar)
	}
}

// world returns a user's login node of a cluster with this number of nodes.
func (s system) world(t *testing.T, nodes int) (*world, cluster) {
	t.Helper()
	c := s.start(t, nodes)
	w := newWorld(t)
	w.system, w.batch = s, c.env()
	return w, c
}

// slurm is a cluster of Slurm.
type slurm struct{ *slurmtest.Cluster }

func startSlurm(t testing.TB, nodes int) cluster {
	return slurm{slurmtest.Start(t, slurmtest.Nodes(nodes))}
}

func (c slurm) env() []string { return append(c.Env(), "BERTH_LISTEN=127.0.0.1") }

func (c slurm) fill(t testing.TB) {
	for _, l := range []slurmtest.Load{
		{Nodes: 3, CPUs: 2, Limit: 1, Seconds: 20}, {Nodes: 2, CPUs: 1, Limit: 5, Seconds: 40}, {Nodes: 1, CPUs: 2, Limit: 30, Seconds: 90},
		{Nodes: 8, CPUs: 1, Limit: 2, Seconds: 5}, {Nodes: 4, CPUs: 2, Limit: 1, Seconds: 5},
	} {
		c.Fill(t, l)
	}
}

func (c slurm) queue() ([]string, error) {
	out, err := c.Try("squeue", "--noheader", "--Format=Name: ,Dependency:")
	return textLines(out), err
}

func (c slurm) ran() (bool, error) {
	out, err := c.Try("scontrol", "--oneliner", "show", "jobs")
	return strings.Contains(out, "JobName=berth"), err
}

func (c slurm) cancel(t testing.TB, id string) { c.Run(t, "scancel", id) }

func (c slurm) victims() []string { return []string{"slurmctld", "slurmd", "node"} }

func (c slurm) strike(t testing.TB, victim string, rng *rand.Rand) {
	node := fmt.Sprintf("n%d", 1+rng.IntN(8))
	switch victim {
	case "slurmctld":
		c.Stop(t, "ctld")
		c.Start(t, "ctld")
	case "slurmd":
		c.Stop(t, node)
		c.Start(t, node)
	case "node":
		c.Crash(t, node)
		c.Start(t, node)
	}
}

// gridEngine is a cluster of Grid Engine.
type gridEngine struct {
	*gridenginetest.Cluster
	nodes int
}

func startGridEngine(t testing.TB, nodes int) cluster {
	return gridEngine{gridenginetest.Start(t, gridenginetest.Nodes(nodes)), nodes}
}

func (c gridEngine) env() []string { return append(c.Env(), "BERTH_LISTEN="+c.Address()) }

func (c gridEngine) fill(t testing.TB) {
	for _, l := range []struct {
		nodes, slots int
		sleep, limit time.Duration
	}{
		{3, 2, 20 * time.Second, time.Minute}, {2, 1, 40 * time.Second, 5 * time.Minute}, {1, 2, 90 * time.Second, 30 * time.Minute},
		{8, 1, 5 * time.Second, 2 * time.Minute}, {4, 2, 5 * time.Second, time.Minute},
	} {
		c.Fill(t, l.nodes, l.slots, l.sleep, l.limit)
	}
}

func (c gridEngine) queue() ([]string, error) {
	out, err := c.Try("qstat", "-u", "*", "-r")
	var all []string
	for _, line := range textLines(out) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "Full jobname":
			all = append(all, strings.TrimSpace(text))
		case "Predecessor Jobs (request)":
			all[len(all)-1] += " " + strings.TrimSpace(text)
		}
	}
	return all, err
}

func (c gridEngine) ran() (bool, error) {
	out, err := c.Try("qacct", "-j", "berth*")
	return strings.Contains(out, "berth-"), err
}

func (c gridEngine) cancel(t testing.TB, id string) { c.Run(t, "qdel", id) }

func (c gridEngine) victims() []string { return []string{gridenginetest.Master, "execd", "node"} }

func (c gridEngine) strike(t testing.TB, victim string, rng *rand.Rand) {
	n := 1 + rng.IntN(c.nodes)
	switch victim {
	case "execd":
		victim = fmt.Sprintf("execd%d", n)
	case "node":
		victim = fmt.Sprintf("n%d", n)
	}
	c.Kill(t, victim)
	c.Start(t, victim)
}

// textLines returns the lines of a text that are not empty.
func textLines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// openPBS is a cluster of PBS.
type openPBS struct {
	*pbstest.Cluster
	nodes int
}

func startPBS(t testing.TB, nodes int) cluster {
	return openPBS{pbstest.Start(t, pbstest.Nodes(nodes)), nodes}
}

func (c openPBS) env() []string { return append(c.Env(), "BERTH_LISTEN=127.0.0.1") }

func (c openPBS) fill(t testing.TB) {
	for _, l := range []pbstest.Load{
		{Nodes: 3, CPUs: 2, Limit: 1, Seconds: 20}, {Nodes: 2, CPUs: 1, Limit: 5, Seconds: 40}, {Nodes: 1, CPUs: 2, Limit: 30, Seconds: 90},
		{Nodes: 8, CPUs: 1, Limit: 2, Seconds: 5}, {Nodes: 4, CPUs: 2, Limit: 1, Seconds: 5},
	} {
		c.Fill(t, l)
	}
}

func (c openPBS) queue() ([]string, error) {
	out, err := c.Try("qstat", "-f", "-F", "dsv", "-D", "\x1f")
	var all []string
	for _, line := range textLines(out) {
		job := ""
		for field := range strings.SplitSeq(line, "\x1f") {
			if name, ok := strings.CutPrefix(field, "Job_Name="); ok {
				job = name
			} else if on, ok := strings.CutPrefix(field, "depend="); ok && strings.HasPrefix(on, "after") {
				job += " " + on
			}
		}
		all = append(all, job)
	}
	return all, err
}

func (c openPBS) ran() (bool, error) {
	out, err := c.Try("qstat", "-x", "-f")
	return strings.Contains(out, "Job_Name = berth"), err
}

func (c openPBS) cancel(t testing.TB, id string) { c.Run(t, "qdel", id) }

func (c openPBS) victims() []string { return []string{"server", "mom", "node"} }

func (c openPBS) strike(t testing.TB, victim string, rng *rand.Rand) {
	node := c.Node(t, 1+rng.IntN(c.nodes))
	switch victim {
	case "server":
		c.Stop(t, pbstest.Server)
		c.Start(t, pbstest.Server)
	case "mom":
		c.Stop(t, node)
		c.Start(t, node)
	case "node":
		c.Crash(t, node)
		c.Start(t, node)
	}
}
