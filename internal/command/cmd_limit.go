package command

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/server/control"
	"berth/internal/show/ui"
	"berth/internal/sys/statedir"
)

func newLimit() *cobra.Command {
	var o struct {
		Remove bool `flag:"remove" usage:"remove the limits of these names"`
	}
	c := command("limit", nil, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && o.Remove {
			return job.ArgumentError("--remove", "it wants the names whose limits are removed", "as in: berth limit --remove db")
		}
		if len(args) == 0 {
			return showLimits(cmd)
		}
		change := control.SetLimits{Limits: make(map[string]int)}
		for _, arg := range args {
			if o.Remove {
				change.Remove = append(change.Remove, arg)
				continue
			}
			name, n, err := parse.Amount("", arg, 0)
			if err != nil {
				return err
			}
			change.Limits[name] = n
		}
		h, err := statedir.Open()
		if err != nil {
			return err
		}
		var limits []job.Limit
		err = control.Call(cmd.Context(), h, func(c *control.Client) (err error) {
			limits, err = c.Limits(cmd.Context(), &change)
			return err
		})
		if err != nil {
			return err
		}
		return tellLimits(cmd, limits)
	})
	addFlags(c.Flags(), &o)
	return c
}

// showLimits prints the limits, also if no coordinator runs.
func showLimits(cmd *cobra.Command) error {
	h, err := statedir.Existing()
	if err != nil {
		return err
	}
	limits, err := limitsOf(cmd, h)
	if err != nil {
		return err
	}
	return tellLimits(cmd, limits)
}

// limitsOf returns the limits and what is used of them.
func limitsOf(cmd *cobra.Command, h statedir.Home) ([]job.Limit, error) {
	limits, err := control.NewClient(h).Limits(cmd.Context(), nil)
	if !errors.Is(err, control.ErrNoServer) {
		return limits, err
	}
	stored, err := h.Limits()
	return job.LimitsOf(stored), err
}

func tellLimits(cmd *cobra.Command, limits []job.Limit) error {
	return Show(cmd, control.Limits{Limits: append([]job.Limit{}, limits...)}, func(w io.Writer) error {
		if len(limits) == 0 {
			return ui.Say(w, "there are no limits: set one with berth limit NAME=N")
		}
		for _, l := range limits {
			if err := ui.Say(w, "%s", l.Words()); err != nil {
				return err
			}
		}
		return nil
	})
}
