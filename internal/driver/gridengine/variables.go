package gridengine

import (
	"berth/internal/node/process"
	"strings"
)

// variables are the variables of Grid Engine for processes of a job, as in qsub(1). Other names that begin with SGE_ are settings. A task has no PE_HOSTFILE: it
// is on one host, where mpirun starts its ranks without one.
var variables = process.SystemVariables{
	Job: "JOB_ID", Index: "SGE_TASK_ID",
	Names: strings.Fields(`SGE_ACCOUNT SGE_BINARY_PATH SGE_BINDING SGE_CKPT_DIR SGE_CKPT_ENV SGE_CWD_PATH SGE_HGR_* SGE_JOB_SPOOL_DIR SGE_O_*
		SGE_RSH_COMMAND SGE_STDERR_PATH SGE_STDIN_PATH SGE_STDOUT_PATH SGE_TASK_* NQUEUES PE_HOSTFILE`),
	Loose: strings.Fields("ARC ENVIRONMENT HOSTNAME JOB_ID JOB_NAME JOB_SCRIPT NHOSTS NSLOTS PE QUEUE REQNAME REQUEST RESTARTED"),
	Tasks: strings.Fields("JOB_ID QUEUE HOSTNAME SGE_O_HOST SGE_O_WORKDIR=$DIR SGE_CWD_PATH=$DIR NSLOTS=$CPUS NHOSTS=1 NQUEUES=1"),
	Gang:  strings.Fields("NSLOTS=$RANKS NHOSTS=$NODES"),
	MPI:   []string{"gridengine"},
}
