package leader

import (
	"fmt"
	"strings"
)

// Args returns the flags of "berth server run" for the choice.
func (c Choice) Args() []string {
	var args []string
	if c.Order != "" {
		args = append(args, "--order", c.Order)
	}
	if c.Scheduler != "" {
		args = append(args, "--scheduler", c.Scheduler)
	}
	if c.StragglerRule != "" {
		args = append(args, "--straggler-rule", c.StragglerRule)
	}
	if c.Keep != nil {
		args = append(args, fmt.Sprintf("--keep=%t", *c.Keep))
	}
	if c.KeepRuns != nil {
		args = append(args, fmt.Sprintf("--keep-runs=%d", *c.KeepRuns))
	}
	if c.StandIn != "" {
		args = append(args, "--stand-in", string(c.StandIn))
	}
	return args
}

// Words describes the choice, and returns an empty text if nothing was chosen.
func (c Choice) Words() string {
	var parts []string
	if c.Order != "" {
		parts = append(parts, "order "+c.Order)
	}
	if c.Scheduler != "" {
		parts = append(parts, "scheduler "+c.Scheduler)
	}
	if c.StragglerRule != "" {
		parts = append(parts, "rule on slow tasks "+c.StragglerRule)
	}
	switch {
	case c.Keep == nil:
	case *c.Keep:
		parts = append(parts, "allocations kept")
	default:
		parts = append(parts, "allocations given back with their jobs")
	}
	if c.KeepRuns != nil {
		parts = append(parts, RunsText(c.KeepRuns))
	}
	if c.StandIn != "" {
		parts = append(parts, "stand-ins "+string(c.StandIn))
	}
	return strings.Join(parts, ", ")
}

// RunsText describes how many runs stay on disk.
func RunsText(n *int) string {
	switch {
	case n == nil:
		return "runs kept as by default"
	case *n == 0:
		return "all runs kept"
	default:
		return fmt.Sprintf("%d runs kept", *n)
	}
}
