package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"berth"
	"berth/internal/compat/hqhome"
	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newHQHome() *cobra.Command {
	return command("hq-home", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		return writeHome(cmd, args[0], "export PATH=%s:$PATH\n", "bin", func(dir, berth string) error { return hqhome.Write(dir, berth, args[1:]) })
	})
}

// newHQ is what bin/hq of a folder of "berth hq-home" runs.
func newHQ() *cobra.Command {
	c := command("hq", nil, func(cmd *cobra.Command, args []string) error {
		dir := os.Getenv("BERTH_HQ_HOME")
		if dir == "" {
			return job.ArgumentError("hq", "it is not known which folder has its jobs", "run the hq of: berth hq-home DIR")
		}
		h, err := statedir.Open()
		if err != nil {
			return err
		}
		// What is told is held back: a program that reads the number of a job may read standard error with it.
		var said bytes.Buffer
		ctx := control.WithNotice(cmd.Context(), func(text string) { _ = ui.Say(&said, "berth: %s", text) })
		c := hqhome.Command{Out: cmd.OutOrStdout(), Dir: dir, Flags: os.Getenv("BERTH_HQ_FLAGS"), Berth: berth.Version(), Bags: hqBags{ctx, h, &said}}
		err = c.Run(args)
		if err != nil || !c.Quiet() {
			_, _ = said.WriteTo(cmd.ErrOrStderr())
		}
		return err
	})
	c.Hidden, c.DisableFlagParsing = true, true
	return c
}

// hqBags does for hq what berth bag --open, add, watch and cancel do.
type hqBags struct {
	ctx  context.Context
	h    statedir.Home
	said io.Writer // what people are told
}

func (b hqBags) Open(flags []string) (job.ID, error) {
	berth, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(b.ctx, berth, append(append([]string{"bag", "--open", "--json"}, flags...), "--", "/bin/sh", "-c")...)
	cmd.Stderr = b.said
	out, err := cmd.Output()
	if err != nil {
		return "", job.ArgumentError("hq submit", "no bag could be opened", "").Because(err)
	}
	var said ui.Submitted
	return said.ID, json.Unmarshal(out, &said)
}

func (b hqBags) Add(bag job.ID, line map[string]any) (int, error) {
	text, err := json.Marshal(line)
	if err != nil {
		return 0, err
	}
	var added control.Added
	req := control.Add{Key: rand.Text(), From: "hq submit", Tasks: []json.RawMessage{text}}
	err = control.Call(b.ctx, b.h, func(c *control.Client) (err error) {
		added, err = c.Add(b.ctx, bag, req)
		return err
	})
	return added.First, err
}

// Closed reports whether a task was refused because of its bag and not because of itself.
func (b hqBags) Closed(err error) bool {
	var e *job.Error
	return errors.As(err, &e) && e.Class == job.User && e.Code != job.CodeConfig
}

// errTold ends the reading of events once all that have happened are read.
var errTold = errors.New("all events are told")

func (b hqBags) States(bag job.ID) (map[int]hqhome.State, bool, error) {
	r, err := find(b.h, string(bag))
	if err != nil {
		return nil, true, nil //nolint:nilerr // it was forgotten
	}
	states, over := make(map[int]hqhome.State), false
	err = rundir.Events(b.ctx, r, 0, func(e report.Event) error {
		if over = over || e.Event == "over"; e.Task != nil {
			states[*e.Task] = hqState(e, states[*e.Task])
		}
		return nil
	}, func(bool) error { return errTold }, rundir.Poll)
	if errors.Is(err, errTold) {
		err = nil
	}
	return states, over, err
}

// hqState returns the state of a task after an event.
func hqState(e report.Event, before hqhome.State) hqhome.State {
	switch {
	case e.Event == "started":
		return hqhome.Running
	case e.Final && e.Outcome == "done":
		return hqhome.Finished
	case e.Final && (e.Event == "cancelled" || e.Outcome == "killed"):
		return hqhome.Canceled
	case e.Final:
		return hqhome.Failed
	case e.Event == "ended" && before != hqhome.Finished && before != hqhome.Failed:
		return hqhome.Waiting
	case before == "":
		return hqhome.Waiting
	}
	return before
}

func (b hqBags) Cancel(bag job.ID, tasks []string) error {
	return control.Call(b.ctx, b.h, func(c *control.Client) error { return c.Cancel(b.ctx, bag, "hq job cancel", tasks...) })
}

func (b hqBags) CloseBag(bag job.ID) error {
	return control.Call(b.ctx, b.h, func(c *control.Client) error { return c.CloseBag(b.ctx, bag) })
}

func (b hqBags) Ensure() error {
	_, err := control.Ensure(b.ctx, b.h)
	return err
}

func (b hqBags) Pause() error {
	select {
	case <-time.After(time.Second):
		return nil
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}
