package bound

// rounds is the number of iterations that improve the weights. Any number gives a valid bound. On
// the Facebook mix four times as many raise the bound by less than 1 %.
const rounds = 100

// joint returns a lower bound on the sum of turnarounds from the area and the heights together.
//
// For any schedule let C be a job's end, r its submission, h its height, k its tail and M the middle
// of its work (its mean busy time). Then C − r ≥ h, and by the definition of the tail C − r ≥ M + k
// − r. So for any weights w between 0 and 1
//
//	Σ (C − r)  ≥  Σ (1−w)·h + Σ w·(k − r) + Σ w·M.
//
// Every schedule of the cluster is a schedule of the fluid machine with the same M. On the fluid
// machine Σ w·M is smallest if jobs are ordered by weight over work (wspt). So the right side with
// this minimum is a bound for each choice of weights. It is concave in the weights, and its slope in
// the weight of a job is M + k − r − h. joint climbs along the slope with decreasing steps and
// returns the highest value. This value is close to the smallest Σ max(h, M + k − r) of any schedule
// of the fluid machine.
func (f *fluid) joint() float64 {
	weight := make([]float64, len(f.jobs))
	best := 0.0 // the sum of heights, the bound with all weights 0
	for i := range weight {
		weight[i] = 1
		best += f.jobs[i].Height
	}
	for round := range rounds {
		f.wspt(weight)
		sum, step := 0.0, 1/float64(1+round/4)
		for i := range f.jobs {
			j := &f.jobs[i]
			flow := f.middle[i] + j.Tail - f.release[i]
			sum += j.Height + float64(weight[i]*(flow-j.Height))
			if flow != j.Height {
				slope := (flow - j.Height) / max(flow, j.Height)
				weight[i] = min(1, max(0, weight[i]+float64(step*slope)))
			}
		}
		best = max(best, sum)
	}
	return best
}
