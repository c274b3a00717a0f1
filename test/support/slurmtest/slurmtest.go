// Package slurmtest gives each test its own real Slurm cluster: munged, slurmctld and one slurmd for
// each node, all on this machine, started by scripts/slurm.sh. Start starts a cluster that ends with
// the test.
package slurmtest

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/test/support/bed"
)

// The names of the daemons of a cluster. The daemon of a node has the name of the node.
const (
	Ctld  = "ctld"
	Munge = "munge"
)

// The partitions of every cluster. Jobs in Short end after ten minutes and have at most four nodes.
// Main, the default partition, has no limits.
const (
	Main  = "main"
	Short = "short"
)

// patientKill gives processes time to end on SIGTERM on a busy machine. 30 s is also Slurm's
// default.
const patientKill = "KillWait=30"

// Cluster is a Slurm cluster that ends with the test. Its nodes are n1, n2, ….
type Cluster struct {
	*bed.Bed
	shape shape
}

// shape is the configuration of a cluster.
type shape struct {
	nodes, cpus, memory int
	gpus                string
	extra               []string
	name, accounting    string              // empty: the script's defaults
	user                *syscall.Credential // nil: the user who runs the test
}

// An Option changes the cluster that Start makes.
type Option func(*shape)

// Nodes sets the number of nodes; default 8.
func Nodes(n int) Option { return func(s *shape) { s.nodes = n } }

// CPUs sets the CPUs of each node, independent of the machine; default 2.
func CPUs(n int) Option { return func(s *shape) { s.cpus = n } }

// Memory sets the memory of each node in MB, independent of the machine; default 2000.
func Memory(mb int) Option { return func(s *shape) { s.memory = mb } }

// GPUs gives nodes GPUs, in the order of their numbers: "2:4:a100 1:2:v100" is four of type a100 for n1 and for n2, and two
// of type v100 for n3. Their devices are links to /dev/null.
func GPUs(groups string) Option { return func(s *shape) { s.gpus = groups } }

// Extra adds a line to slurm.conf. It replaces the value of a key that is already set; lines of
// PartitionName and NodeName are added.
func Extra(line string) Option { return func(s *shape) { s.extra = append(s.extra, line) } }

// Accounting gives the cluster a database and a slurmdbd, which enforces limits of associations and
// QOS. With another cluster it uses that cluster's; then the name must differ. The user who runs the
// test is in the account "main".
func Accounting(name string, of *Cluster) Option {
	return func(s *shape) {
		if s.name, s.accounting = name, "own"; of != nil {
			s.accounting = of.Home
		}
	}
}

// Start starts a cluster that ends with the test, or with the test process if that dies. It fails
// the test if Slurm is not installed, and skips it if BERTH_NO_SLURM is set.
func Start(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()
	if os.Getenv("BERTH_NO_SLURM") != "" {
		tb.Skip("BERTH_NO_SLURM is set: no tests with Slurm")
	}
	c := &Cluster{shape: shape{nodes: 8, cpus: 2, memory: 2000, extra: []string{patientKill}}}
	for _, o := range opts {
		o(&c.shape)
	}
	c.Bed = &bed.Bed{Config: bed.Config{Scripts: []string{"slurm.sh", "slurm-conf.sh", "slurm-acct.sh"}, Environ: c.environ, Log: "log/slurmctld.log",
		User: c.shape.user, Continues: true, Help: "scripts/slurm.sh deps acct installs what is missing; BERTH_NO_SLURM=1 skips these tests"}}
	c.Bed.Start(tb)
	return c
}

// environ is the environment of the cluster's commands: ours without that of another cluster, with
// this cluster's and its shape.
func (c *Cluster) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !ofSlurm(kv) {
			env = append(env, kv)
		}
	}
	return append(append(env, c.Env()...),
		"SLURM_NODES="+strconv.Itoa(c.shape.nodes), "SLURM_CPUS="+strconv.Itoa(c.shape.cpus),
		"SLURM_NAME="+c.shape.name, "SLURM_ACCT="+c.shape.accounting, "SLURM_MEM="+strconv.Itoa(c.shape.memory), "SLURM_GPUS="+c.shape.gpus, "SLURM_EXTRA="+strings.Join(c.shape.extra, "\n"))
}

// ofSlurm reports whether Slurm reads the variable, or sets it for jobs.
func ofSlurm(kv string) bool {
	for _, prefix := range []string{"SLURM_", "SLURMD_", "SBATCH_", "SRUN_", "SALLOC_", "SQUEUE_", "SINFO_", "SCANCEL_"} {
		if strings.HasPrefix(kv, prefix) {
			return true
		}
	}
	return false
}

// Env returns the environment variables with which Slurm's commands use this cluster.
func (c *Cluster) Env() []string { return []string{"SLURM_CONF=" + c.Home + "/slurm.conf"} }

// Setenv makes the test process and its children use this cluster until the test ends, and hides the
// environment of other clusters.
func (c *Cluster) Setenv(tb testing.TB) {
	tb.Helper()
	for _, kv := range os.Environ() {
		if name, value, _ := strings.Cut(kv, "="); ofSlurm(kv) {
			tb.Setenv(name, value) // so that it is restored at the end
			_ = os.Unsetenv(name)
		}
	}
	bed.Setenv(tb, c.Env())
}

// Stop kills a daemon with SIGKILL: Ctld, Munge or the slurmd of a node. Job steps on that node
// continue.
func (c *Cluster) Stop(tb testing.TB, daemon string) { tb.Helper(); c.Control(tb, "stop", daemon) }

// Start starts a stopped daemon and waits until it works again.
func (c *Cluster) Start(tb testing.TB, daemon string) { tb.Helper(); c.Control(tb, "start", daemon) }

// Crash kills all processes of a node with SIGKILL: slurmd, steps and their tasks. Start brings the
// node back.
func (c *Cluster) Crash(tb testing.TB, node string) { tb.Helper(); c.Control(tb, "crash", node) }
