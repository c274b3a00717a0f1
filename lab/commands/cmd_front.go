package commands

import (
	"io"

	"github.com/spf13/cobra"

	"berth/internal/command"
	"berth/lab/rented"
)

const paperFrontLong = `Repeat figures 3, 4 and 5 of a paper on bags of tasks on rented machines (Dumitru et al.): 30 machines of one type, the
front of up to ten machines of each of three types, which are paid by the hour, and four of its points from the cheapest
to the tipping point. Runs are simulated. The paper does not print the times of its tasks nor the capacity of its data
server; three assumptions about them are compared.`

func newPaperFront() *cobra.Command {
	return &cobra.Command{
		Use: "paper-front", Short: "Repeat the figures of a paper on rented machines", Args: command.NoArguments, Long: paperFrontLong, Example: "  berth-lab paper-front",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := rented.Repeat()
			return command.Show(cmd, r, func(w io.Writer) error {
				_, err := io.WriteString(w, r.Markdown())
				return err
			})
		},
	}
}
