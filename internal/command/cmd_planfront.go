package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"berth/internal/command/cli"
	"berth/internal/compat/streaming"
	"berth/internal/core/catalogue"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan/front"
	"berth/internal/driver/registry"
	"berth/internal/server/rundir"
	"berth/internal/sys/statedir"
)

// planFront is berth plan with --front: rented machines beside the cluster's own.
type planFront struct {
	frontFlags
	On    bool    `flag:"front" usage:"compare the cost and the makespan of the job on rented machines and on free nodes of the cluster; needed for the flags that only a front has"`
	Run   bool    `flag:"run" usage:"rent the machines of the point that --budget, --deadline or --only selects, and run the job on them"`
	Price float64 `flag:"cluster-price" usage:"price of one node of the cluster for one hour"`
	flags *pflag.FlagSet
}

func (f *planFront) register(fs *pflag.FlagSet) {
	f.flags, f.frontFlags = pflag.NewFlagSet("", pflag.ContinueOnError), frontDefaults
	addFlags(f.flags, f)
	fs.AddFlagSet(f.flags) // those that it has already stay as they are
}

// without returns the error for a flag that only a front has, where none is wanted.
func (f *planFront) without() (err error) {
	f.flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !f.On && flag.Name != "front" && err == nil {
			err = job.ArgumentError("--"+flag.Name, "it is used only for a front", "add --front")
		}
	})
	return err
}

// then plans a job, or draws its front.
func (f *planFront) then(cmd *cobra.Command, j *cli.Job, detach bool) error {
	if err := f.without(); err != nil {
		return err
	}
	switch {
	case j.Lines != nil:
		return f.lines(cmd, j)
	case j.Stages != nil:
		return f.stages(cmd, j)
	case !f.On:
		return planOnly(cmd, j)
	}
	f.take(j.Spec)
	phases, err := f.phases(cmd, 0, j)
	if err != nil {
		return err
	}
	if !f.Run {
		return f.show(cmd, phases...)
	}
	v, err := f.view(phases...)
	if err != nil {
		return err
	}
	rent, err := f.choice(v, phases)
	if err != nil {
		return err
	}
	j.Spec.Request.On, j.Spec.Request.Remote.Rent = registry.Rented, rent
	return submit(cmd, j, detach)
}

// lines plans a bag whose tasks are lines.
func (f *planFront) lines(cmd *cobra.Command, j *cli.Job) error {
	if f.On {
		return noFront()
	}
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	in := j.Lines
	j.Spec.Bag.Open = in.Open
	p, err := rundir.PlanTasks(cmd.Context(), h, j.Spec, in.From, in.Tasks, held(cmd.Context(), h))
	if err != nil {
		return err
	}
	return showPlan(cmd, p)
}

// noFront says of which tasks there is no front: a machine has a number of slots for tasks, which depends on what they need.
func noFront() error {
	return job.ArgumentError("--front", "there is a front only for tasks that all need the same", "remove --front, or draw one for each bag of such tasks")
}

// stages plans a job in stages, or draws its front.
func (f *planFront) stages(cmd *cobra.Command, j *cli.Job) error {
	if !f.On {
		return planStages(cmd, j)
	}
	if f.Run {
		return job.ArgumentError("--run", "each stage is a job of its own, which would rent the machines again",
			"remove --run, and write the machines of the point that you choose with berth run --machines and --idle-timeout")
	}
	all := append([]*cli.Job{j}, j.Then...)
	for _, next := range all {
		f.take(next.Spec)
	}
	phases, err := f.phases(cmd, min(1, len(all)-1), all...)
	if err != nil {
		return err
	}
	return f.show(cmd, phases...)
}

// planMapReduce plans a MapReduce job. Its flags are Hadoop's, and with --front those of a front that Hadoop has not.
func planMapReduce() *cobra.Command {
	var f planFront
	f.register(pflag.NewFlagSet("front", pflag.ContinueOnError))
	c := newMapReduce(f.then)
	c.Long += "\n\nWith --front the plan compares the cost and the makespan of the job on rented machines, with the\n" +
		"flags of berth plan bag that Hadoop Streaming does not have; bytes are those of input and profile."
	plan := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		rest, err := frontArgs(f.flags, args)
		if err != nil {
			return kindError(job.MapReduce, err)
		}
		return plan(cmd, rest)
	}
	return c
}

// frontArgs sets the flags of a front in the arguments of a MapReduce job and returns the other arguments.
func frontArgs(fs *pflag.FlagSet, args []string) (rest []string, err error) {
	hadoop := streaming.Flags()
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		name, value, attached := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		flag := fs.Lookup(name)
		if flag == nil || !strings.HasPrefix(arg, "--") || slices.ContainsFunc(hadoop, func(h streaming.Flag) bool { return h.Name == name }) {
			rest = append(rest, arg)
			continue
		}
		if !attached {
			if value = flag.NoOptDefVal; value == "" && len(args) > 0 {
				value, args = args[0], args[1:]
			}
		}
		if err := fs.Set(name, value); err != nil {
			return nil, job.ArgumentError("--"+name, fmt.Sprintf("%q is no value of it", value), "berth plan bag --help has its meaning")
		}
	}
	return rest, nil
}

// choice returns the machines of the chosen point.
func (f *planFront) choice(v front.View, phases []frontPhase) (job.Rent, error) {
	if v.Chosen == nil && f.Only == "" {
		return job.Rent{}, job.ArgumentError("--run", "no point of the front is selected", "select one with --budget, --deadline or --only")
	}
	tasks := 0
	for _, p := range phases {
		tasks += p.bag.Tasks
	}
	point := v.Front[0]
	if v.Chosen != nil {
		point = v.Front[*v.Chosen]
	}
	rent := job.Rent{Catalogue: f.Catalogue, Budget: f.Budget, Machines: catalogue.Choice(point), Predicted: catalogue.Forecast(point, tasks), Front: catalogue.Choices(v)}
	if server, err := parse.Size("--server", f.Server); err == nil {
		rent.Server = float64(server)
	}
	for _, m := range rent.Machines {
		if on, _, _ := strings.Cut(m.Name, ":"); registry.Batch(on) != nil {
			return job.Rent{}, job.ArgumentError("--run", "the selected point has nodes of the cluster, "+m.Name+", and a job cannot use both", "run the bag with --on "+on+", or make the cluster more expensive with --cluster-price")
		}
	}
	return rent, nil
}
