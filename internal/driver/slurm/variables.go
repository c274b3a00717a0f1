package slurm

import (
	"slices"

	"berth/internal/node/process"
)

// variables are Slurm's variables for processes of a job.
//
// Those that srun(1) has as output describe an allocation, and so do those of its input that sbatch and salloc set for their jobs. The rest
// of the input are options that users choose.
//
// A task has the variables of a job on its node alone. It is in no step, as programs with Open MPI that find SLURM_STEP_ID expect srun to
// have started them. Its srun shares cores and memory with the step of the worker, which has all of them (SLURM_OVERLAP), and
// runs on the node of the task (SLURM_HOSTFILE, which NodeVariables sets where there are several). mpirun has as many slots as
// the task has cores (SLURM_TASKS_PER_NODE).
var variables = process.SystemVariables{
	Job: "SLURM_JOB_ID", Index: "SLURM_ARRAY_TASK_ID",
	Names: []string{"SLURM_*", "SLURMD_*", "SRUN_*"},
	Kept: slices.Concat(keptVariables, []string{"SLURM_CONF_SERVER", "SLURM_TIME_FORMAT", "SLURM_BITSTR_LEN", "SLURM_DEBUG", "SLURM_DEBUG_FLAGS", "SLURMD_DEBUG",
		"SLURM_ACCOUNT", "SLURM_PARTITION", "SLURM_QOS", "SLURM_RESERVATION", "SLURM_TIMELIMIT", "SLURM_WCKEY",
		"SLURM_MPI_TYPE", "SLURM_PMIX_DIRECT_*", "SLURM_PMIX_FENCE", "SLURM_PMIX_TIMEOUT", "SLURM_PMIX_TMPDIR", "SLURM_PMI_KVS_NO_DUP_KEYS", "SLURM_BCAST", "SLURM_BCAST_EXCLUDE", "SLURM_COMPRESS", "SLURM_SEND_LIBS",
		"SLURM_DISABLE_STATUS", "SLURM_EXIT_ERROR", "SLURM_EXIT_IMMEDIATE", "SLURM_IMMEDIATE", "SLURM_KILL_BAD_EXIT", "SLURM_LABELIO", "SLURM_SRUN_REDUCE_TASK_EXIT_MSG",
		"SLURM_STEP_KILLED_MSG_NODE_ID", "SLURM_TEST_EXEC", "SLURM_UNBUFFEREDIO", "SLURM_WAIT",
		"SLURM_PROLOG", "SLURM_EPILOG", "SLURM_TASK_PROLOG", "SLURM_TASK_EPILOG", "SRUN_CONTAINER", "SRUN_CONTAINER_ID", "SRUN_EXPORT_ENV"}),
	Tasks: []string{"SLURM_JOB_ID", "SLURM_JOBID=$SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_PARTITION", "SLURM_JOB_ACCOUNT", "SLURM_JOB_QOS",
		"SLURM_JOB_RESERVATION", "SLURM_JOB_USER", "SLURM_JOB_UID", "SLURM_JOB_GID", "SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME", "SLURM_CLUSTER_NAME",
		"SLURM_WORKING_CLUSTER", "SLURM_SUBMIT_HOST", "SLURM_SUBMIT_DIR=$DIR", "SLURMD_NODENAME", "SLURM_NODE_ALIASES", "SLURM_TOPOLOGY_ADDR", "SLURM_TOPOLOGY_ADDR_PATTERN",
		"SLURM_JOB_NODELIST=$SLURMD_NODENAME", "SLURM_NODELIST=$SLURMD_NODENAME", "SLURM_JOB_NUM_NODES=1", "SLURM_NNODES=1", "SLURM_NODEID=0",
		"SLURM_NTASKS=1", "SLURM_NPROCS=1", "SLURM_PROCID=0", "SLURM_LOCALID=0",
		"SLURM_CPUS_PER_TASK=$CPUS", "SLURM_CPUS_ON_NODE=$CPUS", "SLURM_JOB_CPUS_PER_NODE=$CPUS", "SLURM_TASKS_PER_NODE=$CPUS", "SLURM_MEM_PER_NODE=$MEM",
		"SLURM_OVERLAP=1", "SLURM_HOSTFILE"},
}
