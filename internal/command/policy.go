package command

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"berth/internal/core/job"
	"berth/internal/server/control"
	"berth/internal/server/leader"
)

// The variables in which a user says the same as with --order, --scheduler and --keep, for the
// coordinator that the next command starts.
const (
	orderVar     = "BERTH_ORDER"          // a sched.Order
	schedulerVar = "BERTH_SCHEDULER"      // the name of a sched.Scheduler
	ruleVar      = "BERTH_STRAGGLER_RULE" // a name of a straggler.Rule
	keepVar      = "BERTH_KEEP"           // 1 or 0

	standInVar      = "BERTH_STAND_IN"       // a leader.StandIn
	standInAfterVar = "BERTH_STAND_IN_AFTER" // how long workers wait before they start a stand-in

	lookVar = "BERTH_LOOK_EVERY" // the time between two looks at running tasks, for tests
)

// policy is the flags that say how a coordinator has jobs share allocations, and how long
// runs stay on disk.
type policy struct {
	Order     string `flag:"order" usage:"order of jobs that share nodes: auto, fifo or shortest (default: BERTH_ORDER, otherwise the earlier choice, otherwise auto)"`
	scheduler string
	rule      string
	Keep      bool   `flag:"keep" usage:"keep allocations as long as any of your jobs can use them (default: BERTH_KEEP, otherwise the earlier choice, otherwise no)"`
	Runs      int    `flag:"keep-runs" usage:"remove the folder of a job that is over after this number of newer jobs was submitted; 0: keep all (default: the earlier choice, otherwise 1000, but no folder of a job that ended in the last 24 hours)"`
	StandIn   string `flag:"stand-in" usage:"stand-ins that continue jobs on a cluster when no coordinator runs: on, nodes or off (default: BERTH_STAND_IN, otherwise the earlier choice, otherwise on)"`

	policies leader.Policies // from which users may choose beside those of berth
}

func (p *policy) flags(c *cobra.Command) {
	var schedulers, rules []string
	for _, s := range p.policies.AllSchedulers() {
		schedulers = append(schedulers, s.Name)
	}
	for _, r := range p.policies.AllRules() {
		rules = append(rules, r.Name())
	}
	addFlags(c.Flags(), p)
	c.Flags().StringVar(&p.scheduler, "scheduler", "", "policy that places tasks and their phases on nodes: "+strings.Join(schedulers, ", ")+" (default: BERTH_SCHEDULER, otherwise the earlier choice, otherwise "+schedulers[0]+")")
	c.Flags().StringVar(&p.rule, "straggler-rule", "", "rule that finds slow tasks while they run: "+strings.Join(rules, ", ")+" (default: BERTH_STRAGGLER_RULE, otherwise the earlier choice, otherwise "+rules[0]+")")
	_ = c.RegisterFlagCompletionFunc("scheduler", cobra.FixedCompletions(schedulers, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("straggler-rule", cobra.FixedCompletions(rules, cobra.ShellCompDirectiveNoFileComp))
}

// said returns what the flags say.
func (p *policy) said(cmd *cobra.Command) (leader.Choice, error) {
	c := leader.Choice{Order: p.Order, Scheduler: p.scheduler, StragglerRule: p.rule, StandIn: leader.StandIn(p.StandIn)}
	if cmd.Flags().Changed("keep") {
		c.Keep = &p.Keep
	}
	if cmd.Flags().Changed("keep-runs") {
		c.KeepRuns = &p.Runs
	}
	if p.Runs < 0 {
		return c, job.ArgumentError("", fmt.Sprintf("--keep-runs: %d is not a number of jobs", p.Runs), "write a whole number from 1, or 0 to keep all")
	}
	return c, p.policies.Check(c, "--order", "--scheduler", "--straggler-rule", "--stand-in")
}

// environment returns what the environment says.
func environment(p leader.Policies) (leader.Choice, error) {
	c := leader.Choice{Order: os.Getenv(orderVar), Scheduler: os.Getenv(schedulerVar), StragglerRule: os.Getenv(ruleVar), StandIn: leader.StandIn(os.Getenv(standInVar))}
	if err := p.Check(c, orderVar, schedulerVar, ruleVar, standInVar); err != nil {
		return c, err
	}
	v := os.Getenv(keepVar)
	if keep := v == "1"; keep || v == "0" {
		c.Keep = &keep
	} else if v != "" {
		return c, job.ConfigError(keepVar, fmt.Sprintf("%q is neither yes nor no", v), "write 1 for yes, 0 for no")
	}
	return c, nil
}

// checkPolicy reports a coordinator that ran already, and goes by another policy than flags say.
func checkPolicy(said leader.Choice, hello control.Hello) error {
	for _, c := range []struct {
		flag string
		same bool
		how  string
	}{
		{"--order", said.Order == "" || hello.Order == said.Order, "the coordinator runs already, in the order " + hello.Order},
		{"--scheduler", said.Scheduler == "" || hello.Scheduler == said.Scheduler, "the coordinator runs already, with the scheduler " + hello.Scheduler},
		{"--straggler-rule", said.StragglerRule == "" || hello.StragglerRule == said.StragglerRule, "the coordinator runs already, with the rule " + hello.StragglerRule},
		{"--keep-runs", said.KeepRuns == nil || hello.KeepRuns != nil && *hello.KeepRuns == *said.KeepRuns, "the coordinator runs already, with " + leader.RunsText(hello.KeepRuns)},
		{"--stand-in", said.StandIn == "" || hello.Carry == said.StandIn, "the coordinator runs already, with stand-ins " + string(hello.Carry)},
		{"--keep", said.Keep == nil || hello.Keep || !*said.Keep, "the coordinator runs already, and gives allocations back with the jobs that asked for them"},
		{"--keep", said.Keep == nil || !hello.Keep || *said.Keep, "the coordinator runs already, and keeps allocations"},
	} {
		if !c.same {
			return job.ConfigError(c.flag, c.how, "end it first with berth server stop; with --force if jobs are not over, which then go on with the new one")
		}
	}
	return nil
}
