package command

import (
	"github.com/spf13/cobra"

	"berth/internal/command/clidoc"
)

func newDocs() *cobra.Command {
	var o struct {
		Man string `flag:"man" usage:"folder for a page of man for each command"`
	}
	c := command("docs", NoArguments, func(cmd *cobra.Command, _ []string) error { return clidoc.Man(o.Man, cmd.Root()) })
	c.Hidden = true
	addFlags(c.Flags(), &o)
	_ = c.MarkFlagRequired("man") // the flag is there
	return c
}
