package memory

import (
	"cmp"
	"math"
	"slices"
)

// sizey is the method of Sizey (arXiv 2407.16353), as far as it can be repeated here: with two of its four models, linear
// regression and nearest neighbours, without its random forest and its neural network. The model with the smaller error
// predicts; the offset is the one of four that would have wasted least; a task that fails gets the most that was seen, and
// then twice as much.
type sizey struct {
	past
	line
	errors [2][]float64 // by model: (used − predicted) / used
}

func (s *sizey) Learn(t Task) {
	if len(s.tasks) > 1 {
		for m, p := range s.predict(t) {
			s.errors[m] = append(s.errors[m], (float64(t.Peak)-p)/float64(t.Peak))
		}
	}
	s.past.Learn(t)
	s.add(float64(t.Size), float64(t.Peak))
}

// predict returns the predictions of both models.
func (s *sizey) predict(t Task) [2]float64 {
	return [2]float64{s.at(float64(t.Size)), s.nearest(t)}
}

// neighbours is how many tasks the model of nearest neighbours looks at.
const neighbours = 5

// nearest returns the mean of the tasks with the nearest sizes.
func (s *sizey) nearest(t Task) float64 {
	near := slices.Clone(s.tasks)
	far := func(o Task) float64 { return math.Abs(float64(o.Size - t.Size)) }
	slices.SortStableFunc(near, func(a, b Task) int { return cmp.Compare(far(a), far(b)) })
	near = near[:min(neighbours, len(near))]
	sum := 0.0
	for _, o := range near {
		sum += float64(o.Peak)
	}
	return sum / float64(len(near))
}

func (s *sizey) First(t Task) float64 {
	m, least := 0, math.Inf(1)
	for i, e := range s.errors {
		if err := smoothed(e); err < least {
			m, least = i, err
		}
	}
	p := s.predict(t)[m]
	if p = p + p*offset(s.errors[m]); p <= 0 {
		return s.most() / 20
	}
	return p
}

// smoothed returns the mean of absolute errors of at most one each.
func smoothed(errors []float64) float64 {
	sum := 0.0
	for _, e := range errors {
		sum += min(math.Abs(e), 1)
	}
	return sum / float64(max(len(errors), 1))
}

// offset returns the one of four offsets that would have wasted least: the standard deviation of the errors, that of those that
// were too low, the median of the absolute errors, and that of those that were too low.
func offset(errors []float64) float64 {
	if len(errors) == 0 {
		return 0.05
	}
	var low, size []float64
	for _, e := range errors {
		size = append(size, math.Abs(e))
		if e > 0 {
			low = append(low, e)
		}
	}
	best, least := 0.05, math.Inf(1)
	for _, o := range []float64{deviation(errors), deviation(low), middle(size), middle(low)} {
		waste := 0.0
		for _, e := range errors { // in relation to what was used, where 1−e was predicted
			if given := (1 - e) * (1 + o); given >= 1 {
				waste += given - 1
			} else {
				waste += given + 1
			}
		}
		if waste < least {
			best, least = o, waste
		}
	}
	return best
}

func middle(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Clone(of)
	slices.Sort(sorted)
	return sorted[len(sorted)/2]
}

func (s *sizey) Next(_ Task, had float64) float64 {
	if most := s.most(); most > had*1.05 {
		return most
	}
	return 2 * had
}
