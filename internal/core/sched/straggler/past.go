package straggler

import (
	"slices"
	"time"

	"berth/internal/core/job"
)

// Reference is the curve of an attempt that was done, with which others are compared.
type Reference struct {
	Source job.ProgressSource `msgpack:"s" json:"source"`
	Curve  Curve              `msgpack:"c" json:"curve"` // the last mark is its end
}

// End returns the mark at which the attempt was done.
func (r *Reference) End() Mark { return r.Curve[len(r.Curve)-1] }

// mostReferences is the maximum number of curves in a Past, of its own run and of earlier runs each.
const mostReferences = 24

// Past is what is known about attempts of one kind of tasks that were done, in this run of the job and in earlier ones.
// The zero value is empty.
type Past struct {
	Done    int           // number of attempts of this run that were done
	Took    []float64     // their durations in seconds, ascending; at most mostDurations of them
	Busy    time.Duration // sum of all their durations
	Own     []Reference   // curves of attempts of this run, the latest mostReferences
	Earlier []Reference   // curves from the application's profile
	next    int           // index in Own that is replaced next
}

// mostDurations bounds the length of Took; beyond it, Took is a sample.
const mostDurations = 1000

// Add adds an attempt that was done, its duration and its progress; track may be nil.
func (p *Past) Add(took time.Duration, track *Track) {
	p.Done++
	p.Busy += took
	p.sample(took.Seconds())
	if r, ok := track.reference(took); ok {
		p.own(r)
	}
}

// sample adds a duration to Took. When Took is full, each of its entries stands for several attempts, and only one of as many replaces an entry. So
// the first and the last attempts weigh alike.
func (p *Past) sample(d float64) {
	if len(p.Took) >= mostDurations {
		if p.Done%(p.Done/mostDurations+1) != 0 {
			return
		}
		k := p.Done * 7919 % len(p.Took) // visits all entries, as 7919 is a prime
		p.Took = slices.Delete(p.Took, k, k+1)
	}
	i, _ := slices.BinarySearch(p.Took, d)
	p.Took = slices.Insert(p.Took, i, d)
}

func (p *Past) own(r Reference) {
	if len(p.Own) < mostReferences {
		p.Own = append(p.Own, r)
		return
	}
	p.Own[p.next] = r
	p.next = (p.next + 1) % mostReferences
}

// reference returns the curve of an attempt that was done, if the curve is long enough. Its end has the count of the last
// measurement.
func (t *Track) reference(took time.Duration) (Reference, bool) {
	if t == nil || t.Source == job.ProgressNone || t.Now.N <= 0 || len(t.Curve) < 3 {
		return Reference{}, false
	}
	c := slices.Clone(t.Curve)
	if last := &c[len(c)-1]; last.T < took {
		c = append(c, Mark{T: took, N: last.N, CPU: last.CPU})
	}
	return Reference{Source: t.Source, Curve: c}, true
}

// By returns the measurement to compare with attempts that were done: by processor time, if that measured most of these in the
// end. Another source is no measure then, such as an input that is read in the first seconds; but entries of functions, which are
// counted where a user asked for them, are.
func (p *Past) By(in job.Progress) job.Progress {
	most := 0
	for _, refs := range [...][]Reference{p.Own, p.Earlier} {
		for i := range refs {
			if refs[i].Source == job.ProgressCPU {
				most++
			} else {
				most--
			}
		}
	}
	if most > 0 && in.CPU > 0 && in.Source != job.ProgressNone && in.Source != job.ProgressHits {
		in.Source, in.N, in.Fraction = job.ProgressCPU, in.CPU.Seconds(), -1
	}
	return in
}

// Quantile returns the q-quantile of the durations of attempts that were done, 0 if there are none.
func (p *Past) Quantile(q float64) time.Duration {
	if len(p.Took) == 0 {
		return 0
	}
	return seconds(p.Took[min(int(q*float64(len(p.Took))), len(p.Took)-1)])
}

// Mean returns the mean duration of attempts that were done, 0 if there are none.
func (p *Past) Mean() time.Duration {
	if p.Done == 0 {
		return 0
	}
	return p.Busy / time.Duration(p.Done)
}
