package slurmtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Load is a job that occupies nodes and sleeps.
type Load struct {
	Nodes   int      // number of nodes; 0 means 1
	CPUs    int      // on each node; 0 means 1
	Seconds float64  // its run time
	Limit   int      // its time limit in minutes; 0 means 1
	Args    []string // more options for sbatch
}

// Fill submits a load and returns its job id.
func (c *Cluster) Fill(tb testing.TB, l Load) string {
	tb.Helper()
	args := []string{
		"--nodes=" + strconv.Itoa(max(1, l.Nodes)), "--ntasks-per-node=1", "--cpus-per-task=" + strconv.Itoa(max(1, l.CPUs)),
		"--time=" + strconv.Itoa(max(1, l.Limit)), "--output=/dev/null", "--job-name=fill",
		"--wrap=exec sleep " + strconv.FormatFloat(l.Seconds, 'f', -1, 64),
	}
	return c.Submit(tb, append(l.Args, args...)...)
}

// Submit runs sbatch with the given arguments and returns the job id.
func (c *Cluster) Submit(tb testing.TB, args ...string) string {
	tb.Helper()
	out := c.Run(tb, "sbatch", append([]string{"--parsable"}, args...)...)
	id, _, _ := strings.Cut(out, ";") // the rest would be the name of the cluster
	return id
}

// State returns the state of a job as printed by squeue, such as PENDING or NODE_FAIL. Slurm knows
// ended jobs for an hour.
func (c *Cluster) State(id string) (string, error) {
	return c.Try("squeue", "--noheader", "--states=all", "--jobs="+id, "--format=%T")
}

// ended are the final states.
var ended = []string{"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"}

// WaitState waits until a job is in one of the states. The test fails if the job ends in another
// state, or if the wait takes too long.
func (c *Cluster) WaitState(tb testing.TB, id string, states ...string) {
	tb.Helper()
	c.Poll(tb, func() (bool, string) {
		s, err := c.State(id)
		if err != nil {
			return false, err.Error() // slurmctld may be restarting
		}
		if slices.Contains(ended, s) && !slices.Contains(states, s) {
			tb.Fatalf("job %s is %s, want %v", id, s, states)
		}
		return slices.Contains(states, s), fmt.Sprintf("job %s is %s, want %v", id, s, states)
	})
}

// WaitSaved waits until slurmctld has saved the present state of a job. It saves every few seconds,
// and when it is killed it loses what it has not saved.
func (c *Cluster) WaitSaved(tb testing.TB, id string) {
	tb.Helper()
	mark := "saved-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	c.Run(tb, "scontrol", "update", "JobId="+id, "Comment="+mark)
	c.Poll(tb, func() (bool, string) {
		state, err := os.ReadFile(filepath.Join(c.Home, "state", "job_state"))
		return bytes.Contains(state, []byte(mark)), fmt.Sprintf("slurmctld has not written job %s down (%v)", id, err)
	})
}

// NodeState returns the state of a node as printed by sinfo, such as idle or down*.
func (c *Cluster) NodeState(node string) (string, error) {
	return c.Try("sinfo", "--noheader", "--partition="+Main, "--nodes="+node, "--format=%T")
}

// WaitNode waits until a node is in one of the states. An asterisk at the end means that the node
// does not answer.
func (c *Cluster) WaitNode(tb testing.TB, node string, states ...string) {
	tb.Helper()
	c.Poll(tb, func() (bool, string) {
		s, err := c.NodeState(node)
		return slices.Contains(states, s), fmt.Sprintf("node %s is %s (%v), want %v", node, s, err, states)
	})
}

// Cancel cancels a job.
func (c *Cluster) Cancel(tb testing.TB, id string) { tb.Helper(); c.Run(tb, "scancel", id) }

// Alive reports whether a job waits or runs.
func (c *Cluster) Alive(tb testing.TB, id string) bool {
	tb.Helper()
	state, err := c.State(id) // Slurm forgets jobs
	return err == nil && state != "" && !slices.Contains(ended, state)
}
