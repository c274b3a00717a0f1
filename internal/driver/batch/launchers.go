package batch

import (
	"berth/internal/node/process"
	"strings"
)

// Launchers are the variables by which programs that start ranks (mpirun, srun with PMI, PALS) tell a process which rank it is, and where its
// launcher is. No task of berth is a rank of the launcher that started berth. What users set to configure MPI stays.
var Launchers = process.SystemVariables{
	Names: strings.Fields(`PMI_* PMI2_* PMIX_* PRTE_*
		OMPI_APP_CTX_NUM_PROCS OMPI_ARGV OMPI_COMMAND OMPI_COMM_WORLD_* OMPI_FILE_LOCATION OMPI_FIRST_RANKS OMPI_NUM_APP_CTX OMPI_UNIVERSE_SIZE
		OMPI_MCA_ess_base_* OMPI_MCA_initial_wdir OMPI_MCA_orte_app_num OMPI_MCA_orte_bound_at_launch OMPI_MCA_orte_ess_* OMPI_MCA_orte_hnp_uri
		OMPI_MCA_orte_jobfam_session_dir OMPI_MCA_orte_launch OMPI_MCA_orte_local_daemon_uri OMPI_MCA_orte_num_nodes OMPI_MCA_orte_parent_uri
		OMPI_MCA_orte_precondition_transports OMPI_MCA_orte_top_session_dir
		HYDRA_CONTROL_FD HYDRA_HOST_FILE HYDRA_PROXY_* HYDI_* MPI_LOCALNRANKS MPI_LOCALRANKID MPI_LOCALSIZE MPIR_RANK MPISPAWN_* MV2_COMM_WORLD_*
		PALS_APID PALS_APINFO PALS_APPNUM PALS_DEPTH PALS_FD PALS_LOCAL_RANKID PALS_LOCAL_SIZE PALS_NODEID PALS_RANKID PALS_SPOOL_DIR`),
	MPI:  strings.Fields("lsf alps pals flux loadleveler"),
	Kept: strings.Fields("PMI_DEBUG PMI_FANOUT PMI_FANOUT_OFF_HOST PMI_MMAP_SYNC_WAIT_TIME PMI_NO_FORK PMI_NO_PREINITIALIZE PMI_TIME PMIX_MCA_* PRTE_MCA_*"),
	Loose: strings.Fields(`OMPI_MCA_ess OMPI_MCA_mpi_oversubscribe OMPI_MCA_orte_tmpdir_base OMPI_MCA_pmix OMPI_MCA_shmem_RUNTIME_QUERY_hint
		PMIX_MCA_mca_base_component_show_load_errors`),
}
