package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/driver"
	"berth/internal/job"
)

// wakeRequest returns what a wake-up job asks for: one core where the job's own allocations are.
// Of the options that only sbatch knows those go with it that say where to run and whose job it is.
func wakeRequest(need *job.AllocRequest) job.AllocRequest {
	b := need.Batch
	b.Name, b.Exclusive, b.Args = WakeName, false, nil
	for _, arg := range need.Batch.Args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains([]string{"--reservation", "--clusters", "--wckey"}, name) {
			b.Args = append(b.Args, arg)
		}
	}
	limit := wakeTime
	if need.Time > 0 {
		limit = min(limit, need.Time) // which the partition allows
	}
	return job.AllocRequest{On: Name, Nodes: 1, PerNode: job.Resources{CPUs: 1, Mem: wakeMem}, Time: limit, Elastic: true, Batch: b}
}

// prepareWake makes the folder of a wake-up job.
func (d *Driver) prepareWake(a *alloc) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return folderError(a.dir, err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, slurmLog), nil, 0o600); err != nil { // Slurm would make it for all to read
		return folderError(a.dir, err)
	}
	path := filepath.Join(a.dir, "batch-"+secret()+".sh")
	if err := os.WriteFile(path, []byte(wakeText(d.opts.Exe, d.opts.StandIn)), 0o700); err != nil {
		return folderError(a.dir, err)
	}
	return nil
}

// wakeText is the script of a wake-up job. The shell is replaced, so that signals reach the coordinator.
func wakeText(exe string, s *driver.StandIn) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Waits until no coordinator of berth is left, and carries on with your jobs then.\n")
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, quote(value))
	}
	fmt.Fprintf(&b, "cd /\nexec %s %s >>%s 2>&1\n", quote(exe), strings.Join(driver.WakeArgs, " "), quote(s.Log))
	return b.String()
}
