package batch

import (
	"fmt"
	"os"
	"strings"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// wakeRequest returns the request of a wake-up job: one core where the job's own allocations run, or as much as they have where so small a
// job was refused.
func (s *site) wakeRequest(need *job.AllocRequest) job.AllocRequest {
	b := need.Batch
	b.Name, b.Exclusive, b.Licences = WakeName, b.Exclusive && s.guard.like, ""
	if s.guard.like {
		return job.AllocRequest{On: s.words.Name, Nodes: need.Nodes, PerNode: need.PerNode, Time: need.Time, Elastic: true, Batch: b}
	}
	limit := wakeTime
	if need.Time > 0 {
		limit = min(limit, need.Time) // the partition allows this wall time
	}
	return job.AllocRequest{On: s.words.Name, Nodes: 1, PerNode: job.Resources{CPUs: 1, Mem: wakeMem}, Time: limit, Elastic: true, Batch: b}
}

// prepareWake writes the folder of a wake-up job.
func (s *site) prepareWake(a *alloc) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return folderError(a.dir, err)
	}
	return s.writeScript(a, wakeText(s.Exe, s.StandIn))
}

// wakeText returns the script of a wake-up job. The coordinator replaces the shell, so that it gets the signals.
func wakeText(exe string, s *wire.StandIn) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Waits until no coordinator of berth is left, and then continues your jobs.\n")
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		fmt.Fprintf(&b, "export %s=%s\n", name, job.Quote(value))
	}
	fmt.Fprintf(&b, "cd /\nexec %s %s >>%s 2>&1\n", job.Quote(exe), strings.Join(wire.WakeArgs, " "), job.Quote(s.Log))
	return b.String()
}
