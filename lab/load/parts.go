package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// row is a row of the table.
type row struct{ what, measured, wanted string }

func text(o options, rows []row) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d workers, whose tasks take %v, and a coordinator on one core.\n\n| held by one coordinator | measured | wanted |\n|---|---|---|\n", o.workers, o.task)
	for _, r := range rows {
		fmt.Fprintf(&s, "| %s | %s | %s |\n", r.what, r.measured, r.wanted)
	}
	return s.String()
}

// submit submits a bag for all workers, and returns its id and how long the command took.
func (b *bed) submit(tasks int) (id string, took time.Duration, err error) {
	return b.berth("bag", "--detach", "-N", fmt.Sprint(b.o.workers), "--array", fmt.Sprintf("1-%d", tasks), "--stdout", "none", "--stderr", "none", "--", "true")
}

// connect measures how long it takes until all workers are there.
func connect(b *bed) ([]row, error) {
	id, _, err := b.submit(b.o.workers)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := b.until("all workers are connected", func() bool { return b.fleet.connected.Load() == int64(b.o.workers) }); err != nil {
		return nil, fmt.Errorf("%w: %d are", err, b.fleet.connected.Load())
	}
	took := time.Since(begun)
	if _, _, err := b.berth("wait", id); err != nil {
		return nil, err
	}
	memory, err := b.serverMemory()
	return []row{
		{"workers connected", fmt.Sprintf("%d, all after %.1f s", b.o.workers, took.Seconds()), "2,000"},
		{"memory of the coordinator with them", fmt.Sprintf("%d MB", memory>>20), ""},
	}, err
}

// throughput measures tasks a second from the tenth to the ninetieth part of a bag, and how long berth status takes meanwhile.
func throughput(b *bed) ([]row, error) {
	first := b.fleet.ended.Load()
	reached := func(part float64) func() bool {
		return func() bool { return float64(b.fleet.ended.Load()-first) >= part*float64(b.o.tasks) }
	}
	id, _, err := b.submit(b.o.tasks)
	if err != nil {
		return nil, err
	}
	if err := b.until("a tenth of the tasks is done", reached(0.1)); err != nil {
		return nil, err
	}
	begun, from := time.Now(), b.fleet.ended.Load()
	cpu, err := b.serverCPU()
	if err != nil {
		return nil, err
	}
	var status []time.Duration
	for !reached(0.9)() {
		_, took, err := b.berth("status", id)
		if err != nil {
			return nil, err
		}
		status = append(status, took)
		select {
		case <-time.After(200 * time.Millisecond):
		case <-b.ctx.Done():
			return nil, b.ctx.Err()
		}
	}
	done, took := b.fleet.ended.Load()-from, time.Since(begun)
	used, err := b.serverCPU()
	if err != nil {
		return nil, err
	}
	slices.Sort(status)
	_, _, err = b.berth("wait", id)
	return []row{
		{"tasks a second", fmt.Sprintf("%.0f; %.1f µs of processor time for each", float64(done)/took.Seconds(), (used-cpu).Seconds()*1e6/float64(done)), "≥ 20,000"},
		{"`berth status JOB` meanwhile", fmt.Sprintf("median %d ms, longest %d ms, of %d", status[len(status)/2].Milliseconds(), status[len(status)-1].Milliseconds(), len(status)), "≤ 100 ms"},
	}, err
}

// recovery kills the coordinator in the middle of a bag, and measures how long it takes until all workers are back and tasks end.
func recovery(b *bed) ([]row, error) {
	first := b.fleet.ended.Load()
	id, _, err := b.submit(b.o.tasks)
	if err != nil {
		return nil, err
	}
	if err := b.until("half of the tasks are done", func() bool { return b.fleet.ended.Load()-first >= int64(b.o.tasks/2) }); err != nil {
		return nil, err
	}
	begun, ended := time.Now(), b.fleet.ended.Load()
	b.kill()
	if err := b.start(); err != nil {
		return nil, err
	}
	listens := time.Since(begun)
	if err := b.until("all workers are back", func() bool { return b.fleet.connected.Load() == int64(b.o.workers) }); err != nil {
		return nil, err
	}
	back := time.Since(begun)
	// Those that ran while it was killed end by themselves: one more has been started since.
	if err := b.until("tasks end again", func() bool { return b.fleet.ended.Load() > ended+int64(b.o.workers) }); err != nil {
		return nil, err
	}
	again := time.Since(begun)
	_, _, err = b.berth("wait", id)
	return []row{{"killed with -9 in the middle of a bag: until all workers are back, and tasks start",
		fmt.Sprintf("%.1f s (it listens after %.1f s), %.1f s", back.Seconds(), listens.Seconds(), again.Seconds()), "≤ 15 s"}}, err
}

// large measures the submission and the memory of a bag that is much larger.
func large(b *bed) ([]row, error) {
	if err := b.resetMemory(); err != nil {
		return nil, err
	}
	first := b.fleet.ended.Load()
	id, took, err := b.submit(b.o.many)
	if err != nil {
		return nil, err
	}
	if err := b.until("tasks of the large bag are done", func() bool { return b.fleet.ended.Load()-first >= int64(min(b.o.tasks, b.o.many)/4) }); err != nil {
		return nil, err
	}
	_, status, err := b.berth("status", id)
	if err != nil {
		return nil, err
	}
	memory, err := b.serverMemory()
	if err != nil {
		return nil, err
	}
	_, _, err = b.berth("cancel", id)
	return []row{
		{fmt.Sprintf("a bag of %d tasks: submission", b.o.many), fmt.Sprintf("%.1f s", took.Seconds()), "≤ 20 s"},
		{"largest memory of the coordinator with it", fmt.Sprintf("%d MB", memory>>20), "≤ 500 MB"},
		{"`berth status JOB` of it", fmt.Sprintf("%d ms", status.Milliseconds()), "≤ 100 ms"},
	}, err
}
