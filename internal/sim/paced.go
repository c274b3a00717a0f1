package sim

import (
	"time"

	"berth/internal/job"
	"berth/internal/step"
	"berth/internal/workload"
)

// paced is an attempt of a task that counts while it runs: it is as slow as its node at each moment, and its worker reports how far it is.
type paced struct {
	begun job.Time
	twin  bool // another attempt of its task ran when it began
}

// reportEvery is the time between two reports of a worker, as in real life.
const reportEvery = 2 * time.Second

// spells returns the slow spells of a node.
func (w *world) spells(node int) workload.Spells {
	if w.cfg.Cluster.Spells == nil {
		return nil
	}
	return w.cfg.Cluster.Spells[node]
}

// pace notes what an attempt that begins now is to take, and that it is to be reported.
func (k *worker) pace(r *attempt, work time.Duration) {
	w, task := k.g.site.w, r.id.Task
	r.takes = k.until(work)
	r.paced = &paced{begun: w.now, twin: r.app.live[task] > 0}
	if r.app.live[task]++; r.paced.twin {
		r.app.out.Duplicates++
	}
	if len(k.runs) == 0 {
		w.agenda.note(w.now.Add(reportEvery), endRank, report{k})
	}
}

// until returns how long so much work takes if it begins now.
func (k *worker) until(work time.Duration) time.Duration {
	w := k.g.site.w
	begin := since(w.now)
	return w.spells(k.node).Until(begin, work.Seconds()/w.machine.speed(k.node)).Sub(begin)
}

// work returns the seconds of work that the attempt has done.
func (r *attempt) work() float64 {
	w := r.k.g.site.w
	return w.spells(r.k.node).Work(since(r.paced.begun), since(w.now)) * w.machine.speed(r.k.node)
}

// leave takes in that the attempt is over.
func (p *paced) leave(r *attempt) {
	r.app.live[r.id.Task]--
	r.app.out.Used.CPU += r.work()
}

// lose takes in that the attempt was killed.
func (r *attempt) lose() {
	if r.paced != nil && r.paced.twin {
		r.app.out.Wasted++
	}
}

// report is when a worker reports how far its attempts are.
type report struct{ k *worker }

func (s report) happen() {
	k := s.k
	if k.dead || len(k.runs) == 0 {
		return
	}
	w := k.g.site.w
	w.agenda.note(w.now.Add(reportEvery), endRank, s)
	var of []job.Progress
	for _, r := range k.runs {
		if r.paced == nil {
			continue
		}
		work := r.work()
		share := min(work/r.app.Maps[r.id.Task].Seconds(), 1)
		of = append(of, job.Progress{Attempt: r.id, Source: job.ProgressHits, N: r.app.Paces[r.id.Task].At(share), Fraction: -1,
			CPU: time.Duration(work * float64(time.Second))})
	}
	k.say(step.Progress{Node: k.id, Of: of})
}
