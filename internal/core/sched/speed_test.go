package sched

import (
	"math"
	"testing"
	"time"

	"berth/internal/core/job"
)

// mapOf returns the phases of a map that took that much processor time for that many bytes.
func mapOf(cpu time.Duration, bytes int64) []job.PhaseStat {
	return []job.PhaseStat{{Phase: job.PhaseMap, CPU: cpu, BytesIn: bytes}}
}

// TestSpeedsOfKinds: kinds are compared within jobs only, as the times of different jobs say nothing about their nodes.
func TestSpeedsOfKinds(t *testing.T) {
	var s Speeds
	slow, fast, other := s.Kind("slow"), s.Kind("fast"), s.Kind("other")
	if s.Kind("fast") != fast || s.Of(slow) != 1 || s.Of(fast) != 1 {
		t.Fatal("kinds of which nothing is known differ")
	}
	light, heavy := new(Job), new(Job)
	for i := range 200 {
		size := int64(1+i%7) << 20
		s.learn(slow, light, mapOf(time.Duration(size)*200, size))
		s.learn(fast, light, mapOf(time.Duration(size)*100, size))
		if i%10 == 0 {
			s.learn(slow, heavy, mapOf(time.Duration(size)*20000, size))
		}
		s.learn(fast, heavy, mapOf(time.Duration(size)*10000, size))
	}
	if got := s.Of(slow); math.Abs(got-0.5) > 0.02 {
		t.Errorf("nodes that take twice the processor time have the speed %.3f", got)
	}
	if s.Of(fast) != 1 || math.Abs(s.Of(other)-0.5) > 0.02 {
		t.Errorf("the fastest has the speed %.3f, one of which nothing is known %.3f instead of that of the first", s.Of(fast), s.Of(other))
	}
}

// TestSpeedsAreDoubted: few attempts, and attempts that hardly computed, have little weight.
func TestSpeedsAreDoubted(t *testing.T) {
	var s Speeds
	slow, fast := s.Kind("slow"), s.Kind("fast")
	j := new(Job)
	s.learn(slow, j, mapOf(leastCPU-1, 1))
	s.learn(fast, j, mapOf(time.Hour, 1))
	if s.Of(slow) != 1 || s.Of(fast) != 1 {
		t.Error("a phase that hardly computed is compared")
	}
	s.learn(slow, j, mapOf(4*time.Hour, 1))
	if got := s.Of(slow); got < 0.5 || got > 0.9 {
		t.Errorf("one attempt on each, of which one takes four times as long, makes the speed %.2f", got)
	}
}

// TestWorthOfSpeed: a phase that computes is worth more on fast cores, most of all in the last chains, and starts on a slow node if no other is better.
func TestWorthOfSpeed(t *testing.T) {
	p := &Pool{Cores: 8, Unit: job.Resources{CPUs: 4, Mem: 8 << 30}.Vector()}
	slow := &Node{Index: 1, Kind: p.Speeds.Kind("slow"), Capacity: p.Unit}
	fast := &Node{Index: 2, Kind: p.Speeds.Kind("fast"), Capacity: p.Unit}
	p.Nodes = []*Node{slow, fast}
	j := &Job{Weight: 1}
	c := &Candidate{Job: j}
	c.Demand.CPU = job.Milli
	r := phases{CoreRules{shortest: true, alpha: 1}}
	before := r.Worth(p, slow, c, 0)
	if r.Worth(p, fast, c, 0) != before {
		t.Fatal("nodes of which nothing is known differ")
	}
	for range 100 {
		p.Speeds.learn(slow.Kind, j, mapOf(2*time.Second, 1))
		p.Speeds.learn(fast.Kind, j, mapOf(time.Second, 1))
	}
	if got := r.Worth(p, slow, c, 0); got <= 0 || got >= before {
		t.Errorf("on the slow node the start is worth %.3f, before its speed was known %.3f", got, before)
	}
	if r.Worth(p, fast, c, 0) != before {
		t.Error("on the fast node the start is worth less than before")
	}
	c.Demand = job.Vector{Disk: 1 << 20}
	if r.Worth(p, slow, c, 0) != r.Worth(p, fast, c, 0) {
		t.Error("a phase that does not compute is worth less on slow cores")
	}
}
