package ui

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/plan"
)

// Plan writes the decision for a job with its reasons, the prediction and, on a batch system, the state of the queue.
// Its JSON form is the plan itself.
func Plan(w io.Writer, p plan.Plan, style Style) error {
	b := sheet{width: widthOf(w)}
	for _, r := range p.Reasons {
		b.WriteString(clean(r) + "\n")
	}
	b.WriteString("\n")
	item(&b, "on", planNodes(p))
	for i, more := range p.More {
		item(&b, "and", planAlloc(more)+planTerm(p.At, more)+planServes(p, i+1))
	}
	item(&b, "tasks", planTasks(p))
	item(&b, "at once", planSlots(p))
	if !p.Alloc.Elastic {
		item(&b, "time limit", some(p.Alloc.Time, job.FormatDuration))
	}
	planTimes(&b, p)
	for _, n := range p.Notes {
		item(&b, "note", n)
	}
	if p.Predicted != nil {
		planStages(&b, p.Predicted.Stages)
	}
	if p.Outlook != nil {
		b.WriteString("\n" + join(outlook(p.At, asked(p), style)))
	}
	return put(w, b.String())
}

// planNodes describes the request.
func planNodes(p plan.Plan) string {
	a := p.Alloc
	if a.Elastic && a.Nodes == 0 {
		return a.On + ": present idle allocations, in partition " + a.Batch.Partition
	}
	text := a.On + ": " + planAlloc(a)
	if p.Kind == job.MapReduce && a.SortMemory > 0 {
		text += ", " + size(a.SortMemory) + " of it for sorting"
	}
	if a.Elastic {
		text += planTerm(p.At, a) + planServes(p, 0)
	}
	return text
}

// planServes says for which tasks a request was made, if it was not for all.
func planServes(p plan.Plan, request int) string {
	const most = 3
	if request >= len(p.Serves) || len(p.Serves[request]) == len(p.Mix) {
		return ""
	}
	var words []string
	for _, k := range p.Serves[request] {
		if w := p.Mix[k].Words(); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if n := len(words) - most; n > 0 {
		words = append(words[:most], fmt.Sprintf("%d other needs", n))
	}
	return ", for tasks of " + strings.Join(words, "; ")
}

// planAlloc describes the nodes of an allocation and its partition.
func planAlloc(a job.AllocRequest) string {
	return job.Count(a.Nodes, "node") + " of " + a.PerNode.Words() + lead(" in partition ", a.Batch.Partition)
}

// planTerm describes the wall time of an allocation and its expected start.
func planTerm(at job.Time, a job.AllocRequest) string {
	text := cmp.Or(lead(", for ", some(a.Time, job.FormatDuration)), ", without a time limit")
	switch {
	case a.Start == 0:
		return text
	case a.Start <= at:
		return text + " from now on"
	default:
		return text + " from " + clock(a.Start.Std(), at.Std()) + " on"
	}
}

// planTimes describes the predicted start, run time and turnaround, their source, and the scout.
func planTimes(b *sheet, p plan.Plan) {
	o := p.Outlook
	if o != nil {
		item(b, "start", planStart(p))
	}
	if p.Predicted == nil {
		item(b, "run", "no prediction: "+p.Source)
	} else {
		item(b, "run", fmt.Sprintf("predicted %s from the first task to the end, %s for half of such runs",
			span(p.Predicted.Low, p.Predicted.Up), seconds(p.Predicted.Median)))
	}
	if t := p.Turnaround(); t != nil {
		text := "predicted " + span(t.Low, t.Up)
		if o.Turnaround > 0 {
			text += ", " + rough(o.Turnaround) + " on average: done at " + planClock(p, o.Turnaround)
		}
		item(b, "turnaround", text)
	}
	if p.Predicted != nil {
		item(b, "from", p.Source)
	}
	if p.Scout > 0 {
		item(b, "scout", "after "+job.Count(p.Scout, "task")+" the rest is planned by the measured times")
	}
}

// planStart describes when the first task of a job on a batch system should start.
func planStart(p plan.Plan) string {
	start := p.Outlook.Start
	switch {
	case p.Alloc.Nodes > 0 && p.Alloc.Start == 0:
		return "unknown: the queue shows no free slot that is large and long enough"
	case p.Start != nil && p.Start.High > 0:
		s := p.Start
		return fmt.Sprintf("predicted in %s, %s (%s to %s in four of five cases), by %s",
			rough(s.Median), planClock(p, s.Median), rough(s.Low), rough(s.High), startSource(s))
	case p.Outlook.Wait <= 0:
		return "predicted in " + rough(start) + ": the nodes are free"
	default:
		return "predicted in " + rough(start) + ", " + planClock(p, start)
	}
}

// planClock formats the instant that many seconds after the plan.
func planClock(p plan.Plan, s float64) string {
	return clock(p.At.Std().Add(job.Seconds(s)), p.At.Std())
}

func planTasks(p plan.Plan) string {
	if p.Kind == job.Bag {
		return job.Count(p.Tasks, "task")
	}
	return fmt.Sprintf("%s and %s over %s of input", job.Count(p.Tasks, "map"), job.Count(p.Reduces, "reduce"), size(p.InputBytes))
}

func planSlots(p plan.Plan) string {
	if p.Kind == job.Bag {
		return job.Count(p.TaskSlots, "task")
	}
	return job.Count(p.TaskSlots, "map") + ", " + job.Count(p.ReduceSlots, "reduce")
}

// planStages shows the bounds of each stage.
func planStages(b *sheet, stages []plan.Stage) {
	t := newTable("STAGE", "LOW>", "UP>")
	for _, s := range stages {
		t.add(s.Name, seconds(s.Low), seconds(s.Up))
	}
	section(b, t)
}
