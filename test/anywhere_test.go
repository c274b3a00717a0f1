package test

import (
	"strings"
	"testing"

	"berth/test/support/slurmtest"
)

// TestSlurmAnyPartition: with -p any a bag runs in the partition whose node is free, while the default one is full for an hour. The plan names the
// partitions that are left out, and of a bag without -p it says where it would start much sooner.
func TestSlurmAnyPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := slurmtest.Start(t, slurmtest.Nodes(3), slurmtest.Extra("PreemptType=preempt/partition_prio"), slurmtest.Extra("PreemptMode=REQUEUE"),
		slurmtest.Extra("PartitionName=fast Nodes=n3 MaxTime=30"), slurmtest.Extra("PartitionName=spare Nodes=n[1-3] PriorityTier=0"),
		slurmtest.Extra("PartitionName=team Nodes=n3 AllowAccounts=team"), slurmtest.Extra("PartitionName=hidden Nodes=n3 Hidden=YES"))
	w.batch = append(c.Env(), "BERTH_LISTEN=127.0.0.1")
	c.Run(t, "scontrol", "update", "PartitionName=main", "Nodes=n[1-2]")
	c.Run(t, "scontrol", "update", "PartitionName=short", "State=DRAIN")
	c.WaitState(t, c.Fill(t, slurmtest.Load{Nodes: 2, CPUs: 2, Limit: 60, Seconds: 3600}), "RUNNING")

	words := func(args ...string) string { return strings.Join(strings.Fields(w.must(args...).stdout), " ") }
	bag := []string{"--on", "slurm", "--array", "1-4", "--stdout", "at{task}"}
	program := []string{"--", "sh", "-c", "echo $SLURM_JOB_PARTITION"}
	plain := words(append(append([]string{"plan", "bag"}, bag...), program...)...)
	if !strings.Contains(plain, "in partition fast the job would be started 60 min sooner: name it with -p, or say -p any") {
		t.Errorf("the plan without -p does not tell of another partition: %s", plain)
	}
	anywhere := append(bag, "-p", "any")
	plan := words(append(append([]string{"plan", "bag"}, anywhere...), program...)...)
	for _, want := range []string{
		"partition short is left out: it accepts no jobs (drain)", "partition team is left out: it takes only jobs of account team: name yours with --account",
		"partition spare is left out: jobs of partition main end its jobs when they need the nodes; --preemptible-ok says that this does no harm",
	} {
		if !strings.Contains(plan, want) || strings.Contains(plan, "hidden") {
			t.Errorf("%q is not in the plan: %s", want, plan)
		}
	}
	if free := words(append(append([]string{"plan", "bag", "--preemptible-ok"}, anywhere...), program...)...); strings.Contains(free, "partition spare is left out") {
		t.Errorf("with --preemptible-ok: %s", free)
	}
	w.must(append(append([]string{"bag"}, anywhere...), program...)...)
	for _, name := range []string{"at1", "at2", "at3", "at4"} {
		if got := w.read(name); got != "fast\n" {
			t.Errorf("a task ran in %q", got)
		}
	}
}
