// Command turnaround measures what berth's choice of nodes and wall time gains. On private
// clusters of a batch system (scripts/slurm.sh, pbs.sh or gridengine.sh) it plays a script of queue situations: jobs of other users run, wait
// and arrive as listed in situations.go, or, with -drawn, as drawn by a seed (grammar.go), with a history of the hour before
// (past.go). In each situation it submits one job several times, each time to a freshly filled cluster: once with berth's choice, once
// for each of four habits of users (strategy.go), which override berth's choice, and on Slurm once for each of two that make requests
// without berth (direct.go). Tasks are real processes that sleep; the time scale is seconds instead of the hours of a real cluster.
//
//	go run ./lab/turnaround -berth bin/berth -system gridengine -out /tmp/out
//	go run ./lab/turnaround -berth bin/berth -drawn 60 -seed 1 -repeat 3 -out /tmp/drawn
//
// It prints the table of lab/results/turnaround.md and writes all measurements to results.json and
// results.csv in the given folder. Existing runs are not repeated unless they failed or are named
// with -only.
package main
