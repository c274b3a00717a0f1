package coordinator

import (
	"cmp"

	"berth/internal/home"
	"berth/internal/sched"
)

// policy is how jobs that can run on the same allocations share them, and how many stay on disk.
type policy struct {
	order sched.Order
	// keep has elastic allocations kept as long as any job can use them; else they are given
	// back when the job is done that asked for them (engine.Config.Yield).
	keep bool
	runs *int // how many runs stay on disk once they are over, control.AllRuns for all; nil: see defaultRuns
	// standIn says where others carry on when no coordinator is left.
	standIn home.StandIn
}

// settle returns the policy: what flags say, else what the environment says, else what was
// remembered. From now on what flags say is remembered. Only the owner of the state folder
// may call it.
//
// What is remembered and makes no sense, as it is damaged or another version of berth wrote
// it, keeps no coordinator from running.
func settle(opts Options) (policy, error) {
	remembered, err := opts.Home.Choice()
	if err == nil {
		_, err = sched.ParseOrder(opts.Home.ChoicePath(), remembered.Order)
	}
	if err == nil {
		_, err = home.ParseStandIn(opts.Home.ChoicePath(), string(remembered.StandIn))
	}
	if err != nil {
		opts.Log.Warn("what was chosen before is forgotten", "err", err)
		if err := opts.Home.Forget(); err != nil {
			return policy{}, err
		}
		remembered = home.Choice{}
	}
	if err := opts.Home.Choose(opts.Said); err != nil {
		return policy{}, err
	}
	c := opts.Said.Or(opts.Env).Or(remembered)
	order, err := sched.ParseOrder("order", c.Order)
	return policy{order: order, keep: c.Keep != nil && *c.Keep, runs: c.KeepRuns, standIn: cmp.Or(c.StandIn, home.StandInOn)}, err
}
