package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"berth/internal/cluster"
	"berth/internal/driver/local"
	"berth/internal/home"
	"berth/internal/job"
	"berth/internal/mapreduce"
	"berth/internal/plan"
	"berth/internal/predict"
	"berth/internal/store"
)

// Decided is a job that was planned, and not more.
type Decided struct {
	Spec  *job.Spec
	Tasks home.Tasks
	Plan  plan.Plan
}

// Decide looks at the job's input and at the machine, and plans. Nothing is
// written. entries are those of a bag.
func Decide(ctx context.Context, h home.Home, spec *job.Spec, entries []job.Entry) (*Decided, error) {
	d := &Decided{Spec: spec, Tasks: home.Tasks{Entries: entries}}
	counts := plan.Counts{Tasks: len(entries)}
	var notes []string
	if spec.Kind == job.MapReduce {
		sum, err := d.split()
		if err != nil {
			return nil, err
		}
		notes = inputNotes(sum, d.Tasks.Splits)
		counts = plan.Counts{Tasks: len(d.Tasks.Splits), InputBytes: sum.Bytes}
	}
	var err error
	if d.Plan, err = decide(ctx, h, spec, counts); err != nil {
		return nil, err
	}
	d.Plan.Notes = append(d.Plan.Notes, notes...)
	if spec.Kind == job.MapReduce {
		spec.MapReduce.Reduces = d.Plan.Reduces
	}
	return d, nil
}

// split cuts the input of a MapReduce job to fit the machine.
func (d *Decided) split() (mapreduce.InputSummary, error) {
	if err := mapreduce.CheckOutput(d.Spec.MapReduce); err != nil {
		return mapreduce.InputSummary{}, err
	}
	if err := mapreduce.Check(d.Spec.MapReduce); err != nil {
		return mapreduce.InputSummary{}, err
	}
	snap, _, err := place(d.Spec)
	if err != nil {
		return mapreduce.InputSummary{}, err
	}
	layout, err := plan.Share(snap, d.Spec)
	if err != nil {
		return mapreduce.InputSummary{}, err
	}
	opts := mapreduce.SplitOptions{Slots: layout.TaskSlots, Memory: layout.MapMemory()}
	splits, sum, err := mapreduce.PlanSplits(d.Spec.MapReduce, opts)
	d.Tasks.Splits = splits
	return sum, err
}

// decide plans a job of a known size.
func decide(ctx context.Context, h home.Home, spec *job.Spec, counts plan.Counts) (plan.Plan, error) {
	snap, nodeType, err := place(spec)
	if err != nil {
		return plan.Plan{}, err
	}
	if err := checkScratch(spec.Request.Scratch); err != nil {
		return plan.Plan{}, err
	}
	prof, warning := profile(ctx, h, spec, nodeType)
	p, err := plan.Decide(plan.Question{Now: now(), Snap: snap, Spec: spec, Counts: counts, Profile: prof})
	if none := spec.Request.BatchOnly(); len(none) > 0 {
		p.Notes = append(p.Notes, "there is no batch system here, so this has no effect: --"+strings.Join(none, ", --"))
	}
	if warning != "" {
		p.Notes = append(p.Notes, warning)
	}
	return p, err
}

func now() job.Time { return job.Time(time.Now().UnixNano()) }

// place returns what there is to run on, and the type of its nodes.
func place(spec *job.Spec) (cluster.Snapshot, string, error) {
	if on := spec.Request.On; on != "auto" && on != local.Name {
		return cluster.Snapshot{}, "", &job.Error{Class: job.User, Code: job.CodeConfig, Where: "--on",
			What: fmt.Sprintf("berth cannot run on %q", on), Do: "use --on local or leave it out"}
	}
	m, err := local.ThisMachine()
	if err != nil {
		return cluster.Snapshot{}, "", err
	}
	return m.Snapshot(now(), job.Resources{}), predict.NodeType(m.CPUModel, len(m.CPUs)), nil
}

// profile returns what is known of the application on that type of node, nil where
// nothing is. A store that cannot be read fails no job; the warning says so.
func profile(ctx context.Context, h home.Home, spec *job.Spec, nodeType string) (prof *predict.Profile, warning string) {
	s, err := store.Open(ctx, h.Database())
	if err == nil {
		defer func() { _ = s.Close() }()
		prof, err = s.Profile(ctx, predict.Application(spec), nodeType)
	}
	if err != nil {
		return nil, "profiles cannot be read: " + err.Error()
	}
	return prof, ""
}
