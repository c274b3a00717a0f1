// Command phases compares berth's schedulers on a private cluster: three nodes on this machine, each
// with a network, CPU time, memory and a disk of its own (scripts/nodes.sh), that run a private Slurm
// (scripts/slurm.sh). Workers, coordinator and data path are the real ones. Under each scheduler it runs
// the seven jobs of examples/phases each alone, and a batch of each twice, all submitted at once. Twice
// a second it reads what each node takes of its resources.
//
//	go run ./test/phases -berth bin/berth -out /tmp/out
//
// It needs root, for namespaces, control groups and loop devices. It prints the tables of docs/phases.md
// and draws its figures, and keeps everything that was measured as results.json in the folder given.
package main
