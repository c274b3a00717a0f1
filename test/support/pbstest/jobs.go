package pbstest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Load is a job that occupies nodes and sleeps.
type Load struct {
	Nodes   int      // number of nodes; 0 means 1
	CPUs    int      // on each node; 0 means 1
	Seconds float64  // its run time
	Limit   int      // its time limit in minutes; 0 means 1
	Args    []string // more options for qsub
}

// Fill submits a load and returns its job id.
func (c *Cluster) Fill(tb testing.TB, l Load) string {
	tb.Helper()
	args := []string{"-N", "fill", "-l", fmt.Sprintf("select=%d:ncpus=%d", max(1, l.Nodes), max(1, l.CPUs)), "-l", "place=scatter",
		"-l", "walltime=" + strconv.Itoa(60*max(1, l.Limit)), "-o", "/dev/null", "-j", "oe"}
	return c.Submit(tb, slices.Concat(args, l.Args, []string{"--", "/bin/sleep", strconv.FormatFloat(l.Seconds, 'f', -1, 64)})...)
}

// Submit runs qsub with the given arguments and returns the job id.
func (c *Cluster) Submit(tb testing.TB, args ...string) string {
	tb.Helper()
	return c.Run(tb, "qsub", append([]string{"-f"}, args...)...)
}

// Job returns an attribute of a job, such as job_state or Exit_status. PBS knows ended jobs for two weeks.
func (c *Cluster) Job(id, attribute string) (string, error) {
	out, err := c.Try("qstat", "-x", "-f", "-F", "dsv", "-D", "\x1f", id)
	for field := range strings.SplitSeq(out, "\x1f") {
		if value, ok := strings.CutPrefix(field, attribute+"="); ok {
			return value, err
		}
	}
	return "", err
}

// State returns the state of a job as qstat prints it: Q, H, W, R, E, or F for one that has ended.
func (c *Cluster) State(id string) (string, error) { return c.Job(id, "job_state") }

// WaitState waits until a job is in one of the states. The test fails if the job ends before.
func (c *Cluster) WaitState(tb testing.TB, id string, states ...string) {
	tb.Helper()
	c.Poll(tb, func() (bool, string) {
		s, err := c.State(id)
		if err != nil {
			return false, err.Error() // the server may be starting
		}
		if s == "F" && !slices.Contains(states, s) {
			tb.Fatalf("job %s has ended, want %v", id, states)
		}
		return slices.Contains(states, s), fmt.Sprintf("job %s is %s, want %v", id, s, states)
	})
}

// NodeState returns the state of a node as pbsnodes prints it, such as free or down.
func (c *Cluster) NodeState(node string) (string, error) {
	out, err := c.Try("pbsnodes", "-v", node)
	for line := range strings.Lines(out) {
		if state, ok := strings.CutPrefix(strings.TrimSpace(line), "state = "); ok {
			return state, err
		}
	}
	return "", err
}

// WaitNode waits until a node is in one of the states.
func (c *Cluster) WaitNode(tb testing.TB, node string, states ...string) {
	tb.Helper()
	c.Poll(tb, func() (bool, string) {
		s, err := c.NodeState(node)
		return slices.Contains(states, s), fmt.Sprintf("node %s is %s (%v), want %v", node, s, err, states)
	})
}

// Cancel deletes a job.
func (c *Cluster) Cancel(tb testing.TB, id string) { tb.Helper(); c.Run(tb, "qdel", id) }

// Alive reports whether a job waits or runs.
func (c *Cluster) Alive(tb testing.TB, id string) bool {
	tb.Helper()
	state, _ := c.State(id) // the server may be away, and forgets jobs
	return state != "" && state != "F" && state != "X"
}
