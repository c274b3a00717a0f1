// Command engines compares berth with what workflow engines and executors in Python use themselves, in one run on a private Slurm cluster
// of this machine:
//
//   - workflows of many short jobs in layers and of some long ones, with Snakemake's executor for Slurm and Nextflow's beside the same engine
//     with berth: makespan and number of batch jobs;
//   - maps of empty functions with berth.Executor, a pool of processes, Parsl and dask.distributed, and what an added task costs.
//
// The sides run one after the other, the engine's own one last in every second repetition. Nothing is known of the workflows before, but in
// the run called "again".
// All nodes are this machine, so processes of all jobs share its cores.
package main
