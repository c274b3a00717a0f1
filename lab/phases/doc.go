// Command phases compares berth's schedulers on a private cluster: three nodes on this machine, each
// with its own network, CPU time, memory and disk (scripts/nodes.sh), which run a private Slurm
// (scripts/slurm.sh). Workers, coordinator and data path are the real ones. Under each scheduler it
// runs the seven jobs of examples/phases each alone, and a batch with each job twice, submitted at
// once. Twice a second it reads the nodes' use of resources.
//
//	go run ./lab/phases -berth bin/berth-lab -out /tmp/out
//
// It must run as root, for namespaces, control groups and loop devices. It prints the tables of
// lab/results/phases.md, draws the figures, and writes all measurements to results.json in the given
// folder.
package main
