package predict

import "berth/internal/job"

// mostCurves is how many curves a profile has of each kind of tasks: enough for their median to tell of healthy tasks.
const mostCurves = 8

// taskParts are the parts that are whole attempts; by job.TaskKind.
var taskParts = [...]Part{job.BagTask: BagTask, job.MapTask: MapTask, job.ReduceTask: ReduceTask}

// AddCurve takes in how an attempt came on that was counted by Add. An empty list of marks is no curve.
func (c *Collector) AddCurve(of job.Curve) {
	if m := c.parts[taskParts[of.Kind]]; m != nil && len(of.Marks) > 0 {
		m.Curves = append(m.Curves, of)
	}
}

// Curves returns how attempts that were done came on, a few of each kind.
func (ms Measures) Curves() (list []job.Curve) {
	for _, p := range taskParts {
		list = append(list, ms.Get(p).FewCurves()...)
	}
	return list
}

// FewCurves returns at most mostCurves of the curves, evenly from the first to the last.
func (m *Measure) FewCurves() []job.Curve {
	if len(m.Curves) <= mostCurves {
		return m.Curves
	}
	few := make([]job.Curve, mostCurves)
	for i := range few {
		few[i] = m.Curves[i*len(m.Curves)/mostCurves]
	}
	return few
}

// mergeCurves adds those of a later run. Where each run has as many as are kept, half of the curves that are left are of the latest, a quarter of the one before it, and so on.
func (m *Measure) mergeCurves(later *Measure) {
	if len(later.Curves) > 0 {
		m.Curves = append(append([]job.Curve{}, m.FewCurves()...), later.FewCurves()...)
	}
}
