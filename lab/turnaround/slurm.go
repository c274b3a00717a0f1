package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

var slurm = system{
	name: "slurm", page: "table", short: "short",
	foreign: []string{"SLURM", "SBATCH_"},
	limits: func(*cluster) [][]string {
		return [][]string{{"scontrol", "update", "PartitionName=main", "MaxTime=" + strconv.Itoa(maxTime)},
			{"scontrol", "update", "PartitionName=short", "MaxTime=" + strconv.Itoa(shortTime), "MaxNodes=" + strconv.Itoa(shortNodes)}}
	},
	vars: func(c *cluster) ([]string, error) {
		return []string{"SLURM_CONF=" + filepath.Join(c.dir, "slurm.conf"), "BERTH_LISTEN=127.0.0.1"}, nil
	},
	submit: func(f fill) []string {
		return []string{"sbatch", "--parsable", "--job-name", fillName, "--output", "/dev/null", "--ntasks-per-node", "1",
			"--nodes", strconv.Itoa(f.nodes), "--cpus-per-task", strconv.Itoa(f.cpus), "--time", strconv.Itoa(int(f.limit.Minutes())),
			"--wrap", "sleep " + f.sleep()}
	},
	drain: func(_ *cluster, node int) []string {
		return []string{"scontrol", "update", fmt.Sprintf("NodeName=n%d", node), "State=DRAIN", "Reason=disk"}
	},
	list: slurmJobs,
}

const squeueFormat = "%i|%j|%T|%D|%C|%l|%S|%e"

func slurmJobs(ctx context.Context, c *cluster) (all []allocation, err error) {
	out, err := c.output(ctx, "squeue", "--noheader", "--all", "--states", "all", "--sort", "i", "--format", squeueFormat)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		a, err := parseJob(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// parseJob parses a line of squeue in squeueFormat.
func parseJob(line string) (allocation, error) {
	f := strings.Split(line, "|")
	if len(f) != 8 {
		return allocation{}, fmt.Errorf("squeue: line %q has %d fields, not 8", line, len(f))
	}
	a := allocation{ID: f[0], Name: f[1], State: f[2], Limit: f[5]}
	var err error
	if a.Nodes, err = strconv.Atoi(f[3]); err != nil {
		return a, fmt.Errorf("squeue: nodes in %q: %w", line, err)
	}
	if a.CPUs, err = strconv.Atoi(f[4]); err != nil {
		return a, fmt.Errorf("squeue: CPUs in %q: %w", line, err)
	}
	for i, to := range []*float64{&a.Start, &a.End} {
		if t := f[6+i]; t != "N/A" {
			if *to, err = strconv.ParseFloat(t, 64); err != nil {
				return a, fmt.Errorf("squeue: time in %q: %w", line, err)
			}
		}
	}
	return a, nil
}
