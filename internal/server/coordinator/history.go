package coordinator

import (
	"slices"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/server/history"
	"berth/internal/server/report"
)

// historyOf returns the run as the history keeps it.
func historyOf(l *live, v report.JobView) history.Run {
	p := l.Plan
	r := history.Run{ID: v.ID, Name: v.Name, Kind: v.Kind, App: p.App, AppByPath: predict.ApplicationByPath(l.Spec), NodeType: p.NodeType, State: v.State,
		Tasks: p.Tasks, Reduces: p.Reduces, InputBytes: p.InputBytes, Nodes: p.Alloc.Nodes, CPUs: p.Alloc.PerNode.CPUs,
		Source: p.Source, Started: job.TimeOf(v.Started), Ended: job.TimeOf(v.Ended)}
	if l.Spec.Kind == job.Bag {
		r.Tasks = v.TasksTotal // an open bag has more than it was planned with
	}
	if p.Predicted != nil {
		r.Predicted = &p.Predicted.Interval
	}
	if v.ActualS != nil {
		r.Actual = *v.ActualS
	}
	besideQueue(&r, p, v)
	if x := v.Rented; x != nil {
		r.Cost = &x.Came.Cost
		if x.Predicted != nil {
			r.CostPredicted = &x.Predicted.Cost
		}
	}
	if r.InputBytes == 0 {
		r.InputBytes = v.BytesIn
	}
	return r
}

// besideQueue puts what the plan expected of the queue beside what came of it.
func besideQueue(r *history.Run, p plan.Plan, v report.JobView) {
	if p.Predicted != nil {
		r.Median = &p.Predicted.Median
	}
	if o := p.Outlook; o != nil {
		r.WaitPredicted = &o.Start
		if s := p.Start; s != nil {
			up := o.Start - o.Wait // until workers are ready
			median, low, high := s.Median+up, s.Low+up, s.High+up
			r.WaitPredicted, r.WaitLow, r.WaitHigh = &median, &low, &high
		}
		if o.Turnaround > 0 {
			r.TurnaroundPredicted = &o.Turnaround
		}
	}
	r.Wait, r.Turnaround, r.Allocs, r.Plans = v.WaitS, v.TurnaroundS, v.AllocsTotal, v.PlansTotal
	asked := append([]job.AllocRequest{p.Alloc}, p.More...)
	for _, a := range asked {
		r.AskedNodes += a.Nodes
		r.AskedTime = max(r.AskedTime, a.Time.Seconds())
	}
	if slices.ContainsFunc(asked, func(a job.AllocRequest) bool { return a.Time == 0 }) {
		r.AskedTime = 0 // that one is unlimited
	}
}
