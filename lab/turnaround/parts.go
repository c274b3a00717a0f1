package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/sim"
)

// part is a partition beside the default one, with nodes of its own and jobs of other users in it.
type part struct {
	name                    string
	nodes, minutes          int // minutes: the limit of a job
	running, waiting, later string
	taken                   []sim.Span // when jobs of others take its nodes
}

// partsOf draws one to three partitions beside the default one: short has a short limit and is mostly free, large has many nodes and is full,
// spare has nodes that jobs of others may take.
func partsOf(r *rand.Rand, of []kind) (parts []part) {
	all := []func(*rand.Rand) (part, int){
		func(r *rand.Rand) (part, int) {
			p := part{name: "short", nodes: 2 + r.IntN(3), minutes: 2 + r.IntN(3)}
			return p, r.IntN(p.nodes)
		},
		func(r *rand.Rand) (part, int) {
			p := part{name: "large", nodes: 12 + r.IntN(5), minutes: maxTime}
			return p, p.nodes
		},
		func(r *rand.Rand) (part, int) {
			p := part{name: "spare", nodes: 3 + r.IntN(6), minutes: maxTime}
			if r.IntN(2) == 0 {
				p.taken = []sim.Span{{From: job.Time(planTime + seconds(20+r.IntN(180))), For: seconds(60 + r.IntN(240))}}
			} else {
				p.taken = []sim.Span{}
			}
			return p, r.IntN(p.nodes + 1)
		},
	}
	for _, i := range r.Perm(len(all))[:1+r.IntN(len(all))] {
		p, busy := all[i](r)
		parts = append(parts, p.drawJobs(r, of, busy))
	}
	return parts
}

// drawJobs adds jobs of other users that hold so many nodes of a partition, and others that wait, more of them where all nodes are busy.
func (p part) drawJobs(r *rand.Rand, of []kind, busy int) part {
	drawn := func(least, most int) fill {
		k := pick(r, of)
		k.nodes, k.minutes = min(k.nodes, most), min(k.minutes, p.minutes)
		return k.job(r, least)
	}
	var running, waiting []string
	full := busy == p.nodes
	for busy > 0 {
		f := drawn(leastReal, busy)
		busy -= f.nodes
		running = append(running, f.text())
	}
	for range r.IntN(3) {
		if full {
			waiting = append(waiting, drawn(1, p.nodes).text(), drawn(1, p.nodes).text())
		}
	}
	p.running, p.waiting = strings.Join(running, ", "), strings.Join(waiting, ", ")
	if f := drawn(1, p.nodes); r.IntN(2) == 0 {
		f.at = seconds(5 + r.IntN(60))
		p.later = f.text()
	}
	return p
}

func (p part) String() string {
	text := fmt.Sprintf("%s of %dn for %d min", p.name, p.nodes, p.minutes)
	for _, s := range p.taken {
		text += fmt.Sprintf(", taken at %.0f s for %.0f s", time.Duration(s.From).Seconds()-planTime.Seconds(), s.For.Seconds())
	}
	return text
}

// cluster returns the simulated cluster of a situation.
func (s *situation) cluster() sim.Cluster {
	c := sim.Cluster{Nodes: clusterNodes, Cores: cpusPerNode, StartUp: startUp, MaxTime: maxTime * time.Minute, Grain: time.Minute}
	if s.parts == nil {
		return c
	}
	c.Partitions = []sim.Partition{{Name: "main", Nodes: clusterNodes, MaxTime: c.MaxTime}}
	for _, p := range s.parts {
		c.Nodes += p.nodes
		c.Partitions = append(c.Partitions, sim.Partition{Name: p.name, Nodes: p.nodes, MaxTime: time.Duration(p.minutes) * time.Minute, Taken: p.taken})
	}
	return c
}

// listed returns the partitions that a user who lists them names: all of which the job's nodes are not taken, or may be.
func (s *situation) listed() string {
	names := []string{"main"}
	for _, p := range s.parts {
		if p.taken == nil || s.preemptible {
			names = append(names, p.name)
		}
	}
	return strings.Join(names, ",")
}

// least returns the fewest nodes and the shortest limit of the partitions that a user lists.
func (s *situation) least() (nodes, minutes int) {
	nodes, minutes = s.maxNodes(), s.maxMinutes()
	for _, p := range s.parts {
		if slices.Contains(strings.Split(s.listed(), ","), p.name) {
			nodes, minutes = min(nodes, p.nodes), min(minutes, p.minutes)
		}
	}
	return nodes, minutes
}
