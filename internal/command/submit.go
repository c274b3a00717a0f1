package command

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/command/cli"
	"berth/internal/core/job"
	"berth/internal/driver/local"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/results"
	"berth/internal/show/ui"
	"berth/internal/sys/procattr"
	"berth/internal/sys/statedir"
)

// submit plans a job, hands it to the coordinator and, unless detached, shows it to its end. Tasks in lines go along, so that
// no bag is left without them if this command is killed.
func submit(cmd *cobra.Command, j *cli.Job, detach bool) error {
	if j.Stages != nil {
		return submitStages(cmd, j, detach)
	}
	h, err := statedir.Open()
	if err != nil {
		return err
	}
	if err := nameAfter(cmd.Context(), h, j.Spec); err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	var live *results.Live
	as := handed{begin: func(r statedir.Run) (err error) {
		if j.Spec.Bag != nil && j.Spec.Bag.Ungroup {
			live, err = results.OpenLive(r, os.Stdout, os.Stderr)
		}
		return err
	}}
	if in := j.Lines; in != nil {
		first := control.Add{From: in.From, Tasks: in.Texts, Key: rand.Text()} // with a key, as the call is repeated if a coordinator dies
		as.with, detach = control.Submit{First: &first, Close: !in.Open}, detach || in.Open
	}
	r, err := hand(ctx, h, j.Spec, j.Entries, as)
	if err != nil {
		return err
	}
	cmd.SetContext(ctx)
	err = finish(cmd, r, detach, report.JobView{})
	if live != nil {
		err = cmp.Or(err, live.Close())
	}
	return err
}

// handed is what belongs to handing a job to the coordinator. The zero value is for a job with nothing besides.
type handed struct {
	begin func(statedir.Run) error // is called with its run just before; nil: nothing is
	with  control.Submit           // goes along
}

// hand plans a job and hands it to the coordinator.
func hand(ctx context.Context, h statedir.Home, spec *job.Spec, entries []job.Entry, as handed) (statedir.Run, error) {
	d, err := rundir.Decide(ctx, h, spec, entries, held(ctx, h))
	if err != nil {
		return statedir.Run{}, err
	}
	if d.Plan.Alloc.On == local.Name {
		if err := cli.CheckPresent(d.Spec); err != nil {
			return statedir.Run{}, err
		}
	}
	inheritTo(ctx, h, d)
	if err := h.AwaitNumbers(control.Moment, func(why string) { control.Tell(ctx, why) }); err != nil {
		return statedir.Run{}, err
	}
	r, err := rundir.Prepare(h, d)
	if err != nil {
		return statedir.Run{}, err
	}
	if as.begin != nil {
		if err := as.begin(r); err != nil {
			return statedir.Run{}, errors.Join(err, rundir.Discard(r, spec))
		}
	}
	// An interrupt while it is handed in counts once it is known to be.
	if err := handIn(context.WithoutCancel(ctx), r, as.with); err != nil {
		return statedir.Run{}, errors.Join(err, rundir.Discard(r, spec))
	}
	return r, nil
}

// held returns a function that asks the coordinator for the user's allocations of batch systems: none where no
// coordinator runs.
func held(ctx context.Context, h statedir.Home) func() []job.Live {
	return func() []job.Live {
		all, err := control.NewClient(h).Held(ctx)
		if err != nil {
			return nil // whoever needs the coordinator later hears of it
		}
		return all
	}
}

// inheritTo notes what tasks get of this command, as if it had started them. On a cluster that is the file mode
// mask alone: a batch system has rules of its own on which limits go along to nodes.
func inheritTo(ctx context.Context, h statedir.Home, d *rundir.Decided) {
	own := procattr.Own()
	if d.Plan.Alloc.Elastic {
		own = job.Inherit{Umask: own.Umask}
	} else if hello, err := control.NewClient(h).Hello(ctx); err == nil {
		if note := procattr.Kept(hello.PID, &own); note != "" {
			d.Plan.Notes = append(d.Plan.Notes, note)
		}
	}
	d.Spec.Inherit = &own
	if m := d.Spec.MapReduce; m != nil && own.Umask != nil {
		m.PartMode = uint32(0o666 &^ *own.Umask)
	}
}

// handIn has a coordinator take a prepared run on. If it dies before it answers,
// the next one is asked, which knows whether it was taken on.
func handIn(ctx context.Context, r statedir.Run, with control.Submit) error {
	with.ID = r.ID
	return control.Call(ctx, r.Home, func(c *control.Client) error { return c.Submit(ctx, with) })
}

// finish shows a job to its end, or says its id where it is to be left alone.
// told is what its user knows of it already.
func finish(cmd *cobra.Command, r statedir.Run, detach bool, told report.JobView) error {
	if detach {
		return reply(cmd, ui.Submitted{ID: r.ID}, "%s", r.ID)
	}
	v, err := showToEnd(cmd, r, attachment{owner: true, told: told})
	if err == nil && wantJSON(cmd) {
		err = ui.JSON(cmd.OutOrStdout(), v)
	}
	if err != nil {
		return err
	}
	return jobExit(v)
}

// unknown reports whether the coordinator does not have the job that was asked for.
func unknown(err error) bool { return job.CodeOf(err) == job.CodeArguments }
