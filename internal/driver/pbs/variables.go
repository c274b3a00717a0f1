package pbs

import (
	"berth/internal/node/process"
	"strings"
)

// variables are the variables of PBS and of TORQUE for processes of a job, as in qsub(1). Other names that begin with PBS_ are settings, as in pbs.conf(8).
// PBS gives a job OMP_NUM_THREADS with the value of NCPUS. A task has a PBS_NODEFILE only if it has several ranks:
// mpirun starts those of one node without it.
var variables = process.SystemVariables{
	Job: "PBS_JOBID", Index: "PBS_ARRAY_INDEX",
	Names: strings.Fields(`PBS_JOBID PBS_JOBNAME PBS_JOBDIR PBS_JOBCOOKIE PBS_QUEUE PBS_ACCOUNT PBS_ENVIRONMENT PBS_O_* PBS_ARRAY_ID PBS_ARRAY_INDEX
		PBS_NODEFILE PBS_NODENUM PBS_TASKNUM PBS_MOMPORT PBS_CPUSET_DEDICATED PBS_HOOK_*
		PBS_ARRAYID PBS_GPUFILE PBS_MICFILE PBS_NP PBS_NUM_NODES PBS_NUM_PPN PBS_PPN PBS_VERSION PBS_VNODENUM PBS_WALLTIME`),
	Loose: []string{"NCPUS", "OMP_NUM_THREADS=NCPUS"},
	Tasks: strings.Fields("PBS_JOBID PBS_JOBNAME PBS_QUEUE PBS_ACCOUNT PBS_O_HOST PBS_O_WORKDIR=$DIR NCPUS=$CPUS"),
	Gang:  []string{"PBS_NODEFILE=$HOSTFILE"},
	MPI:   []string{"tm", "pbs"},
}
