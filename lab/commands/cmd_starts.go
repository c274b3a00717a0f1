package commands

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/command"
	"berth/internal/core/job"
	"berth/internal/simulate/replicate"
	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/swf"
	"berth/lab/starts"
)

const startsLong = `Compare predictions of when jobs start, on a log of a cluster in the Standard Workload Format (plain or gzip)
that EASY backfilling has run, with the wall times that its users requested. Of the jobs that had to wait some are drawn,
and predicted from what a batch system shows when they are submitted:

  limits   every job runs to its limit, and nobody else comes
  history  50 simulations of the queue with run times and arrivals of the last 7 days (internal/core/starts)

At the same instants a job that can run on an eighth, a quarter, a half or all of the nodes chooses its size by the mean
turnaround that it expects. It has an hour of work for all nodes, or an eighth of that. An oracle knows all run times and
arrivals. Odd lines of the log are left out.`

func newStarts() *cobra.Command {
	var o startsOptions
	c := &cobra.Command{
		Use: "starts", Short: "Compare predictions of when jobs of a log start", Args: command.NoArguments, Long: startsLong,
		Example: "  berth-lab starts --swf SDSC-SP2-1998-4.2-cln.swf.gz --nodes 128 --samples 2000 --seed 1",
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := o.run(cmd.InOrStdin())
			if err != nil {
				return err
			}
			return command.Show(cmd, r, func(w io.Writer) error {
				text := startsTable(r)
				if o.row {
					text = o.tableRow(r)
				}
				_, err := io.WriteString(w, text)
				return err
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&o.path, "swf", "", "the log; - is standard input")
	fs.IntVar(&o.nodes, "nodes", 0, "processors of the cluster (default: as in the log's header)")
	fs.IntVar(&o.samples, "samples", 2000, "how many jobs are predicted")
	fs.BoolVar(&o.row, "row", false, "print one row of the table in lab/results/starts.md")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the sample and of the simulations")
	return c
}

// startsOptions are the options of berth-lab starts.
type startsOptions struct {
	path           string
	nodes, samples int
	seed           uint64
	row            bool
}

func (o *startsOptions) run(in io.Reader) (starts.Report, error) {
	switch {
	case o.path == "":
		return starts.Report{}, job.ConfigError("--swf", "there is no log", "name a file in the Standard Workload Format")
	case o.samples < 1:
		return starts.Report{}, job.ConfigError("--samples", fmt.Sprintf("%d jobs cannot be predicted", o.samples), "give at least 1")
	case o.nodes < 0:
		return starts.Report{}, job.ConfigError("--nodes", fmt.Sprintf("a cluster cannot have %d nodes", o.nodes), "give at least 1")
	}
	options := swf.Options{Procs: o.nodes, Estimates: swf.User, Odd: workload.Skip}
	log, err := openLog(in, o.path, options)
	if err != nil {
		return starts.Report{}, err
	}
	if options.Procs == 0 {
		options.Procs = log.Header.Procs()
	}
	if options.Procs == 0 {
		return starts.Report{}, job.ConfigError(log.Name, "its header does not give the number of processors of the cluster", "give it with --nodes")
	}
	jobs, err := log.Rigid(options)
	if err == nil {
		err = log.None()
	}
	if err != nil {
		return starts.Report{}, err
	}
	r, ok := starts.Compare(options.Procs, jobs, o.samples, o.seed)
	if !ok {
		return starts.Report{}, job.ConfigError(log.Name, "no job had to wait after the first 7 days", "give fewer --nodes, or another log")
	}
	return r, nil
}

// startsTable returns the report as two tables of Markdown.
func startsTable(r starts.Report) string {
	percent := func(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) }
	var b strings.Builder
	rows := [][]string{{"PREDICTOR", "JOBS", "WITHIN 10 MIN %", "MEAN ERROR s", "TO LIMITS", "IN BAND OF 80 %"}}
	for _, x := range r.Rows {
		rows = append(rows, []string{x.Predictor, strconv.Itoa(x.Jobs), percent(x.Within10Min), strconv.FormatFloat(x.MAE, 'f', 0, 64),
			strconv.FormatFloat(x.MAERatio, 'f', 3, 64), percent(x.Coverage)})
	}
	replicate.WriteGrid(&b, rows, 1)
	b.WriteString("\n")
	rows = [][]string{{"WORK node-h", "SIZE BY", "MEAN TURNAROUND s"}}
	for _, x := range r.Choice {
		rows = append(rows, []string{strconv.FormatFloat(x.Work, 'g', 4, 64), x.By, strconv.FormatFloat(x.Turnaround, 'f', 0, 64)})
	}
	replicate.WriteGrid(&b, rows, 2)
	return b.String()
}

// tableRow returns the report as a row of Markdown: for each figure that of limits, then that of history; of choices how many percent sooner
// than by limits a job is that chooses by history, then with an oracle.
func (o *startsOptions) tableRow(r starts.Report) string {
	percent := func(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) }
	limits, history := r.Rows[0], r.Rows[1]
	cells := []string{strings.TrimSuffix(filepath.Base(o.path), ".swf.gz"), strconv.FormatUint(o.seed, 10), strconv.Itoa(history.Jobs),
		percent(limits.Within10Min) + " / " + percent(history.Within10Min),
		strconv.FormatFloat(limits.MAE, 'f', 0, 64) + " / " + strconv.FormatFloat(history.MAE, 'f', 0, 64),
		strconv.FormatFloat(history.MAERatio, 'f', 3, 64), percent(history.Coverage)}
	of := map[string]float64{}
	for _, x := range r.Choice { // of each work the one by limits comes first
		of[x.By] = x.Turnaround
		if x.By == "oracle" {
			cells = append(cells, percent(1-of["history"]/of["limits"])+" / "+percent(1-of["oracle"]/of["limits"]))
		}
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
