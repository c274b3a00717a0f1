package commands

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/command"
	"berth/lab/memory"
)

const memoryLong = `Compare rules that choose the memory of tasks on traces of workflows: files trace_NAME.csv or .csv.gz with the columns
process, rchar (bytes read), rss, memory (asked for) and realtime (milliseconds) of Nextflow.

  user        what the users asked for
  p95         the 95th percentile of the tasks before, then twice as much
  tovar       the first allocation of least expected waste (Tovar et al.)
  witt-std    a line over the size of the input and the deviation of its errors (Witt et al.); witt-under: of those
              that were too low
  sizey       Sizey with two of its four models
  berth       what berth does

For each application 30 % of the tasks, drawn at random, are known before. An attempt that runs out of memory does so at
its end. Figures are means over the repetitions.`

func newMemory() *cobra.Command {
	var dir string
	var repetitions int
	var seed uint64
	c := &cobra.Command{
		Use: "memory", Short: "Compare rules that choose the memory of tasks", Args: command.NoArguments, Long: memoryLong,
		Example: "  berth-lab memory --traces traces/memory",
		RunE: func(cmd *cobra.Command, _ []string) error {
			traces, err := memory.Load(dir)
			if err != nil {
				return err
			}
			r := memory.Compare(traces, repetitions, seed)
			return command.Show(cmd, r, func(w io.Writer) error {
				_, err := io.WriteString(w, memoryTable(r))
				return err
			})
		},
	}
	c.Flags().StringVar(&dir, "traces", ".", "folder of the traces")
	c.Flags().IntVar(&repetitions, "repetitions", 5, "how often each application is run")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the first repetition")
	return c
}

// memoryTable returns the rows as a table of Markdown.
func memoryTable(r memory.Report) string {
	var b strings.Builder
	b.WriteString("| trace | method | waste, GB·h | failed tries | run time, h |\n|---|---|--:|--:|--:|\n")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "| %s | %s | %.3f | %.1f | %.2f |\n", row.Trace, row.Method, row.WasteGBh, row.FailedTries, row.RuntimeH)
	}
	return b.String()
}
