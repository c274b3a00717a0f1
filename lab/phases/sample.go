package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sampleEvery is the time between two samples of the nodes' use.
const sampleEvery = 500 * time.Millisecond

// sample is the mean use of the nodes since the previous sample; memory is the value at its end.
type sample struct {
	At   float64 `json:"at_s"` // since the run began
	Node []use   `json:"node"`
}

// use is the use of one node.
type use struct {
	CPU  float64 `json:"cpu"`     // cores
	Mem  float64 `json:"mem"`     // bytes of processes, without the page cache
	Disk float64 `json:"disk"`    // bytes/s read and written
	In   float64 `json:"net_in"`  // bytes/s
	Out  float64 `json:"net_out"` // bytes/s
}

// counts are the kernel's counters of a node, and its memory.
type counts struct{ cpu, mem, disk, in, out float64 }

// gauge reads the counters of a node.
type gauge struct {
	cpu, mem, io string // folders of control groups
	device       string // number of the node's disk
	shared       string // number of the disk with the files that nodes share; empty: none
	interfaceDir string
}

func (c *cluster) gauge(ctx context.Context, node string) (*gauge, error) {
	said := make([]string, 4)
	for i, args := range [][]string{{"groups", c.nodes, node}, {"device", c.nodes, node}, {"shared", c.nodes}, {"interface", c.nodes, node}} {
		var err error
		if said[i], err = c.output(ctx, nil, "nodes.sh", args...); err != nil {
			return nil, err
		}
	}
	groups := strings.Fields(said[0])
	if len(groups) != 3 {
		return nil, fmt.Errorf("nodes.sh groups: %q, want three folders", said[0])
	}
	return &gauge{cpu: groups[0], mem: groups[1], io: groups[2], device: said[1], shared: said[2],
		interfaceDir: filepath.Join("/sys/class/net", said[3], "statistics")}, nil
}

// read returns the counters. A counter that cannot be read is 0, which the tables then show.
func (g *gauge) read() counts {
	own, shared := g.deviceBytes(g.device), g.groupBytes(g.shared)-g.groupBytes(g.device)
	c := counts{
		disk: own + max(0, shared), // the I/O of the node's disk also reaches the shared disk
		in:   number(g.interfaceDir + "/tx_bytes"), out: number(g.interfaceDir + "/rx_bytes"),
	}
	if ns := number(g.cpu + "/cpuacct.usage"); ns > 0 { // version 1
		c.cpu, c.mem = ns/1e9, field(g.mem+"/memory.stat", "total_rss")
	} else {
		c.cpu, c.mem = field(g.cpu+"/cpu.stat", "usage_usec")/1e6, field(g.mem+"/memory.stat", "anon")
	}
	return c
}

// deviceBytes returns the bytes that a device has read and written. The kernel counts in units of
// 512 bytes.
func (g *gauge) deviceBytes(device string) float64 {
	major, minor, _ := strings.Cut(device, ":")
	for f := range fieldsOf("/proc/diskstats") {
		if len(f) > 9 && f[0] == major && f[1] == minor {
			return 512 * (parse(f[5]) + parse(f[9]))
		}
	}
	return 0
}

// groupBytes returns the bytes of a device charged to the node's control group.
func (g *gauge) groupBytes(device string) (sum float64) {
	if device == "" {
		return 0
	}
	for f := range fieldsOf(g.io + "/blkio.throttle.io_service_bytes") { // version 1
		if len(f) == 3 && f[0] == device && f[1] == "Total" {
			return parse(f[2])
		}
	}
	for f := range fieldsOf(g.io + "/io.stat") {
		if f[0] == device {
			for _, kv := range f[1:] {
				if k, v, _ := strings.Cut(kv, "="); k == "rbytes" || k == "wbytes" {
					sum += parse(v)
				}
			}
		}
	}
	return sum
}

// fieldsOf yields the words of each line of a file that is not empty.
func fieldsOf(path string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		text, err := os.ReadFile(path)
		if err != nil {
			return
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			if f := strings.Fields(lines.Text()); len(f) > 0 && !yield(f) {
				return
			}
		}
	}
}

func field(path, name string) float64 {
	for f := range fieldsOf(path) {
		if len(f) == 2 && f[0] == name {
			return parse(f[1])
		}
	}
	return 0
}

func number(path string) float64 {
	for f := range fieldsOf(path) {
		return parse(f[0])
	}
	return 0
}

func parse(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v
}

// watch samples the nodes until stop is called, which returns the samples.
func (c *cluster) watch(begun time.Time) (stop func() []sample) {
	if c == nil {
		return func() []sample { return nil }
	}
	ask, samples := make(chan struct{}), make(chan []sample)
	go func() {
		var all []sample
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		last, before := time.Now(), c.counts()
		for over := false; !over; {
			select {
			case <-tick.C:
			case <-ask:
				over = true
			}
			now, after := time.Now(), c.counts()
			if now.Sub(last) > sampleEvery/4 { // the last interval may be too short for a rate
				all = append(all, sampleOf(before, after, now.Sub(last).Seconds(), now.Sub(begun).Seconds()))
			}
			last, before = now, after
		}
		samples <- all
	}()
	return func() []sample { close(ask); return <-samples }
}

func (c *cluster) counts() []counts {
	all := make([]counts, len(c.gauges))
	for i, g := range c.gauges {
		all[i] = g.read()
	}
	return all
}

// sampleOf returns the use between two counts that are the given seconds apart.
func sampleOf(before, after []counts, seconds, at float64) sample {
	s := sample{At: round(at)}
	for i := range after {
		a, b := after[i], before[i]
		s.Node = append(s.Node, use{CPU: round((a.cpu - b.cpu) / seconds), Mem: a.mem, Disk: round((a.disk - b.disk) / seconds),
			In: round((a.in - b.in) / seconds), Out: round((a.out - b.out) / seconds)})
	}
	return s
}

// round keeps the results readable.
func round(x float64) float64 { return float64(int64(x*1000+0.5)) / 1000 }
