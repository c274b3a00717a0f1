package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/evaluate"
	"berth/internal/job"
)

func newSimulateFig4() *cobra.Command {
	e := &experiment{}
	var shapes, everies string
	c := &cobra.Command{
		Use: "fig4", Short: "The adaptor beside naive requests, under other loads", Args: noArguments,
		Long: `Simulate the paper's figure 4: HPC and MapReduce jobs as in table 2, (a) with HPC jobs more
or less often, by the shape of the gamma distribution between them, and (b) with MapReduce
jobs more or less often.`,
		Example: "  berth simulate fig4 --svg fig4.svg\n  berth simulate fig4 --shapes 4,10.23,60 --mr-interarrivals 7s,14s,60s --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := e.sweep(everies)
			if err != nil {
				return err
			}
			if w.Shapes, err = numbers("--shapes", shapes); err != nil {
				return err
			}
			return e.run(cmd, "fig4", func(ctx context.Context, s evaluate.Settings) (*evaluate.Report, error) { return s.Fig4(ctx, w) })
		},
	}
	e.flags(c, "naive,paper,several,yield")
	e.draws(c)
	e.limit(c, oneTime)
	e.hpcFlags(c)
	e.mrFlags(c, 0)
	c.Flags().StringVar(&shapes, "shapes", "4,7,10.23,15,20,30,45,60", "(a): shapes of the gamma distribution between HPC jobs")
	c.Flags().StringVar(&everies, "mr-interarrivals", "5s,7s,10s,14s,20s,30s,60s", "(b): mean times between MapReduce jobs")
	return c
}

// sweep reads the flags of an experiment over loads.
func (e *experiment) sweep(everies string) (evaluate.Sweep, error) {
	w := evaluate.Sweep{}
	var err error
	if w.Cases, err = e.take(); err != nil {
		return w, err
	}
	if w.MaxTime, err = job.ParseLimit("--max-time", e.maxTime); err != nil {
		return w, err
	}
	w.Everies, err = times("--mr-interarrivals", everies, positive)
	w.HPC, w.MR = e.hpc, e.mr
	return w, err
}

// numbers parses a list of positive numbers.
func numbers(flag, list string) ([]float64, error) {
	var vs []float64
	for part := range strings.SplitSeq(list, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0 && v < 1e6) {
			return nil, configError(flag, fmt.Sprintf("%q is no positive number", part), "")
		}
		vs = append(vs, v)
	}
	return vs, nil
}
