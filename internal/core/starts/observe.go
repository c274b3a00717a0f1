package starts

import (
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

const (
	// mostGap is how long a queue may go without being looked at for arrivals still to count as all that came.
	mostGap = 15 * time.Minute
	// leastKnown and shareKnown bound how uncertain a run time may be that is kept: so long, or such a part of it.
	leastKnown, shareKnown = 2 * time.Minute, 0.2
)

// Seen is a job, or an array of equal jobs that wait, as a batch system shows it.
type Seen struct {
	ID    string // of the job
	Array string // what it has in common with the other jobs of its array; of others the same as ID
	Job
	Part   int32    // number of the partition
	Start  job.Time // 0: it waits
	Copies int32    // number of equal jobs
	Own    bool     // of the user who looks, whose jobs berth decides on
}

// Observe adds what a batch system shows of all jobs at an instant. A job that ran at the last look and is gone has ended
// between the two; it counts with the middle of that time if that is known well enough. One that is new has arrived.
func (h *History) Observe(now job.Time, jobs []Seen) {
	if now <= h.Looked {
		return
	}
	jobs = jobs[:min(len(jobs), mostKept)]
	h.observeEnds(now, jobs)
	if h.Looked == 0 || now.Sub(h.Looked) > mostGap {
		h.Since, h.Arrived = now, nil
	} else {
		h.observeArrivals(now, jobs)
	}
	h.Present, h.Looked = jobs, now
	h.Trim(now)
}

func (h *History) observeEnds(now job.Time, jobs []Seen) {
	present := make(map[string]bool, len(jobs))
	for i := range jobs {
		present[jobs[i].ID] = true
	}
	for i := range h.Present {
		p := &h.Present[i]
		if p.Start == 0 || present[p.ID] {
			continue
		}
		from, to := max(h.Looked, p.Start+1), min(now, timeline.After(p.Start, p.Limit))
		to = max(from, to)
		run := from.Add(to.Sub(from) / 2).Sub(p.Start)
		if to.Sub(from) <= max(leastKnown, time.Duration(shareKnown*float64(run))) {
			h.Ended = append(h.Ended, Ended{Job: p.Job, At: now, Run: max(run, time.Second)})
		}
	}
}

func (h *History) observeArrivals(now job.Time, jobs []Seen) {
	known := make(map[string]bool, len(h.Present))
	for i := range h.Present {
		known[h.Present[i].Array] = true
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Own || known[j.Array] {
			continue
		}
		at := h.Looked.Add(now.Sub(h.Looked) / 2)
		if j.Start > h.Looked {
			at = min(at, j.Start)
		}
		for range min(max(j.Copies, 1), mostKept) {
			h.Arrived = append(h.Arrived, Arrived{Job: j.Job, At: at, Part: j.Part})
		}
	}
}
