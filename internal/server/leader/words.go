package leader

import (
	"fmt"
	"strconv"
	"strings"
)

// setting is what was chosen for one flag of "berth server run", also in words.
type setting struct{ flag, value, words string }

// settings returns what was chosen.
func (c Choice) settings() (all []setting) {
	add := func(flag, value, words string) {
		if value != "" {
			all = append(all, setting{flag, value, words})
		}
	}
	add("--order", c.Order, "order "+c.Order)
	add("--scheduler", c.Scheduler, "scheduler "+c.Scheduler)
	add("--straggler-rule", c.StragglerRule, "rule on slow tasks "+c.StragglerRule)
	switch {
	case c.Keep == nil:
	case *c.Keep:
		add("--keep", "true", "allocations kept")
	default:
		add("--keep", "false", "allocations given back with their jobs")
	}
	if c.KeepRuns != nil {
		add("--keep-runs", strconv.Itoa(*c.KeepRuns), RunsText(c.KeepRuns))
	}
	add("--stand-in", string(c.StandIn), "stand-ins "+string(c.StandIn))
	return all
}

// Args returns the flags of "berth server run" for the choice.
func (c Choice) Args() (args []string) {
	for _, s := range c.settings() {
		args = append(args, s.flag+"="+s.value)
	}
	return args
}

// Words describes the choice, and returns an empty text if nothing was chosen.
func (c Choice) Words() string {
	var parts []string
	for _, s := range c.settings() {
		parts = append(parts, s.words)
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
