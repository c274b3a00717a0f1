// Package probe measures a running task: for each phase its bytes, records, CPU time and peak
// memory, and what its processes use now.
//
//	m := probe.NewMeter(probe.Now)
//	m.Enter(job.PhaseMap); m.In(bytes, records)
//	stats := m.Finish()
//
// A Meter combines what the task itself reports (Meter implements the data path's Progress) with
// what the worker measures of the task's child processes. Groups reads the latter from /proc
// (proc(5)). The package only measures; callers decide what to do about the figures.
package probe
