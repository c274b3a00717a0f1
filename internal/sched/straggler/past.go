package straggler

import (
	"slices"
	"time"

	"berth/internal/job"
)

// Reference is an attempt that was done, as others are compared with it.
type Reference struct {
	Source job.ProgressSource `msgpack:"s" json:"source"`
	Curve  Curve              `msgpack:"c" json:"curve"` // the last mark is its end
}

// End returns the mark at which the attempt was done.
func (r *Reference) End() Mark { return r.Curve[len(r.Curve)-1] }

// mostReferences is how many curves of its own run, and as many of earlier runs, a Past has.
const mostReferences = 24

// Past is what is known of attempts of one kind of tasks that were done: of this run of the job, and of earlier ones.
// The zero value knows nothing.
type Past struct {
	Done    int             // attempts of this run that were done
	Took    []time.Duration // how long each took, ascending; no more than mostDurations of them
	Busy    time.Duration   // the sum of what all took
	Own     []Reference     // curves of attempts of this run, the latest mostReferences
	Earlier []Reference     // curves from the application's profile
	next    int             // which of Own is replaced next
}

// mostDurations bounds what Took holds; beyond it, it is a sample.
const mostDurations = 1000

// Add takes in an attempt that was done after so long, with the last of its progress; track may be nil.
func (p *Past) Add(took time.Duration, track *Track) {
	p.Done++
	p.Busy += took
	p.sample(took)
	if r, ok := track.reference(took); ok {
		p.own(r)
	}
}

// sample takes a duration into Took. Once that is full, one of as many as each there stands for takes the place of another, so that the first
// and the last attempts count alike.
func (p *Past) sample(d time.Duration) {
	if len(p.Took) >= mostDurations {
		if p.Done%(p.Done/mostDurations+1) != 0 {
			return
		}
		k := p.Done * 7919 % len(p.Took) // spreads over all, as 7919 is a prime
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

// reference returns the curve of an attempt that was done, if there is enough of one. The end has the count of the last
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

// By returns a measurement as it is to be compared with attempts that were done: where most of these were measured by processor time in the
// end, by that. What another source says before it is left then is no measure, an input that is read in the first seconds say.
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
	if most > 0 && in.CPU > 0 && in.Source != job.ProgressNone {
		in.Source, in.N, in.Fraction = job.ProgressCPU, in.CPU.Seconds(), -1
	}
	return in
}

// Quantile returns the duration that a share q of the attempts that were done kept within, 0 where none was.
func (p *Past) Quantile(q float64) time.Duration {
	if len(p.Took) == 0 {
		return 0
	}
	return p.Took[min(int(q*float64(len(p.Took))), len(p.Took)-1)]
}

// Mean returns the mean duration of the attempts that were done, 0 where none was.
func (p *Past) Mean() time.Duration {
	if p.Done == 0 {
		return 0
	}
	return p.Busy / time.Duration(p.Done)
}
