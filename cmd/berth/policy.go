package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"berth/internal/control"
	"berth/internal/job"
	"berth/internal/sched"
)

// policy is what a coordinator goes by where jobs can run on the same allocations.
type policy struct {
	named string // the flag --order
	order sched.Order
	keep  bool
}

func (p *policy) flags(c *cobra.Command) {
	c.Flags().StringVar(&p.named, "order", "", "who goes first among jobs on the same nodes: auto, fifo or shortest (default: what BERTH_ORDER says, else auto)")
	c.Flags().BoolVar(&p.keep, "keep", false, "keep what was asked of a cluster as long as any job can use it (default: what BERTH_KEEP says, else no)")
}

// settle takes from the environment what no flag says.
func (p *policy) settle(cmd *cobra.Command) (err error) {
	where, name := "--order", p.named
	if name == "" {
		where, name = sched.OrderVar, os.Getenv(sched.OrderVar)
	}
	if p.order, err = sched.ParseOrder(where, name); err != nil || cmd.Flags().Changed("keep") {
		return err
	}
	switch v := os.Getenv(sched.KeepVar); v {
	case "", "0":
	case "1":
		p.keep = true
	default:
		return &job.Error{Class: job.User, Code: job.CodeConfig, Where: sched.KeepVar,
			What: fmt.Sprintf("%q is neither yes nor no", v), Do: "write 1 for yes, 0 or nothing for no"}
	}
	return nil
}

// args returns the flags of "berth server run" that say the same.
func (p *policy) args() []string {
	return []string{"--order", string(p.order), fmt.Sprintf("--keep=%t", p.keep)}
}

// check reports a coordinator that ran already, and goes by another policy than flags say.
func (p *policy) check(cmd *cobra.Command, c *control.Client) error {
	order, keep := p.named != "", cmd.Flags().Changed("keep")
	if !order && !keep {
		return nil
	}
	hello, err := c.Hello(cmd.Context())
	if err != nil {
		return err
	}
	where, what := "--order", "the coordinator runs already, in the order "+hello.Order
	switch {
	case order && hello.Order != string(p.order):
	case keep && hello.Keep && !p.keep:
		where, what = "--keep", "the coordinator runs already, and keeps allocations"
	case keep && !hello.Keep && p.keep:
		where, what = "--keep", "the coordinator runs already, and gives allocations back with the jobs that asked for them"
	default:
		return nil
	}
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: where, What: what,
		Do: "end it first with berth server stop; with --force if jobs are not over, which then go on with the new one"}
}
