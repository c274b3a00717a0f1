// Package gridenginetest gives tests a real Grid Engine: a qmaster, and hosts that are network namespaces of this machine, started
// by scripts/gridengine.sh. Its methods are those of slurmtest where they mean the same.
package gridenginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/test/support/bed"
)

// Master is the name of the qmaster. Nodes are n1, n2, …, their daemons execd1, execd2, ….
const Master = "master"

// The queues of every cluster. Jobs in Short end after ten minutes, jobs in Narrow have one host, nobody may use Closed.
const (
	Main   = "all.q"
	Short  = "short.q"
	Closed = "closed.q"
	Narrow = "narrow.q"
)

// Cluster is a Grid Engine.
type Cluster struct {
	*bed.Bed
	set []string
}

// An Option is a setting of scripts/gridengine.sh.
type Option string

// Nodes sets the number of nodes; default 3.
func Nodes(n int) Option { return Option("GE_NODES=" + strconv.Itoa(n)) }

// Slots sets the slots of each node, independent of the machine; default 2.
func Slots(n int) Option { return Option("GE_SLOTS=" + strconv.Itoa(n)) }

// Memory sets the memory of each node, independent of the machine; default 16G.
func Memory(size string) Option { return Option("GE_MEM=" + size) }

// DefaultMemory sets what a job has that requests no memory; default 1G, that of Grid Engine is 0.
func DefaultMemory(size string) Option { return Option("GE_VMEM=" + size) }

// Scheduler and Global change a line of the configuration of the scheduler, or of the cluster.
func Scheduler(line string) Option { return Option("GE_SCHED=" + line) }
func Global(line string) Option    { return Option("GE_CONF=" + line) }

// need skips the test where no cluster can be started by choice or by lack of rights.
func need(tb testing.TB) {
	tb.Helper()
	if os.Getenv("BERTH_NO_GRIDENGINE") != "" {
		tb.Skip("BERTH_NO_GRIDENGINE is set: no tests with Grid Engine")
	}
	if os.Getuid() != 0 {
		tb.Skip("a private Grid Engine needs root, for network namespaces")
	}
}

// Start starts a cluster that ends with the test, or with the test process if that dies.
func Start(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	need(tb)
	c := newCluster(opts)
	c.Bed.Start(tb)
	return c
}

var shared bed.Shared[*Cluster]

// Shared starts a cluster that all tests of a package use. TestMain ends it with EndShared.
func Shared(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	need(tb)
	return shared.Get(tb, func() (*Cluster, func() error, error) {
		c := newCluster(opts)
		end, err := c.Up()
		return c, end, err
	})
}

// EndShared ends the cluster that Shared has started, if any.
func EndShared() error { return shared.End() }

func newCluster(opts []Option) *Cluster {
	c := &Cluster{set: []string{"GE_NODES=3"}}
	for _, o := range opts {
		c.set = append(c.set, string(o))
	}
	c.Bed = &bed.Bed{Config: bed.Config{Scripts: []string{"gridengine.sh"}, Environ: c.environ, Bin: "bin/lx-amd64", Log: "default/spool/qmaster/messages",
		Help: "scripts/gridengine.sh deps installs what is missing; BERTH_NO_GRIDENGINE=1 skips these tests"}}
	return c
}

// note returns a value of the file in which the script keeps what it chose.
func (c *Cluster) note(name string) string {
	text, _ := os.ReadFile(filepath.Join(c.Home, "bed")) // none before up
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return v
		}
	}
	return ""
}

// Address is the address of this machine that the nodes reach.
func (c *Cluster) Address() string { return c.note("NET") + ".1" }

// Node returns the name of a node in Grid Engine: 1 is the first. Nodes of a cluster differ in the number only.
func (c *Cluster) Node(n int) string { return fmt.Sprintf("%sn%d", c.note("NAME"), n) }

// Env returns the environment variables with which Grid Engine's commands use this cluster, and berth finds them.
func (c *Cluster) Env() []string {
	number, _ := strconv.Atoi(c.note("NUMBER"))
	return []string{"SGE_ROOT=" + c.Home, "SGE_CELL=default", "SGE_CLUSTER_NAME=" + c.note("NAME"), "SGE_QMASTER_PORT=" + strconv.Itoa(17000+2*number),
		"SGE_EXECD_PORT=" + strconv.Itoa(17001+2*number), "PATH=" + filepath.Join(c.Home, "bin", "lx-amd64") + ":" + os.Getenv("PATH")}
}

// environ is the environment of the cluster's commands and of its script.
func (c *Cluster) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "SGE_") && !strings.HasPrefix(kv, "GE_") {
			env = append(env, kv)
		}
	}
	return append(append(append(env, c.set...), c.Env()...), "TZ=UTC", "LC_ALL=C")
}

// Kill kills a part with SIGKILL: Master, a node (n1) with all that runs there, or only its daemon (execd1).
func (c *Cluster) Kill(tb testing.TB, part string) { tb.Helper(); c.Control(tb, "kill", part) }

// Start starts a part again and waits until it works.
func (c *Cluster) Start(tb testing.TB, part string) { tb.Helper(); c.Control(tb, "start", part) }

// Pause stops the qmaster, so that its clients wait, until Start.
func (c *Cluster) Pause(tb testing.TB) { tb.Helper(); c.Control(tb, "pause") }

// Fill submits a job that occupies whole nodes or parts of them and sleeps, and returns its id.
func (c *Cluster) Fill(tb testing.TB, nodes, slots int, sleep, limit time.Duration, more ...string) string {
	tb.Helper()
	args := []string{"-N", "fill", "-q", Main, "-R", "y", "-l", "h_vmem=100M,h_rt=" + strconv.Itoa(int(limit.Seconds())), "-pe", fmt.Sprintf("node%d", slots), strconv.Itoa(nodes * slots)}
	return c.Submit(tb, append(append(args, more...), "-b", "y", "/bin/sleep", strconv.FormatFloat(sleep.Seconds(), 'f', -1, 64))...)
}

// Submit runs qsub with the given arguments and returns the job id.
func (c *Cluster) Submit(tb testing.TB, args ...string) string {
	tb.Helper()
	return c.Run(tb, "qsub", append([]string{"-terse", "-o", "/dev/null", "-j", "y"}, args...)...)
}

// State returns the state of a job as qstat prints it: qw, hqw, Eqw, t, r, dr; "" for one that has ended.
func (c *Cluster) State(id string) (string, error) {
	out, err := c.Try("qstat", "-u", "*")
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 4 && f[0] == id {
			return f[4], err
		}
	}
	return "", err
}

// WaitState waits until a job is in this state.
func (c *Cluster) WaitState(tb testing.TB, id, want string) {
	tb.Helper()
	c.Poll(tb, func() (bool, string) {
		s, err := c.State(id)
		return err == nil && s == want, fmt.Sprintf("job %s is %q (%v), want %q", id, s, err, want)
	})
}
