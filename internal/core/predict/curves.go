package predict

import (
	"slices"

	"berth/internal/core/job"
)

// mostCurves is how many curves a profile has of each kind of task: enough for their median to show healthy tasks.
const mostCurves = 8

// taskParts are the parts that are whole attempts, by job.TaskKind.
var taskParts = [...]Part{job.BagTask: BagTask, job.MapTask: MapTask, job.ReduceTask: ReduceTask}

// AddCurve adds the progress curve of an attempt that Add has counted. An empty list of marks is ignored.
func (c *Collector) AddCurve(of job.Curve) {
	if m := c.parts[taskParts[of.Kind]]; m != nil && len(of.Marks) > 0 {
		m.Curves = append(m.Curves, of)
	}
}

// Curves returns progress curves of finished attempts, a few of each kind.
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

// mergeCurves adds the curves of a later run. Where each run has as many as are kept, half of the kept curves are of
// the latest run, a quarter of the one before, and so on.
func (m *Measure) mergeCurves(later *Measure) {
	if len(later.Curves) > 0 {
		m.Curves = slices.Concat(m.FewCurves(), later.FewCurves())
	}
}
