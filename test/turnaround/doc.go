// Command turnaround measures what berth's choice of nodes and wall time is worth. On
// private Slurm clusters (scripts/slurm.sh) it plays a script of queue situations: other
// people's jobs run, wait and arrive as written in situations.go. Into each it submits one
// job five times, each time on a freshly filled cluster: once as berth chooses, and
// once for each of four habits of users (strategy.go), which berth is forced to. Tasks are
// real processes that sleep; the time scale is seconds where a cluster's is hours.
//
//	go run ./test/turnaround -berth bin/berth -out /tmp/out
//
// It prints the table of docs/turnaround.md and keeps everything that was measured as
// results.json and results.csv in the folder given. Runs that are there already are not
// made again unless they are named with -only or failed.
package main
