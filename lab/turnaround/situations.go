package main

import "fmt"

// The cluster that scripts/slurm.sh starts.
const (
	clusterNodes = 8
	cpusPerNode  = 2
)

// maxTime is the partition's limit in minutes, unless a situation has another.
const maxTime = 15

// situation is a state of the queue and a job that is submitted in it.
type situation struct {
	name  string
	about string
	job   *workload
	fresh bool // berth has no profile of the application

	// Jobs of other users, see parseFills: those that run when the job under test is submitted,
	// those that wait then, and those that are submitted later.
	running, waiting, later string

	short   bool // all strategies request the partition "short" with at most 3 min and 4 nodes; jobs of other users do not
	drained int  // number of nodes

	drawn bool   // it was drawn by a seed: waiting jobs may begin before ours is submitted
	past  []fill // jobs of others in the hour before

	parts       []part // partitions beside the default one, which all of the above is about; only the simulator has them
	preemptible bool   // the user lets jobs lose their nodes
}

const (
	shortTime  = 3
	shortNodes = 4
)

// maxMinutes is the longest time that a job may request.
func (s *situation) maxMinutes() int {
	if s.short {
		return shortTime
	}
	return maxTime
}

// maxNodes is the largest number of nodes that a job can have.
func (s *situation) maxNodes() int {
	n := clusterNodes - s.drained
	if s.short {
		n = min(n, shortNodes)
	}
	return n
}

// fills returns the jobs of other users.
func (s *situation) fills() (running, waiting, later []fill, err error) {
	for _, part := range []struct {
		text string
		to   *[]fill
	}{{s.running, &running}, {s.waiting, &waiting}, {s.later, &later}} {
		if *part.to, err = parseFills(part.text); err != nil {
			return nil, nil, nil, fmt.Errorf("situation %s: %w", s.name, err)
		}
	}
	return running, waiting, later, nil
}

// script is the situations, in the order of the table.
var script = []situation{
	{name: "empty", about: "an empty cluster", job: wideBag},
	{name: "empty-few", about: "an empty cluster, few long tasks", job: longMR},
	{name: "empty-new", about: "an empty cluster, an unknown application", job: midBag, fresh: true},
	{name: "half", about: "half of the cluster is busy for a long time", job: midBag,
		running: "4× 1n 200s/10m"},
	{name: "half-new", about: "half of the cluster is busy, an unknown application", job: skewBag, fresh: true,
		running: "2× 2n 150s/10m"},
	{name: "few-beside", about: "three nodes are free, as many as six long tasks need", job: longBag,
		running: "5n 150s/5m"},
	{name: "staircase", about: "nodes become free one by one, at their limits", job: wideBag,
		running: "1n 55s/1m, 1n 115s/2m, 1n 175s/3m, 1n 235s/4m, 1n 295s/5m, 1n 350s/6m"},
	{name: "staircase-mr", about: "nodes become free two by two, at their limits", job: wideMR,
		running: "2n 55s/1m, 2n 115s/2m, 2n 175s/3m"},
	{name: "full", about: "a job on all nodes ends long before its limit", job: midMR,
		running: "8n 100s/10m"},
	{name: "full-ragged", about: "full; nodes become free one by one, long before their limits", job: midBag,
		running: "1n 30s/15m, 1n 60s/15m, 1n 90s/15m, 1n 120s/15m, 1n 150s/15m, 1n 180s/15m, 1n 210s/15m, 1n 240s/15m"},
	{name: "hole", about: "a free slot before a job that waits for all nodes", job: little,
		running: "6n 175s/3m", waiting: "8n 60s/5m"},
	{name: "hole-new", about: "the same, an unknown application", job: little, fresh: true,
		running: "6n 175s/3m", waiting: "8n 60s/5m"},
	{name: "hole-mr", about: "a free slot that fits a MapReduce job", job: midMR,
		running: "5n 235s/4m", waiting: "8n 60s/5m"},
	{name: "hole-tight", about: "a free slot that fits only a part of the job", job: midBag,
		running: "6n 115s/2m", waiting: "8n 90s/4m"},
	{name: "queue", about: "a long queue of narrow and wide jobs", job: skewBag,
		running: "3× 1n 50s/3m, 5n 70s/2m", waiting: "6n 40s/3m, 4× 1n 60s/2m, 8n 30s/5m, 2× 2n 50s/4m, 4n:1 40s/1m"},
	{name: "arrivals", about: "a busy cluster; more jobs arrive", job: wideBag,
		running: "2n 80s/3m, 1n 40s/5m, 2n:1 120s/4m", waiting: "6n 30s/2m",
		later: "2n 40s/2m @10s, 1n:1 60s/3m @30s, 4n 50s/4m @50s, 8n 30s/1m @80s, 2× 2n 60s/2m @100s"},
	{name: "overtaken", about: "a second request waits behind a wide job", job: wideBag,
		running: "4n 50s/2m", later: "8n 60s/3m @10s"},
	{name: "drained", about: "two nodes are drained, two busy", job: midMR, drained: 2,
		running: "2n 115s/2m"},
	{name: "half-nodes", about: "every node has one CPU free", job: midBag,
		running: "8n:1 200s/10m"},
	{name: "short", about: "a partition with a short limit and few nodes", job: midBag, short: true,
		running: "3n 240s/10m", waiting: "8n 60s/10m"},
}
