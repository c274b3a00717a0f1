package report

import (
	"fmt"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
)

// phaseSum is what is kept of one phase over all of a job's attempts. Durations, CPU
// time and memory are those of every attempt that was done; bytes and records are
// of the outputs that stand, so a map that ran again counts once.
type phaseSum struct {
	phase job.Phase

	bytesIn, bytesOut     int64
	recordsIn, recordsOut int64
	cpu                   time.Duration
	peak                  int64
	cores, disk, net      taken
	took                  predict.Sketch
	first, last           job.Time // 0: never

	outgrown bool // it was told that an attempt took more memory than was known

	runFirst job.Time // when the phase was first entered in the present run; 0: not yet
	runLast  job.Time // when an attempt that had it was last done in the present run
	runDone  int      // phases that ended in it
	runBytes int64    // bytes they read
}

// enter notes that an attempt began the phase.
func (p *phaseSum) enter(at job.Time) {
	if p.runFirst == 0 {
		p.runFirst = at
	}
	if p.first == 0 || at < p.first {
		p.first = at
	}
}

// add takes what the phase of an attempt took that was done at that time.
func (p *phaseSum) add(s job.PhaseStat, at job.Time) {
	p.bytesIn += s.BytesIn
	p.bytesOut += s.BytesOut
	p.recordsIn += s.RecordsIn
	p.recordsOut += s.RecordsOut
	p.cpu += s.CPU
	p.peak = max(p.peak, s.PeakMemory)
	p.cores.add(s, job.CPU, s.CPU.Seconds())
	p.disk.add(s, job.Disk, float64(s.DiskBytes))
	p.net.add(s, job.Net, float64(s.NetBytes))
	p.took.Add(s.Duration().Seconds())
	if p.first == 0 || s.Start < p.first {
		p.first = s.Start
	}
	p.last = max(p.last, s.End)
	if p.runFirst == 0 { // nobody was told that it began; by the clock here, not the node's
		p.runFirst = at.Add(-s.Duration())
	}
	p.runLast = at
	p.runDone++
	p.runBytes += s.BytesIn
}

// outgrows is how much more memory a phase has to take than was known of its application so that it is told.
const outgrows = 1.25

// outgrow tells, once for each phase, that an attempt took clearly more memory than the job came with.
// Nothing is ended for that, and the next jobs come with the new figure.
func (j *Job) outgrow(p *phaseSum, s job.PhaseStat) {
	if p.outgrown {
		return
	}
	for _, d := range j.work.Demands {
		if d.Phase == s.Phase && d.Demand.Memory > 0 && float64(s.PeakMemory) > outgrows*float64(d.Demand.Memory) {
			p.outgrown = true
			j.AddNote(fmt.Sprintf("its phase %s took %s of memory, more than the %s of earlier runs; berth reckons with that from now on",
				p.phase, job.FormatSize(s.PeakMemory), job.FormatSize(d.Demand.Memory)))
		}
	}
}

// undo takes back the bytes and records of an output that was lost.
func (p *phaseSum) undo(s job.PhaseStat) {
	p.bytesIn -= s.BytesIn
	p.bytesOut -= s.BytesOut
	p.recordsIn -= s.RecordsIn
	p.recordsOut -= s.RecordsOut
}
