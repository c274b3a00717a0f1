package worker

import (
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/wire"
)

func TestConfigRefuses(t *testing.T) {
	good := Config{WorkerConfig: wire.WorkerConfig{Bundle: "/b", Node: "a1/0", Capacity: job.Resources{CPUs: 1}, Scratch: "/s"}}
	tests := map[string]func(*Config){
		"no bundle":        func(c *Config) { c.Bundle = "" },
		"no node":          func(c *Config) { c.Node = "" },
		"no CPUs":          func(c *Config) { c.Capacity.CPUs = 0 },
		"relative scratch": func(c *Config) { c.Scratch = "s" },
	}
	if _, err := good.normalize(); err != nil {
		t.Fatal(err)
	}
	for name, change := range tests {
		c := good
		change(&c)
		if _, err := c.normalize(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestAttemptMemory(t *testing.T) {
	const mib = 1 << 20
	tests := []struct {
		sort int64
		cpus int
		want int64
	}{
		{512 * mib, 2, 192 * mib},
		{128 * mib, 2, 44 * mib}, // the worker itself takes 40 MiB
		{48 * mib, 1, 12 * mib},
	}
	for _, tt := range tests {
		c := Config{WorkerConfig: wire.WorkerConfig{SortMemory: tt.sort, Capacity: job.Resources{CPUs: tt.cpus}}}
		if got := newSupply(c).take(0).Memory; got != tt.want {
			t.Errorf("%d MiB for %d CPUs: got %d, want %d", tt.sort/mib, tt.cpus, got, tt.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	b := &backoff{rand: rand.New(rand.NewPCG(1, 2)), wait: firstWait}
	for n, top := range []time.Duration{50, 100, 200, 400, 800, 1000, 1000} {
		top *= time.Millisecond
		if d := b.next(); d < top/2 || d > top {
			t.Errorf("wait %d is %v, want %v to %v", n, d, top/2, top)
		}
	}
	b.wait = firstWait
	if d := b.next(); d > firstWait {
		t.Errorf("after a reset it is %v", d)
	}
}
