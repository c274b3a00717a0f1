package command

import (
	"github.com/spf13/cobra"

	"berth/internal/command/clidoc"
)

func newDocs() *cobra.Command {
	var man string
	c := &cobra.Command{
		Use: "docs", Short: "Write docs/cli.md, or pages for man", Args: NoArguments, Hidden: true,
		Example: "  berth docs >docs/cli.md\n  berth docs --man man/man1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if man != "" {
				return clidoc.Man(man, cmd.Root())
			}
			return clidoc.Page(cmd.OutOrStdout(), cmd.Root(), exitDocs)
		},
	}
	c.Flags().StringVar(&man, "man", "", "folder for a page of man for each command")
	return c
}
