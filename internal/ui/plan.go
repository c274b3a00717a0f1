package ui

import (
	"fmt"
	"io"
	"strings"

	"berth/internal/job"
	"berth/internal/plan"
)

// Plan writes what was decided for a job and why, and what is predicted. Its JSON
// twin is the plan itself.
func Plan(w io.Writer, p plan.Plan) error {
	var b strings.Builder
	for _, r := range p.Reasons {
		b.WriteString(clean(r) + "\n")
	}
	b.WriteString("\n")
	item(&b, "on", planNodes(p))
	item(&b, "tasks", planTasks(p))
	item(&b, "at once", planSlots(p))
	if p.Alloc.Time > 0 {
		item(&b, "time limit", job.FormatDuration(p.Alloc.Time))
	}
	planPredicted(&b, p)
	for _, n := range p.Notes {
		item(&b, "note", clean(n))
	}
	if p.Predicted != nil {
		planStages(&b, p.Predicted.Stages)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// planNodes says what is asked for.
func planNodes(p plan.Plan) string {
	a := p.Alloc
	text := fmt.Sprintf("%s: %s of %s", a.On, count(a.Nodes, "node"), count(a.PerNode.CPUs, "core"))
	if a.PerNode.Mem > 0 {
		text += " and " + size(a.PerNode.Mem)
	}
	if p.Kind == job.MapReduce && a.SortMemory > 0 {
		text += ", " + size(a.SortMemory) + " of it for sorting"
	}
	return text
}

func planTasks(p plan.Plan) string {
	if p.Kind == job.Bag {
		return count(p.Tasks, "task")
	}
	return fmt.Sprintf("%s and %s over %s of input", count(p.Tasks, "map"), count(p.Reduces, "reduce"), size(p.InputBytes))
}

func planSlots(p plan.Plan) string {
	if p.Kind == job.Bag {
		return count(p.TaskSlots, "task")
	}
	return count(p.TaskSlots, "map") + ", " + count(p.ReduceSlots, "reduce")
}

// planPredicted says how long the job is predicted to take and from what, or why
// nothing is predicted.
func planPredicted(b *strings.Builder, p plan.Plan) {
	if p.Predicted == nil {
		item(b, "predicted", "nothing: "+clean(p.Source))
		return
	}
	item(b, "predicted", fmt.Sprintf("%s once the nodes are there; half of such runs end within %s, 95 of 100 within %s",
		span(p.Predicted.Low, p.Predicted.Up), seconds(p.Predicted.Median), seconds(p.Predicted.P95)))
	item(b, "from", clean(p.Source))
}

// planStages shows the bounds of each stage.
func planStages(b *strings.Builder, stages []plan.Stage) {
	t := newTable("STAGE", "LOW>", "UP>")
	for _, s := range stages {
		t.add(s.Name, seconds(s.Low), seconds(s.Up))
	}
	section(b, t)
}
