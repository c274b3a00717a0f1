package test

import (
	"fmt"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/test/support/slurmtest"
)

// alone is a task that fails if another one has its GPU at the same time, or if it does not have exactly one.
const alone = `case $CUDA_VISIBLE_DEVICES in [0-9]) ;; *) echo "it sees '$CUDA_VISIBLE_DEVICES'" >&2; exit 1;; esac
mkdir "held.$CUDA_VISIBLE_DEVICES" && sleep 0.3 && rmdir "held.$CUDA_VISIBLE_DEVICES" && echo "$CUDA_VISIBLE_DEVICES$1"`

// TestGPUs runs tasks with a GPU each: as many at once as there are GPUs, never two with the same one. Others see what their user sees.
func TestGPUs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.batch = []string{noBatch, "BERTH_GPUS=2:a100", "CUDA_VISIBLE_DEVICES=5,7"}
	w.must("bag", "--gpus", "1", "--array", "1-6", "--stdout", "out-{task}", "--", "sh", "-c", alone)
	for _, task := range []string{"1", "2", "3", "4", "5", "6"} {
		if got := w.read("out-" + task); got != "5\n" && got != "7\n" {
			t.Errorf("task %s saw GPU %q", task, got)
		}
	}
	id := string(w.jobs()[0])
	if got := w.must("report", id, "--json").stdout; !strings.Contains(got, `"gpus":2,"gpu_type":"a100"`) {
		t.Errorf("the report does not have the node's GPUs: %s", got)
	}
	if got := w.must("report", id, "--tasks", "--json").stdout; strings.Count(got, `"gpus":1`) != 6 {
		t.Errorf("the report does not have the tasks' GPUs: %s", got)
	}
	w.must("bag", "--array", "1", "--stdout", "plain-{task}", "--", "sh", "-c", `echo "$CUDA_VISIBLE_DEVICES"`)
	if got := w.read("plain-1"); got != "5,7\n" {
		t.Errorf("a task without GPUs saw %q", got)
	}
	if got := w.berth("bag", "--gpus", "1:v100", "--array", "1", "--", "true"); got.code == 0 || !strings.Contains(got.stderr, "--gpus: a task needs 1 GPU of type v100") {
		t.Error(got)
	}
}

// TestSlurmGPUs runs a bag with GPUs and one without on a cluster: the first one gets allocations on the node with GPUs, with no more
// than it needs, and each of its tasks sees one of those that Slurm gave.
func TestSlurmGPUs(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(2), slurmtest.CPUs(4), slurmtest.GPUs("1:3:a100"))
	w := newWorld(t)
	w.batch = append(c.Env(), "BERTH_LISTEN=127.0.0.1")
	other := c.Submit(t, "--gpus-per-node=a100:1", "--ntasks=1", "--mem=10", "--output=/dev/null", "--wrap=sleep 600")
	defer c.Run(t, "scancel", other)
	c.WaitState(t, other, "RUNNING")
	w.must("bag", "--gpus", "1:a100", "--no-scout", "--array", "1-6", "--stdout", "out-{task}", "--", "sh", "-c", alone)
	for _, task := range []string{"1", "2", "3", "4", "5", "6"} {
		if got := w.read("out-" + task); got != "1\n" && got != "2\n" { // the other job has 0
			t.Errorf("task %s saw GPU %q", task, got)
		}
	}
	asked := 0
	for _, e := range w.serverRecords() {
		if r, ok := e.Record.(event.AllocRequested); ok {
			asked++
			if p := r.Request.PerNode; p.GPUs < 1 || p.GPUs != p.CPUs || p.GPUType != "a100" {
				t.Errorf("it requested nodes with %+v", p)
			}
		}
	}
	jobs := c.Run(t, "scontrol", "-o", "show", "job")
	if asked == 0 || strings.Count(jobs, "NodeList=n1 ") != 1+asked {
		t.Errorf("of %d allocations and the other job not all ran on n1:\n%s", asked, jobs)
	}
	w.must("bag", "--no-scout", "--array", "1-2", "--stdout", "plain-{task}", "--", "sh", "-c", `echo "${CUDA_VISIBLE_DEVICES-none}"`)
	if got := w.read("plain-1") + w.read("plain-2"); got != "none\nnone\n" {
		t.Errorf("tasks without GPUs saw %q", got)
	}
	if got := w.berth("bag", "--gpus", "4", "--array", "1", "--", "true"); got.code == 0 || !strings.Contains(got.stderr, "no node of partition main has that") {
		t.Error(got)
	}
}

// TestSlurmGPUsOfSome runs a bag on a cluster of which some tasks need a GPU, some two cores and others one. The plan asks for an allocation
// for those with GPUs and for one for the others, all allocations serve the job, and each task with a GPU sees its own.
func TestSlurmGPUsOfSome(t *testing.T) {
	t.Parallel()
	c := slurmtest.Start(t, slurmtest.Nodes(3), slurmtest.CPUs(4), slurmtest.GPUs("1:2:a100"), slurmtest.Extra("PartitionName=gpu Nodes=n1 MaxTime=60"))
	w := newWorld(t)
	w.batch = append(c.Env(), "BERTH_LISTEN=127.0.0.1")
	var entries strings.Builder
	for i := range 12 {
		fmt.Fprintf(&entries, "%d,%d,%d\n", i+1, 1+i%2, min(1, i/8))
	}
	w.write("entries", entries.String())
	columns := []string{"-p", "main,gpu", "--no-scout", "--colsep", ",", "--cpus-from", "2", "--gpus-from", "3", "--each-line", "entries", "--stdout", "out-{task}", "--"}
	plan := w.must(append(append([]string{"plan", "bag"}, columns...), "true", "{1}")...).stdout
	for _, want := range []string{"tasks: 4 of 1 core, 4 of 2 cores", ", for tasks of 1 core, 1 GPU; 2 cores, 1 GPU"} {
		if !strings.Contains(strings.Join(strings.Fields(plan), " "), want) {
			t.Errorf("%q is not in the plan:\n%s", want, plan)
		}
	}
	task := `if test "$0" -gt 8; then ` + strings.ReplaceAll(alone, "$1", "") + `; else echo "${CUDA_VISIBLE_DEVICES-none}"; fi`
	w.must(append(append([]string{"bag"}, columns...), "sh", "-c", task, "{1}")...)
	for i := 1; i <= 12; i++ {
		got := strings.TrimSpace(w.read(fmt.Sprint("out-", i)))
		if with := got == "0" || got == "1"; with != (i > 8) {
			t.Errorf("task %d saw GPU %q", i, got)
		}
	}
	withGPUs, without := 0, 0
	for _, e := range w.serverRecords() {
		if r, ok := e.Record.(event.AllocRequested); ok && r.Request.PerNode.GPUs > 0 {
			withGPUs++
		} else if ok {
			without++
		}
	}
	if withGPUs == 0 || without == 0 {
		t.Errorf("%d allocations with GPUs and %d without were requested", withGPUs, without)
	}
}
