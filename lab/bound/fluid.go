package bound

import (
	"cmp"
	"slices"

	"berth/internal/core/job"
)

// fluid is one preemptive machine that can do the work of a job at any rate.
type fluid struct {
	speed   float64
	jobs    []Job     // by Submit
	release []float64 // seconds since the first submission
	left    []float64 // remaining work
	key     []float64 // priority; the lowest value goes first
	ready   []turn    // heap of the jobs that are ready
	middle  []float64 // mean instant at which each job's work was done
}

func newFluid(speed float64, jobs []Job) *fluid {
	f := &fluid{speed: speed, jobs: slices.Clone(jobs)}
	slices.SortStableFunc(f.jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	n := len(jobs)
	f.release, f.left = make([]float64, n), make([]float64, n)
	f.key, f.middle = make([]float64, n), make([]float64, n)
	for i := range f.jobs {
		f.release[i] = seconds(f.jobs[i].Submit, f.jobs[0].Submit)
	}
	return f
}

func seconds(t, since job.Time) float64 { return t.Sub(since).Seconds() }

// srpt returns the sum of turnarounds under shortest remaining work first.
func (f *fluid) srpt() float64 {
	for i := range f.jobs {
		f.key[i] = f.jobs[i].Work
	}
	return f.run(true)
}

// wspt computes the middles under the static priority weight/work. This order has the smallest sum
// of weighted middles (M. Goemans, Improved approximation algorithms for scheduling with release
// dates, 1997: the preemptive list schedule solves the relaxation of mean busy times). Jobs of
// weight 0 come last.
func (f *fluid) wspt(weight []float64) {
	for i := range f.jobs {
		f.key[i] = -weight[i] / max(f.jobs[i].Work, 1e-9)
	}
	f.run(false)
}

// run does all work, always that of the ready job with the lowest key, and returns the sum of
// turnarounds. If remaining is true, a job's key is its remaining work.
func (f *fluid) run(remaining bool) (sum float64) {
	now := 0.0
	f.ready = f.ready[:0]
	for i := 0; i < len(f.jobs) || len(f.ready) > 0; {
		if len(f.ready) == 0 {
			now = max(now, f.release[i])
		}
		for i < len(f.jobs) && f.release[i] <= now {
			f.left[i], f.middle[i] = f.jobs[i].Work, 0
			f.push(turn{f.key[i], int32(i)})
			i++
		}
		top := f.ready[0].job
		end := now + f.left[top]/f.speed
		if i < len(f.jobs) && f.release[i] < end {
			f.work(top, now, f.release[i])
			now = f.release[i]
			if remaining {
				f.ready[0].key = f.left[top] // a lower key keeps the job at the top of the heap
			}
			continue
		}
		f.work(top, now, end)
		now = end
		f.pop()
		sum += now - f.release[top]
		f.finish(top)
	}
	return sum
}

// work does a job's work between two instants.
func (f *fluid) work(i int32, from, to float64) {
	done := min(float64((to-from)*f.speed), f.left[i])
	f.left[i] -= done
	f.middle[i] += float64(done * float64(float64(from+to)/2))
}

// finish divides the weighted sum of a job's instants by its work, which gives the mean.
func (f *fluid) finish(i int32) {
	if f.jobs[i].Work > 0 {
		f.middle[i] /= f.jobs[i].Work
	} else {
		f.middle[i] = f.release[i]
	}
}

// turn is a job that is ready. It contains the key, because comparing keys dominates the run time.
type turn struct {
	key float64
	job int32
}

// before orders the heap by key, and equal keys by arrival.
func (a turn) before(b turn) bool { return a.key < b.key || a.key == b.key && a.job < b.job }

func (f *fluid) push(t turn) {
	f.ready = append(f.ready, t)
	i := len(f.ready) - 1
	for i > 0 && t.before(f.ready[(i-1)/2]) {
		f.ready[i] = f.ready[(i-1)/2]
		i = (i - 1) / 2
	}
	f.ready[i] = t
}

// pop removes the top of the heap.
func (f *fluid) pop() {
	last := len(f.ready) - 1
	t := f.ready[last]
	f.ready = f.ready[:last]
	if last == 0 {
		return
	}
	i := 0
	for least := 1; least < last; least = 2*i + 1 {
		if least+1 < last && f.ready[least+1].before(f.ready[least]) {
			least++
		}
		if !f.ready[least].before(t) {
			break
		}
		f.ready[i] = f.ready[least]
		i = least
	}
	f.ready[i] = t
}
