package slurm

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

func TestArguments(t *testing.T) {
	req := job.AllocRequest{Nodes: 3, PerNode: job.Resources{CPUs: 4, Mem: 1<<30 + 1}, Time: 61 * time.Second,
		Batch: job.Batch{Partition: "p", Account: "a", QOS: "q", Constraint: "c&d", Name: "my job", Exclusive: true, Args: []string{"--gres=gpu:1"}}}
	want := "--job-name=my_job|--comment=my job|--gres=gpu:1|--nodes=3|--ntasks-per-node=1|--cpus-per-task=4|--mem=1025M|--time=2|" +
		"--partition=p|--account=a|--qos=q|--constraint=c&d|--exclusive"
	if got := strings.Join(shapeArgs(req, memPerNode), "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	req.Batch.Licences = "db=2,nastran@flex=1"
	if got := shapeArgs(req, memPerNode); got[len(got)-1] != "--licenses=db:2,nastran@flex:1" {
		t.Errorf("licences are requested by %q", got)
	}
	for arg, want := range map[string]string{"--gres=gpu:1": "--mem-per-cpu=257M", "--mem-per-cpu=2G": "", "--mem=3G": "", "--mem-per-gpu": "", "--mem-bind=local": "--mem-per-cpu=257M"} {
		req.Batch.Args = []string{arg}
		if got := strings.Join(memPerCPU.args(req), " "); got != want {
			t.Errorf("beside %s, memory is requested by %q, want %q", arg, got, want)
		}
	}
	if got := strings.Join(shapeArgs(job.AllocRequest{Nodes: 1, PerNode: job.Resources{Mem: 1}}, memNone), "|"); got != "--job-name=berth|--nodes=1|--ntasks-per-node=1|--cpus-per-task=1" {
		t.Errorf("got %s", got)
	}
}

func TestEnvironments(t *testing.T) {
	env := []string{"PATH=/bin", "SLURM_CONF=/c", "SLURM_JOB_ID=1", "SBATCH_PARTITION=gpu", "SBATCH_ACCOUNT=old", "SBATCH_ACCOUNT=mine", "SECRET=x", "LC_ALL=de", "SQUEUE_USERS=me", "SLURM_JWT=j"}
	if got := commandEnv(env); !slices.Equal(got, []string{"PATH=/bin", "SLURM_CONF=/c", "SECRET=x", "SLURM_JWT=j", "LC_ALL=C", "SLURM_TIME_FORMAT=%s", "SLURM_BITSTR_LEN=0"}) {
		t.Errorf("commands: %q", got)
	}
	jobs := []string{"PATH=/bin", "SLURM_CONF=/c", "SLURM_JWT=j", "SLURM_TIME_FORMAT=%s"}
	if got := jobEnv(env); !slices.Equal(got, append(jobs, process.NewSubmitted(jobs))) {
		t.Errorf("jobs: %q", got)
	}
	env = append(env, "SBATCH_RESERVATION=course", "SBATCH_TIMELIMIT=60", "SBATCH_EXPORT=NONE")
	got, notes := Open(env).Defaults()
	if got.Partition != "gpu" || got.Account != "mine" || got.QOS != "" || got.Constraint != "" || !slices.Equal(got.Args, []string{"--reservation=course"}) {
		t.Errorf("defaults: %+v", got)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "SBATCH_TIMELIMIT=60 of your shell has no effect: ") {
		t.Errorf("notes: %q", notes)
	}
	if err := Open([]string{"PATH=" + t.TempDir()}).Available(t.Context()); job.ClassOf(err) != job.User || !strings.Contains(err.Error(), "sbatch") {
		t.Errorf("without Slurm: %v", err)
	}
	if err := Open([]string{"PATH=" + os.Getenv("PATH"), "SLURM_CONF=/dev/null"}).Available(t.Context()); job.ClassOf(err) != job.User {
		t.Errorf("without a cluster: %v", err)
	}
}

// TestAvoidedNodes: nodes on which workers could not start are left out, unless the user says which nodes a job gets.
func TestAvoidedNodes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"--exclude=n1,n2"}},
		{[]string{"--exclusive", "--gres=gpu:1"}, []string{"--exclude=n1,n2"}},
		{[]string{"--exclude=n3"}, nil},
		{[]string{"-xn3"}, nil},
		{[]string{"-w", "n1"}, nil},
		{[]string{"--nodelist=n[1-2]"}, nil},
	} {
		if got := avoidArgs(job.AllocRequest{Avoid: []string{"n1", "n2"}, Batch: job.Batch{Args: c.args}}); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	if got := avoidArgs(job.AllocRequest{}); got != nil {
		t.Errorf("%q without nodes to avoid", got)
	}
}
