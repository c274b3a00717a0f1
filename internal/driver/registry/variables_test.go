package registry

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/node/process"
)

// cookie marks the tasks of these tests.
var cookie = process.ParseCookie("BERTH_NODE=a1/0.7")

// at is a task with two cores and 100 MB.
var at = process.Place{Need: job.Resources{CPUs: 2, Mem: 100 << 20}, Dir: "/job"}

// Environments of workers on nodes, as the batch systems make them.
var (
	onSlurm = []string{"SLURM_JOB_ID=7", "SLURM_JOBID=7", "SLURM_JOB_NAME=berth", "SLURM_JOB_NODELIST=n[1-2]", "SLURM_NODELIST=n[1-2]", "SLURM_NNODES=2", "SLURM_JOB_NUM_NODES=2",
		"SLURM_NTASKS=2", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_CPUS_ON_NODE=8", "SLURM_MEM_PER_NODE=800", "SLURM_SUBMIT_DIR=/", "SLURMD_NODENAME=n2", "SLURM_HOSTFILE=/a1/1.hosts",
		"PMI_RANK=1", "SRUN_DEBUG=3", "PATH=/site:/bin", "TMPDIR=/local/7", "LICENSE=site", "LANG=C", "HOME=/home", "ENVIRONMENT=BATCH", "HOSTNAME=n1", "PWD=/", "CUDA_VISIBLE_DEVICES=3",
		"SLURM_TIME_FORMAT=%s", process.NewSubmitted([]string{"PATH=/bin", "TMPDIR=/tmp/login", "LANG=C", "HOME=/home", "SLURM_TIME_FORMAT=%s"})}
	onPBS = []string{"PBS_JOBID=7.s", "PBS_JOBNAME=berth", "PBS_QUEUE=workq", "PBS_NODENUM=1", "PBS_TASKNUM=3", "PBS_MOMPORT=1", "PBS_JOBCOOKIE=C", "PBS_ENVIRONMENT=PBS_BATCH",
		"PBS_O_WORKDIR=/", "PBS_NODEFILE=/aux/7", "NCPUS=8", "OMP_NUM_THREADS=8", "TMPDIR=/local/7", "PATH=/login", "LANG=C", "BERTH_SCRIPT=batch-1.sh"}
	onGridEngine = []string{"JOB_ID=7", "JOB_NAME=berth", "QUEUE=all.q", "NSLOTS=8", "NHOSTS=2", "NQUEUES=2", "PE=mpi", "PE_HOSTFILE=/spool/7", "SGE_TASK_ID=undefined", "SGE_O_WORKDIR=/",
		"SGE_JOB_SPOOL_DIR=/spool/7", "ARC=lx-amd64", "REQUEST=berth", "RESTARTED=0", "ENVIRONMENT=BATCH", "HOSTNAME=n2", "TMPDIR=/local/7", "TMP=/local/7", "PATH=/login"}
)

// outer are environments of processes in jobs of others than berth, as an interactive job has them.
var outer = map[string][]string{
	"slurm": {"SLURM_JOB_ID=1", "SLURM_JOBID=1", "SLURM_JOB_NODELIST=old", "SLURM_NODELIST=old", "SLURM_NTASKS=96", "SLURM_NTASKS_PER_NODE=48", "SLURM_TASKS_PER_NODE=48(x2)", "SLURM_MEM_PER_CPU=4000",
		"SLURM_TRES_PER_TASK=cpu=9", "SLURM_CPU_BIND=quiet,mask_cpu:0x1", "SLURM_CPU_BIND_LIST=0x1", "SLURM_STEP_ID=3", "SLURM_GTIDS=0", "SLURM_EXPORT_ENV=NONE", "SLURM_GPUS_ON_NODE=4",
		"SLURM_JOB_NAME_HET_GROUP_0=x", "SLURMD_NODENAME=old", "SRUN_DEBUG=3", "SRUN_CPUS_PER_TASK=9", "SLURM_PMIX_MAPPING_SERV=old", "SLURM_WHAT_COMES_NEXT=1"},
	"pbs": {"PBS_JOBID=1.x", "PBS_NODEFILE=/aux/1", "PBS_ENVIRONMENT=PBS_INTERACTIVE", "PBS_JOBCOOKIE=O", "PBS_NODENUM=3", "PBS_TASKNUM=9", "PBS_MOMPORT=9", "PBS_JOBDIR=/old", "PBS_O_PATH=/old",
		"PBS_NP=96", "PBS_ARRAY_ID=1[]", "NCPUS=96", "OMP_NUM_THREADS=96"},
	"gridengine": {"JOB_ID=1", "JOB_NAME=QLOGIN", "QUEUE=old.q", "NSLOTS=96", "NHOSTS=9", "NQUEUES=9", "PE=old", "PE_HOSTFILE=/spool/1", "SGE_TASK_ID=5", "SGE_TASK_LAST=9", "SGE_O_HOST=old",
		"SGE_CWD_PATH=/old", "SGE_STDOUT_PATH=/old", "ARC=old", "REQUEST=QLOGIN", "RESTARTED=0", "HOSTNAME=old"},
	"ranks": {"PMI_RANK=3", "PMI_FD=7", "PMIX_NAMESPACE=old", "PMIX_RANK=3", "PMIX_SERVER_URI41=old", "OMPI_COMM_WORLD_RANK=3", "OMPI_MCA_ess=^singleton", "OMPI_MCA_orte_hnp_uri=old", "OMPI_UNIVERSE_SIZE=96",
		"PRTE_LAUNCHED=1", "HYDRA_HOST_FILE=old", "HYDI_CONTROL_FD=5", "MPI_LOCALRANKID=3", "PALS_RANKID=3", "MV2_COMM_WORLD_RANK=3"},
}

// users are variables that users set, and that no batch system has set for a job.
var users = []string{"A=1", "EMPTY=", "LIST=:a:", "SLURM_CONF=/s.conf", "SLURM_CLUSTERS=one", "SLURM_TIME_FORMAT=relative", "SLURM_ACCOUNT=mine", "SLURM_MPI_TYPE=pmix", "SLURM_PMIX_TMPDIR=/pmix", "SLURM_DEBUG=1", "SBATCH_ACCOUNT=mine", "SBATCH_EXPORT=NONE",
	"SQUEUE_FORMAT=%i", "SINFO_FORMAT=%n", "SALLOC_ACCOUNT=mine", "SRUN_EXPORT_ENV=ALL", "PBS_CONF_FILE=/pbs.conf", "PBS_EXEC=/opt/pbs", "PBS_SERVER=s", "PBS_DEFAULT=s", "PBS_DPREFIX=#PBS", "SGE_ROOT=/sge",
	"SGE_CELL=default", "SGE_CLUSTER_NAME=c", "SGE_QMASTER_PORT=1", "SGE_EXECD_PORT=2", "SGE_ARCH=lx-amd64", "OMPI_MCA_btl=self,vader", "OMPI_CC=clang", "OMPI_ALLOW_RUN_AS_ROOT=1", "OPAL_PREFIX=/opt/ompi", "PMIX_MCA_gds=hash",
	"PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "PMI_TIME=900", "HYDRA_IFACE=ib0", "HYDRA_LAUNCHER=fork", "I_MPI_FABRICS=shm", "BERTH_ON=slurm", "BERTH_SSH=ssh -F mine", "BERTH_MY_PARAMETER=5", "BERTH_GPUS=2"}

// ambiguous are variables that users set for purposes of their own, and Grid Engine for its jobs.
var ambiguous = []string{"ENVIRONMENT=production", "JOB_NAME=mine", "JOB_ID=experiment", "QUEUE=mine", "NSLOTS=4", "HOSTNAME=login", "NCPUS=4"}

// TestTaskEnvironment: on a node of a batch system a task has the user's variables, those of its own allocation as a job on that node alone would
// have them, and what the site set there. Nothing of an outer job, of the worker's step or of an outer task of berth is left.
func TestTaskEnvironment(t *testing.T) {
	for _, tt := range []struct {
		on         string
		node       []string
		own, fresh string
	}{
		{"slurm", onSlurm, "SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_JOB_NAME=berth SLURM_SUBMIT_DIR=/job SLURMD_NODENAME=n2 SLURM_JOB_NODELIST=n2 SLURM_NODELIST=n2 SLURM_JOB_NUM_NODES=1 SLURM_NNODES=1 SLURM_NODEID=0 " +
			"SLURM_NTASKS=1 SLURM_NPROCS=1 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_CPUS_PER_TASK=2 SLURM_CPUS_ON_NODE=2 SLURM_JOB_CPUS_PER_NODE=2 SLURM_TASKS_PER_NODE=2 SLURM_MEM_PER_NODE=100 SLURM_OVERLAP=1 " +
			"SLURM_HOSTFILE=/a1/1.hosts", "PATH=/site:/users TMPDIR=/local/7 LICENSE=site"},
		{"pbs", onPBS, "PBS_JOBID=7.s PBS_JOBNAME=berth PBS_QUEUE=workq PBS_O_WORKDIR=/job NCPUS=2", "PATH=/users TMPDIR=/local/7"},
		{"gridengine", onGridEngine, "JOB_ID=7 QUEUE=all.q HOSTNAME=n2 SGE_O_WORKDIR=/job SGE_CWD_PATH=/job NSLOTS=2 NHOSTS=1 NQUEUES=1", "PATH=/users TMPDIR=/local/7 TMP=/local/7"},
	} {
		user := slices.Concat(outer["slurm"], outer["pbs"], outer["gridengine"], outer["ranks"], users,
			[]string{"PATH=/users", "TMPDIR=/tmp/login", "BERTH_TASK_ID=9", "BERTH_NODE=old", "BERTH_STAGE=merge", "BERTH_DEADLINE=1"})
		got := cookie.TaskEnv(process.BatchVariables{Systems: Variables(), Node: tt.node}, user, at, "BERTH_JOB_ID=bag-1")
		id, _, _ := strings.Cut(tt.node[0], "=")
		want := slices.Concat(users, strings.Fields(tt.own), strings.Fields(tt.fresh),
			[]string{"BERTH_JOB_ID=bag-1", string(cookie), "BERTH_NODE_JOB=" + job.Getenv(tt.node, id), "OMP_NUM_THREADS=2"})
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s\nwant %s", tt.on, strings.Join(got, " "), strings.Join(want, " "))
		}
		user = slices.Concat(users, ambiguous)
		got = cookie.TaskEnv(process.BatchVariables{Systems: Variables(), Node: tt.node}, user, at)
		for _, kv := range ambiguous {
			if name, _, _ := strings.Cut(kv, "="); !slices.Contains(got, kv) && job.Getenv(strings.Fields(tt.own), name) == "" {
				t.Errorf("%s: %s is not in %v", tt.on, kv, got)
			}
		}
	}
}

// TestEnvironmentHere: where berth runs in the job in which the user works, a task has that job's variables, and is no rank of a launcher.
func TestEnvironmentHere(t *testing.T) {
	stay := slices.Concat(outer["slurm"], outer["pbs"], users)
	got := cookie.TaskEnv(process.BatchVariables{Systems: Variables()}, slices.Concat(stay, outer["ranks"], []string{"SLURM_ARRAY_TASK_ID=9"}), at)
	want := slices.Concat(stay, []string{string(cookie), "BERTH_NODE_JOB=1 1.x"})
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// TestNoOuterVariables: whatever environment a user has, whatever jobs it comes from, and wherever the task runs, each name occurs once, no
// variable of an outer job reaches the task unless its own allocation sets it, and everything else stays as it is.
func TestNoOuterVariables(t *testing.T) {
	var inner []string
	for _, of := range outer {
		inner = append(inner, of...)
	}
	slices.Sort(inner)
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOfN(rapid.SampledFrom(inner), 1, 40).Draw(t, "outer")
		mine := rapid.SliceOfN(rapid.SampledFrom(users), 0, 40).Draw(t, "users")
		mine = append(mine, rapid.SliceOf(rapid.StringMatching(`X[A-Z_]{1,6}=[ -~\n]{0,9}`)).Draw(t, "others")...)
		user := rapid.Permutation(slices.Concat(old, []string{"PBS_JOBID=1.x", "SGE_O_HOST=old", "OMPI_COMM_WORLD_SIZE=9", "NCPUS=96"}, mine)).Draw(t, "order")
		node := rapid.SampledFrom([][]string{onSlurm, onPBS, onGridEngine}).Draw(t, "node")
		v := process.BatchVariables{Systems: Variables(), Node: node}
		got, fresh := cookie.TaskEnv(v, user, at), cookie.TaskEnv(v, nil, at)
		seen := map[string]bool{}
		for _, kv := range got {
			name, _, _ := strings.Cut(kv, "=")
			if seen[name] {
				t.Fatalf("%s occurs twice", name)
			}
			seen[name] = true
			if !slices.Contains(mine, kv) && !slices.Contains(fresh, kv) {
				t.Fatalf("%s is neither the user's nor of the task's own allocation", kv)
			}
		}
		for _, kv := range mine {
			if name, _, _ := strings.Cut(kv, "="); job.Getenv(mine, name) == strings.TrimPrefix(kv, name+"=") && job.Getenv(fresh, name) == "" && !slices.Contains(got, lastOf(user, name)) {
				t.Fatalf("%s is lost", kv)
			}
		}
	})
}

// lastOf returns the last variable of that name.
func lastOf(env []string, name string) string { return name + "=" + job.Getenv(env, name) }
