package report

import (
	"cmp"
	"fmt"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// phaseSum sums up one phase over all of a job's attempts. Durations, CPU time and memory
// include every attempt that was done. Bytes and records include only outputs that are still
// valid, so a map that ran again counts once.
type phaseSum struct {
	phase job.Phase
	predict.Measure
	cores, disk, net taken
	first, last      job.Time // 0: never

	outgrown bool // the user was told that an attempt used more memory than the profile says

	run
}

// run is what happened to a phase in the current run of its job.
type run struct {
	runFirst job.Time // when the phase was first entered; 0: it was not
	runLast  job.Time // when an attempt with this phase was last done
	runDone  int      // number of such attempts
	runBytes int64    // bytes that they read in this phase

	paceFrom job.Time // since when the job has its present nodes, or else runFirst
	paceDone int      // as runDone, since then
}

// enter notes that an attempt began the phase.
func (p *phaseSum) enter(at job.Time) {
	p.runFirst = cmp.Or(p.runFirst, at)
	if p.first == 0 || at < p.first {
		p.first = at
	}
}

// done adds the phase of an attempt that was done at that time.
func (p *phaseSum) done(s job.PhaseStat, at job.Time) {
	p.Add(predict.SampleOf(s))
	p.cores.add(s, job.CPU, s.CPU.Seconds())
	p.disk.add(s, job.Disk, float64(s.DiskBytes))
	p.net.add(s, job.Net, float64(s.NetBytes))
	if p.first == 0 || s.Start < p.first {
		p.first = s.Start
	}
	p.last = max(p.last, s.End)
	p.runFirst = cmp.Or(p.runFirst, at.Add(-s.Duration())) // no record says when the phase began; this uses the coordinator's clock, not the node's
	p.runLast = at
	p.runDone++
	p.paceFrom = max(p.paceFrom, p.runFirst)
	p.paceDone++
	p.runBytes += s.BytesIn
}

// outgrows is the ratio of a phase's memory to the memory in the profile above which the user is told.
const outgrows = 1.25

// outgrow adds a note, once for each phase, if an attempt used clearly more memory than the
// profile said when the job was planned. No attempt is ended for that; later jobs use the new figure.
func (j *Job) outgrow(p *phaseSum, s job.PhaseStat) {
	if p.outgrown {
		return
	}
	for _, d := range j.work.Demands {
		if d.Phase == s.Phase && d.Demand.Memory > 0 && float64(s.PeakMemory) > outgrows*float64(d.Demand.Memory) {
			p.outgrown = true
			j.AddNote(fmt.Sprintf("its phase %s used %s of memory, more than the %s of earlier runs; berth plans later jobs with the new figure",
				p.phase, job.FormatSize(s.PeakMemory), job.FormatSize(d.Demand.Memory)))
		}
	}
}

// undo subtracts the bytes and records of an output that was lost.
func (p *phaseSum) undo(s job.PhaseStat) {
	p.BytesIn -= s.BytesIn
	p.BytesOut -= s.BytesOut
	p.RecordsIn -= s.RecordsIn
	p.RecordsOut -= s.RecordsOut
}
