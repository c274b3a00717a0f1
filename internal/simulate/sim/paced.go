package sim

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/simulate/workload"
)

// paced is the state of an attempt that reports its progress while it runs. Its speed follows the
// slow spells of its node.
type paced struct {
	begun     job.Time
	duplicate bool // another attempt of its task ran when it began
}

// As a real worker does, a worker reports every two seconds what it measured in the last second, at instants of its own.
const (
	reportEvery  = 2 * time.Second
	measureEvery = time.Second
)

// phase returns by how much the instants of a worker differ from those of others: some part of a period.
func (k *worker) phase(period time.Duration) time.Duration {
	return time.Duration(uint64(k.node+1) * 0x9e3779b97f4a7c15 % uint64(period))
}

// spells returns the slow spells of a node.
func (w *world) spells(node int) workload.Spells {
	if w.cfg.Cluster.Spells == nil {
		return nil
	}
	return w.cfg.Cluster.Spells[node]
}

// pace sets the duration of an attempt that begins now and schedules the worker's reports.
func (k *worker) pace(r *attempt, work time.Duration) {
	w, task := k.g.site.w, r.id.Task
	r.runTime = k.until(work)
	r.paced = &paced{begun: w.now, duplicate: r.app.live[task] > 0}
	if r.app.live[task]++; r.paced.duplicate {
		r.app.out.Duplicates++
	}
	if len(k.runs) == 0 {
		w.agenda.schedule(w.now.Add(reportEvery-k.phase(reportEvery)), endRank, report{k})
	}
}

// until returns how long an amount of work takes on the worker's node if it begins now.
func (k *worker) until(work time.Duration) time.Duration {
	w := k.g.site.w
	begin := since(w.now)
	return w.spells(k.node).Until(begin, work.Seconds()/w.machine.speed(k.node)).Sub(begin)
}

// work returns the work that the attempt had done at an instant, in seconds.
func (r *attempt) work(at job.Time) float64 {
	w := r.k.g.site.w
	return w.spells(r.k.node).Work(since(r.paced.begun), since(at)) * w.machine.speed(r.k.node)
}

// ended accounts for an attempt that has ended.
func (p *paced) ended(r *attempt) {
	r.app.live[r.id.Task]--
	r.app.out.Used.CPU += r.work(r.k.g.site.w.now)
}

// killed accounts for an attempt that was killed.
func (r *attempt) killed() {
	if r.paced != nil && r.paced.duplicate {
		r.app.out.Wasted++
	}
}

// report is the periodic report of a worker about the progress of its attempts.
type report struct{ k *worker }

func (s report) fire() {
	k := s.k
	if k.dead || len(k.runs) == 0 {
		return
	}
	w := k.g.site.w
	w.agenda.schedule(w.now.Add(reportEvery), endRank, s)
	var of []job.Progress
	for _, r := range k.runs {
		if r.paced == nil {
			continue
		}
		at := w.now.Add(-k.phase(measureEvery))
		if at <= r.paced.begun {
			continue
		}
		work := r.work(at)
		share := min(work/r.app.Maps[r.id.Task].Seconds(), 1)
		of = append(of, job.Progress{Attempt: r.id, Source: job.ProgressHits, N: r.app.Paces[r.id.Task].At(share), Fraction: -1,
			CPU: time.Duration(work * float64(time.Second)), Age: at.Sub(r.paced.begun)})
	}
	k.send(step.Progress{Node: k.id, Of: of})
}
