package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseFills(t *testing.T) {
	got, err := parseFills("3× 2n:1 40s/5m @10s, 8n 60s/1m")
	want := []fill{
		{copies: 3, nodes: 2, cpus: 1, real: 40 * time.Second, limit: 5 * time.Minute, at: 10 * time.Second},
		{copies: 1, nodes: 8, cpus: 2, real: time.Minute, limit: time.Minute},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, bad := range []string{"9n 1s/1m", "0n 1s/1m", "1n:3 1s/1m", "1n 61s/1m", "1n 1s", "n 1s/1m", "1n 1s/1m @5", "1n 1s/1m,1n 1s/1m"} {
		if got, err := parseFills(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
}

func TestFillArgs(t *testing.T) {
	f := fill{copies: 2, nodes: 3, cpus: 1, real: 40 * time.Second, limit: 5 * time.Minute}
	want := "sbatch --parsable --job-name fill --output /dev/null --ntasks-per-node 1 --nodes 3 --cpus-per-task 1 --time 5 --wrap sleep 40"
	if got := strings.Join(slurm.submit(f), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for sys, want := range map[*system]string{
		&pbs:        "-l select=3:ncpus=1 -l place=scatter -l walltime=00:05:00 -- /bin/sleep 40",
		&gridEngine: "-R y -l h_vmem=100M,h_rt=00:05:00 -pe node1 3 -b y /bin/sleep 40",
	} {
		if got := strings.Join(sys.submit(f), " "); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s, want %s", sys.name, got, want)
		}
	}
}
