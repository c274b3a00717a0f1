package predict

// Invariant is the mean and maximum duration of a part of a task, in seconds: a performance invariant of ARIA. Low is
// the mean for a lower bound; it is less than Avg only where the profile was scaled to another size without knowing
// how time depends on size.
type Invariant struct {
	Low, Avg, Max float64

	// Quantiles draws durations from Sketch and multiplies them by Scale.
	Sketch *Sketch
	Scale  float64
}

// Times returns the invariant of tasks that take f times as long.
func (i Invariant) Times(f float64) Invariant {
	i.Low, i.Avg, i.Max, i.Scale = i.Low*f, i.Avg*f, i.Max*f, i.Scale*f
	return i
}

// Invariants are the inputs of the completion-time model for an application: the tuple (M, Sh1, Shtyp, R) of paper
// mr-job-adaptor, section 3. For a bag, Map is the whole task and the others are empty.
type Invariants struct {
	Map, FirstShuffle, OtherShuffle, Reduce Invariant
}

// Slots is a number of slots for tasks of one kind. The zero value is no slots.
type Slots struct {
	Count int
	Speed float64 // relative to the node that was profiled: a task takes its measured time divided by this; above 0
}

// Uniform returns n slots of the profiled node's speed.
func Uniform(n int) Slots { return Slots{n, 1} }

// together returns the sum of the speeds of all slots: S of the model.
func (s Slots) together() float64 { return float64(s.Count) * s.Speed }

// Shape is the number of a job's tasks and their slots. A bag's tasks are Maps, and it has no Reduces.
type Shape struct {
	Maps, Reduces         int
	MapSlots, ReduceSlots Slots
}

// Interval is a lower and an upper bound in seconds.
type Interval struct {
	Low float64 `json:"low_s"` // lower bound
	Up  float64 `json:"up_s"`  // upper bound
}

// Plus returns the bounds of the sum.
func (i Interval) Plus(o Interval) Interval { return Interval{i.Low + o.Low, i.Up + o.Up} }

// Estimate holds the bounds of each stage of a job.
type Estimate struct {
	Map          Interval `json:"map"` // a bag: its tasks
	FirstShuffle Interval `json:"first_shuffle"`
	OtherShuffle Interval `json:"other_shuffle"`
	Reduce       Interval `json:"reduce"`
}

// Total returns T_low and T_up: the sums of the stages' bounds.
func (e Estimate) Total() Interval {
	return e.Map.Plus(e.FirstShuffle).Plus(e.OtherShuffle).Plus(e.Reduce)
}

// Spread widens the bounds by the variation between runs, which few runs do not show. The next of n+1 runs lies
// beyond all earlier ones on a given side with probability 1/(n+1), so the bounds are stretched by (n+2)/(n+1) each
// way: 1.5 after one run, 1.05 after 19.
func (e Estimate) Spread(runs int) Estimate {
	f := float64(runs+2) / float64(runs+1)
	for _, i := range []*Interval{&e.Map, &e.FirstShuffle, &e.OtherShuffle, &e.Reduce} {
		i.Low, i.Up = i.Low/f, i.Up*f
	}
	return e
}

// Bounds returns the completion-time bounds of ARIA: paper mr-job-adaptor, eq. 1, with N_M·M_avg where the paper
// prints N_M + M_avg, and the upper bound of Verma et al. (models.md, "Completion time"). They hold for every greedy
// assignment of tasks whose durations have the invariants' means and maxima.
//
// Two points go beyond the printed equations. Slots may be faster or slower than those of the profiled node. With
// fewer tasks than slots, a stage lasts no less than its mean, and there is no second wave.
//
// Of the first wave's shuffles only the part counts that does not overlap the maps, as one task: low = Sh1_avg, up = Sh1_max.
func Bounds(inv Invariants, shape Shape) Estimate {
	return Estimate{
		Map:          stage(shape.Maps, inv.Map, shape.MapSlots),
		FirstShuffle: stage(min(shape.Reduces, 1), inv.FirstShuffle, shape.ReduceSlots),
		OtherShuffle: otherShuffle(shape.Reduces, inv.OtherShuffle, shape.ReduceSlots),
		Reduce:       stage(shape.Reduces, inv.Reduce, shape.ReduceSlots),
	}
}

// stage bounds n tasks on the slots: low = n·avg/S, up = (n−1)·avg/S + max.
func stage(n int, inv Invariant, s Slots) Interval {
	if n <= 0 || s.Count <= 0 {
		return Interval{}
	}
	return Interval{
		Low: max(float64(n)*inv.Low/s.together(), inv.Low/s.Speed),
		Up:  float64(n-1)*inv.Avg/s.together() + inv.Max/s.Speed,
	}
}

// otherShuffle bounds the shuffles of the waves after the first:
// low = (N_R/S_R − 1)·Sh_avg, up = ((N_R−1)/S_R − 1)·Sh_avg + Sh_max; 0 for one wave.
func otherShuffle(n int, inv Invariant, s Slots) Interval {
	if s.Count <= 0 || n <= s.Count {
		return Interval{}
	}
	return Interval{
		Low: float64(n-s.Count) * inv.Low / s.together(),
		Up:  float64(n-1-s.Count)*inv.Avg/s.together() + inv.Max/s.Speed,
	}
}
