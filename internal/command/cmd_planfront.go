package command

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/command/cli"
	"berth/internal/core/catalogue"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan"
	"berth/internal/core/plan/front"
	"berth/internal/core/predict"
	"berth/internal/driver/registry"
	"berth/internal/server/history"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// planFront is berth plan bag with --front: rented machines beside the cluster's own.
type planFront struct {
	frontFlags
	on, run bool
	price   float64
}

func (f *planFront) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.on, "front", false, "compare the cost and the makespan of the bag on rented machines and on free nodes of the cluster; needed for the flags that only a front has")
	fs.BoolVar(&f.run, "run", false, "rent the machines of the point that --budget, --deadline or --only selects, and run the bag on them")
	fs.Float64Var(&f.price, "cluster-price", 0, "price of one node of the cluster for one hour")
	f.frontFlags.register(fs)
}

// then plans a bag, or draws its front.
func (f *planFront) then(cmd *cobra.Command, spec *job.Spec, entries []job.Entry, detach bool) error {
	if !f.on && f.catalogue+f.deadline != "" {
		return job.ArgumentError("--catalogue", "a catalogue and a deadline are used only for a front", "add --front")
	}
	if !f.on {
		return planOnly(cmd, spec, entries, detach)
	}
	if spec.Kind != job.Bag {
		return noFront("a MapReduce job")
	}
	asked := f.take(spec)
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	d, err := rundir.Decide(cmd.Context(), h, spec, entries, spare(cmd.Context(), h)...)
	if err != nil {
		return err
	}
	if d.Plan.Mix != nil {
		return job.ArgumentError("--front", "there is a front only for tasks that all need the same", "remove --front, or draw one for each bag of such tasks")
	}
	measured, err := measuredTasks(cmd.Context(), h, spec, d.Plan.NodeType)
	if err != nil {
		return err
	}
	bag, task := front.Bag{Tasks: len(entries), Spread: f.spread}, catalogue.Task{Need: spec.Bag.Need}
	if n := float64(measured.Time.Count); n > 0 {
		task.Seconds = measured.Time.Mean()
		bag.Bytes = float64(measured.BytesIn+measured.BytesOut) / n
		if n > 1 && task.Seconds > 0 && !cmd.Flags().Changed("spread") {
			bag.Spread = math.Min(10, measured.Time.StdDev()/task.Seconds)
		}
	}
	further := f.cluster(d.Plan, spec.Bag.Need)
	if !f.run {
		return f.show(cmd, bag, task, further)
	}
	v, err := f.view(bag, task, further)
	if err != nil {
		return err
	}
	rent, err := f.choice(v, len(entries))
	if err != nil {
		return err
	}
	rent.PassEnv, rent.Deadline = asked.PassEnv, asked.Deadline
	spec.Request.On, spec.Request.Remote.Rent = registry.Rented, rent
	return submit(cmd, spec, entries, detach)
}

// lines plans a bag whose tasks are lines.
func (f *planFront) lines(cmd *cobra.Command, spec *job.Spec, in *cli.Lines, _ bool) error {
	if f.on || f.catalogue+f.deadline != "" {
		return noFront("tasks of different needs")
	}
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	spec.Bag.Open = in.Open
	p, err := rundir.PlanTasks(cmd.Context(), h, spec, in.From, in.Tasks, spare(cmd.Context(), h)...)
	if err != nil {
		return err
	}
	return showPlan(cmd, p)
}

// noFront says that there is a front of bags alone. The model is of tasks that read from one data server and wait for nobody; what maps hand to reduces
// is no part of it.
func noFront(of string) error {
	return job.ArgumentError("--front", "there is no front for "+of+", only for a bag of tasks", "remove --front, or draw it for a bag: berth plan bag --front, or berth front")
}

// stages plans a job in stages.
func (f *planFront) stages(cmd *cobra.Command, j *cli.Job, detach bool) error {
	if f.on {
		return noFront("a job in stages")
	}
	return planStages(cmd, j, detach)
}

// planMapReduce plans a MapReduce job, whose flags are Hadoop's and know no front.
func planMapReduce() *cobra.Command {
	c := newMapReduce(planOnly)
	plan := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, "--front") {
			return kindError(job.MapReduce, noFront("a MapReduce job"))
		}
		return plan(cmd, args)
	}
	return c
}

// choice returns the machines of the chosen point.
func (f *planFront) choice(v front.View, tasks int) (job.Rent, error) {
	if v.Chosen == nil && f.only == "" {
		return job.Rent{}, job.ArgumentError("--run", "no point of the front is selected", "select one with --budget, --deadline or --only")
	}
	point := v.Front[0]
	if v.Chosen != nil {
		point = v.Front[*v.Chosen]
	}
	rent := job.Rent{Catalogue: f.catalogue, Budget: f.budget, Machines: catalogue.Choice(point), Predicted: catalogue.Forecast(point, tasks), Front: catalogue.Choices(v)}
	if server, err := parse.Size("--server", f.server); err == nil {
		rent.Server = float64(server)
	}
	for _, m := range rent.Machines {
		if on, _, _ := strings.Cut(m.Name, ":"); registry.Batch(on) != nil {
			return job.Rent{}, job.ArgumentError("--run", "the selected point has nodes of the cluster, "+m.Name+", and a job cannot use both", "run the bag with --on "+on+", or make the cluster more expensive with --cluster-price")
		}
	}
	return rent, nil
}

// measuredTasks returns what the profile of the bag's application says of its tasks; an empty measure without one.
func measuredTasks(ctx context.Context, h statedir.Home, spec *job.Spec, nodeType string) (*predict.Measure, error) {
	s, err := history.Open(ctx, h.Database())
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // only read
	prof, err := rundir.Profile(ctx, s, spec, nodeType)
	if err != nil || prof == nil {
		return &predict.Measure{}, err
	}
	return prof.Measures.Get(predict.BagTask), nil
}

// cluster returns the free nodes of a batch system that the plan chose, as a type that boots when they are free; none
// without a batch system.
func (f *planFront) cluster(p plan.Plan, need job.Resources) []front.Type {
	if p.Outlook == nil {
		return nil
	}
	for _, c := range p.Outlook.Slots {
		if c.Chosen && !math.IsInf(c.Wait, 1) {
			return []front.Type{{Name: p.Alloc.On + ":" + p.Outlook.Partition, Price: f.price, Unit: 1, Boot: c.Wait,
				Slots: max(1, c.PerNode.Slots(need)), Limit: min(c.Nodes, 100_000)}}
		}
	}
	return nil
}
