package command

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/catalogue"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/plan/front"
	"berth/internal/core/predict"
	"berth/internal/server/history"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// frontPhase is what a front knows of a phase of a job: the tasks of a bag or of a stage, maps, or reduces.
type frontPhase struct {
	name    string
	bag     front.Bag
	task    catalogue.Task
	cluster []front.Type // free nodes of a batch system
}

// phases returns the phases of a job, or of the jobs that are its stages; one of them is planned, for the free nodes of a cluster.
func (f *planFront) phases(cmd *cobra.Command, planned int, jobs ...*cli.Job) (all []frontPhase, err error) {
	for _, j := range jobs {
		if b := j.Spec.Bag; b != nil && b.Several() {
			return nil, job.ArgumentError("--front", fmt.Sprintf("a task on rented machines is one process, and one of this bag has %d ranks", b.Ranks), "remove --front")
		}
	}
	h, err := statedir.Open()
	if err != nil {
		return nil, err
	}
	d, err := rundir.Decide(cmd.Context(), h, jobs[planned].Spec, jobs[planned].Entries, held(cmd.Context(), h))
	if err != nil {
		return nil, err
	}
	if d.Plan.Mix != nil {
		return nil, noFront()
	}
	s, err := history.Open(cmd.Context(), h.Database())
	if err != nil {
		return nil, err
	}
	defer s.Close() // only read
	for _, j := range jobs {
		prof, err := rundir.Profile(cmd.Context(), s, j.Spec, d.Plan.NodeType)
		if err != nil {
			return nil, err
		}
		if prof == nil {
			prof = &predict.Profile{}
		}
		if j.Spec.Kind == job.MapReduce {
			all = append(all, f.mapReduce(j.Spec.MapReduce, &d.Plan, prof)...)
		} else {
			all = append(all, f.tasks(j, prof.Measures.Get(predict.BagTask)))
		}
	}
	for i := range all {
		all[i].task.Speeds = len(all) > 1
		all[i].cluster = f.cluster(d.Plan, all[i].task.Need)
	}
	return all, nil
}

// tasks returns the phase of a bag.
func (f *planFront) tasks(j *cli.Job, measured *predict.Measure) frontPhase {
	p := frontPhase{bag: front.Bag{Tasks: len(j.Entries), Spread: f.Spread}, task: catalogue.Task{Need: j.Spec.Bag.Need}}
	if j.Spec.Stage != nil {
		p.name = j.Spec.Stage.Name
	}
	if n := float64(measured.Time.Count); n > 0 {
		p.task.Seconds = measured.Time.Mean()
		p.bag.Bytes = float64(measured.BytesIn+measured.BytesOut) / n
		p.bag.Spread = f.spreadOf(&measured.Time)
	}
	return p
}

// mapReduce returns the phases of a MapReduce job. Maps read the input and without reduces write the output; reduces write it, after what is left
// of their shuffle when the last map has ended, on average over the reduces that were measured.
func (f *planFront) mapReduce(spec *job.MapReduceSpec, p *plan.Plan, prof *predict.Profile) []frontPhase {
	size := predict.Size{Kind: job.MapReduce, InputBytes: p.InputBytes, Tasks: p.Tasks, Reduces: p.Reduces}
	prof = prof.Near(size)
	inv, _ := prof.Invariants(size)
	ms, in := prof.Measures, float64(p.InputBytes)
	between := in * ms.Get(predict.MapTask).Selectivity()
	maps := frontPhase{name: "map", bag: front.Bag{Tasks: p.Tasks, Bytes: in / float64(max(1, p.Tasks)), Spread: f.spreadOf(inv.Map.Sketch)},
		task: catalogue.Task{Need: spec.MapNeed, Seconds: inv.Map.Avg}}
	if p.Reduces == 0 {
		maps.bag.Bytes += between / float64(max(1, p.Tasks))
		return []frontPhase{maps}
	}
	reduces := frontPhase{name: "reduce", task: catalogue.Task{Need: spec.ReduceNeed},
		bag: front.Bag{Tasks: p.Reduces, Bytes: between * ms.Get(predict.ReduceTask).Selectivity() / float64(p.Reduces), Spread: f.spreadOf(inv.Reduce.Sketch)}}
	first, other := float64(ms.Get(predict.FirstShuffle).Time.Count), float64(ms.Get(predict.OtherShuffle).Time.Count)
	if inv.Reduce.Avg > 0 && first+other > 0 {
		reduces.task.Seconds = (first*inv.FirstShuffle.Avg+other*inv.OtherShuffle.Avg)/(first+other) + inv.Reduce.Avg
	}
	return []frontPhase{maps, reduces}
}

// spreadOf returns the spread of task times: as the flag says, or as it was measured.
func (f *planFront) spreadOf(times *predict.Sketch) float64 {
	if f.flags.Changed("spread") || times == nil || times.Count < 2 || times.Mean() <= 0 {
		return f.Spread
	}
	return math.Min(10, times.StdDev()/times.Mean())
}

// cluster returns the free nodes of a batch system that the plan chose, as a type that boots when they are free; none
// without a batch system.
func (f *planFront) cluster(p plan.Plan, need job.Resources) []front.Type {
	if p.Outlook == nil {
		return nil
	}
	for _, c := range p.Outlook.Slots {
		if c.Chosen && !math.IsInf(c.Wait, 1) {
			return []front.Type{{Name: p.Alloc.On + ":" + p.Outlook.Partition, Price: f.Price, Unit: 1, Boot: c.Wait,
				Slots: max(1, c.PerNode.Slots(need)), Limit: min(c.Nodes, 100_000)}}
		}
	}
	return nil
}
