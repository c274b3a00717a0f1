package memory

import (
	"cmp"
	"math"
	"slices"

	"berth/internal/core/predict/memory"
)

// Method chooses the memory of tasks of one application.
type Method interface {
	First(t Task) float64             // bytes that the task gets at first; its use is not looked at
	Next(t Task, had float64) float64 // … after it ran out of that
	Learn(t Task)                     // the task is done
}

// node is the memory of the largest node, in bytes. No task gets more.
const node = 128e9

// Methods are the compared methods by name, in the order of the table. Each makes one for an application.
var Methods = []struct {
	Name string
	New  func() Method
}{
	{"user", func() Method { return &user{} }},
	{"p95", func() Method { return &percentile{} }},
	{"tovar", func() Method { return &tovar{} }},
	{"witt-std", func() Method { return &witt{} }},
	{"witt-under", func() Method { return &witt{under: true} }},
	{"sizey", func() Method { return &sizey{} }},
	{"berth", func() Method { return &berth{} }},
}

// user gives what the users of the workflow asked for.
type user struct{}

func (*user) First(t Task) float64             { return float64(t.Asked) }
func (*user) Next(_ Task, had float64) float64 { return 2 * had }
func (*user) Learn(Task)                       {}

// past is the tasks that are done.
type past struct{ tasks []Task }

func (p *past) Learn(t Task) { p.tasks = append(p.tasks, t) }

func (p *past) most() (most float64) {
	for _, t := range p.tasks {
		most = max(most, float64(t.Peak))
	}
	return most
}

// percentile gives the 95th percentile, interpolated, and then twice as much.
type percentile struct{ past }

func (p *percentile) First(Task) float64 {
	peaks := make([]float64, len(p.tasks))
	for i, t := range p.tasks {
		peaks[i] = float64(t.Peak)
	}
	slices.Sort(peaks)
	at := 0.95 * float64(len(peaks)-1)
	i := int(at)
	return peaks[i] + (at-float64(i))*(peaks[min(i+1, len(peaks)-1)]-peaks[i])
}

func (*percentile) Next(_ Task, had float64) float64 { return 2 * had }

// tovar gives the first allocation of least expected waste, then the most that any task used, then a whole node (Tovar et al.,
// A Job Sizing Strategy for High-Throughput Scientific Workflows, TPDS 2018, equation 1).
type tovar struct{ past }

func (v *tovar) First(Task) float64 {
	sorted := slices.Clone(v.tasks)
	slices.SortFunc(sorted, func(a, b Task) int { return cmp.Compare(b.Peak, a.Peak) }) // the largest first
	all := 0.0
	for _, t := range sorted {
		all += t.Time.Seconds()
	}
	most := float64(sorted[0].Peak)
	best, least, larger := most, most*all, 0.0 // larger is the time of tasks that used more
	for i := 0; i < len(sorted); {
		a := float64(sorted[i].Peak)
		if waste := a*all + most*larger; waste < least {
			best, least = a, waste
		}
		for ; i < len(sorted) && float64(sorted[i].Peak) == a; i++ {
			larger += sorted[i].Time.Seconds()
		}
	}
	return best
}

func (v *tovar) Next(_ Task, had float64) float64 {
	if most := v.most(); had < most {
		return most
	}
	return node
}

// line is a line of least squares.
type line struct{ n, x, y, xx, xy float64 }

func (l *line) add(x, y float64) {
	l.n, l.x, l.y, l.xx, l.xy = l.n+1, l.x+x, l.y+y, l.xx+x*x, l.xy+x*y
}

func (l *line) at(x float64) float64 {
	slope := 0.0
	if d := l.n*l.xx - l.x*l.x; d != 0 {
		slope = (l.n*l.xy - l.x*l.y) / d
	}
	return (l.y-slope*l.x)/l.n + slope*x
}

// witt gives what a line over the size of the input predicts, and the standard deviation of its relative errors more, of all
// of them or of those that were too low (Witt et al., Feedback-Based Resource Allocation for Batch Scheduling of
// Scientific Workflows, HPCS 2019).
type witt struct {
	past
	line
	under  bool
	errors []float64
}

func (w *witt) First(t Task) float64 {
	p := w.at(float64(t.Size))
	return p + p*deviation(w.errors)
}

func (w *witt) Next(_ Task, had float64) float64 {
	if had <= 0 {
		return w.most()
	}
	return 2 * had
}

func (w *witt) Learn(t Task) {
	if w.n > 1 {
		e := (float64(t.Peak) - w.at(float64(t.Size))) / float64(t.Peak)
		if !w.under || e > 0 {
			w.errors = append(w.errors, e)
		}
	}
	w.past.Learn(t)
	w.add(float64(t.Size), float64(t.Peak))
}

func deviation(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	mean, sum := 0.0, 0.0
	for _, v := range of {
		mean += v / float64(len(of))
	}
	for _, v := range of {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(of)))
}

// berth gives what the product would.
type berth struct{ history memory.History }

func (b *berth) First(t Task) float64 {
	bytes, known := b.history.First(t.Size)
	if !known {
		return float64(t.Asked)
	}
	return float64(bytes)
}

func (b *berth) Next(t Task, had float64) float64 { return float64(b.history.Next(t.Size, int64(had))) }
func (b *berth) Learn(t Task)                     { b.history.Learn(t.Sample) }
