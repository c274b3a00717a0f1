package leader

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"berth/internal/core/job"
	"berth/internal/core/sched"
	"berth/internal/core/sched/straggler"
	"berth/internal/sys/statedir"
)

// Choice is what a user chose of how coordinators have jobs share allocations, and how long
// they keep what is over. It lies beside
// the journal: the coordinator that follows one which died or had nothing to do goes by it,
// too. It is forgotten when the user stops the coordinator.
type Choice struct {
	Order string `json:"order,omitempty"` // a sched.Order; empty: nothing is chosen
	Keep  *bool  `json:"keep,omitempty"`  // allocations are kept; nil: nothing is chosen
	// Scheduler is a sched.Scheduler; empty: nothing is chosen.
	Scheduler string `json:"scheduler,omitempty"`
	// KeepRuns is how many runs stay on disk once they are over, 0 for all; nil: nothing is chosen.
	KeepRuns *int `json:"keep_runs,omitempty"`
	// StragglerRule names the rule that says which tasks are slow (straggler.ByName); empty: nothing is chosen.
	StragglerRule string `json:"straggler_rule,omitempty"`
	// StandIn says who carries on when no coordinator is left; empty: nothing is chosen.
	StandIn StandIn `json:"stand_in,omitempty"`
}

// StandIn says who carries on with the jobs of a batch system when no coordinator is left.
type StandIn string

// The values of StandIn.
const (
	StandInOn    StandIn = "on"    // workers, and a wake-up job where no allocation is left
	StandInNodes StandIn = "nodes" // workers only: nothing is submitted that no job asked for
	StandInOff   StandIn = "off"   // nobody
)

// Or returns the choice, and where it says nothing what the other one says.
func (c Choice) Or(d Choice) Choice {
	return Choice{Order: cmp.Or(c.Order, d.Order), Scheduler: cmp.Or(c.Scheduler, d.Scheduler), StragglerRule: cmp.Or(c.StragglerRule, d.StragglerRule), Keep: cmp.Or(c.Keep, d.Keep), StandIn: cmp.Or(c.StandIn, d.StandIn), KeepRuns: cmp.Or(c.KeepRuns, d.KeepRuns)}
}

// Kept reports whether allocations are kept as long as any job can use them. Else they are given
// back when the job is done that asked for them (engine.Config.Yield).
func (c Choice) Kept() bool { return c.Keep != nil && *c.Keep }

// Check returns an error where a choice makes no sense. It names what says the order, the scheduler, the rule on
// slow tasks, and who stands in.
func (c Choice) Check(order, scheduler, rule, standIn string) error {
	if _, err := sched.ParseOrder(order, c.Order); err != nil {
		return err
	}
	if _, err := sched.ParseScheduler(scheduler, c.Scheduler); err != nil {
		return err
	}
	if c.StragglerRule != "" {
		if _, err := straggler.ByName(rule, c.StragglerRule); err != nil {
			return err
		}
	}
	switch c.StandIn {
	case "", StandInOn, StandInNodes, StandInOff:
		return nil
	}
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: standIn, What: fmt.Sprintf("%q is not a choice of stand-ins", c.StandIn),
		Do: "write on, nodes or off"}
}

// choicePath returns the path of the file that remembers the choice.
func (s Seat) choicePath() string { return filepath.Join(s.home.Server(), "choice") }

// Choice returns what was chosen, the zero value where nothing was.
func (s Seat) Choice() (Choice, error) {
	var c Choice
	if err := statedir.ReadJSON(s.choicePath(), &c); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Choice{}, err
	}
	return c, nil
}

// Choose remembers a choice. Of what it says nothing about, what was chosen before stays,
// unless that cannot be read.
func (s Seat) Choose(c Choice) error {
	before, _ := s.Choice()
	if c = c.Or(before); c == before {
		return nil
	}
	return statedir.WriteJSON(s.choicePath(), c)
}

// Forget forgets what was chosen, if anything was.
func (s Seat) Forget() error {
	if err := os.Remove(s.choicePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return statedir.WriteError(s.choicePath(), err)
	}
	return nil
}

// Resolve returns the choices of a coordinator that starts, all but the number of runs: what flags say, else
// what the environment says, else what was remembered. From now on what flags say is remembered. Only the owner may call it.
//
// What is remembered and makes no sense, as it is damaged or another version of berth wrote
// it, keeps no coordinator from running.
func (s Seat) Resolve(said, env Choice, log *slog.Logger) (Choice, error) {
	remembered, err := s.Choice()
	if err == nil {
		err = remembered.Check(s.choicePath(), s.choicePath(), s.choicePath(), s.choicePath())
	}
	if err != nil {
		log.Warn("the saved choices cannot be used and are removed", "err", err)
		if err := s.Forget(); err != nil {
			return Choice{}, err
		}
		remembered = Choice{}
	}
	if err := s.Choose(said); err != nil {
		return Choice{}, err
	}
	c := said.Or(env).Or(remembered).Or(Choice{Keep: new(bool), StandIn: StandInOn, StragglerRule: straggler.Berth{}.Name()})
	order, err := sched.ParseOrder("order", c.Order)
	if err != nil {
		return c, err
	}
	scheduler, err := sched.ParseScheduler("scheduler", c.Scheduler)
	c.Order, c.Scheduler = string(order), string(scheduler)
	return c, err
}

// Rule returns the rule on slow tasks that was chosen, nil where none was.
func (c Choice) Rule() straggler.Rule {
	if r, err := straggler.ByName("", c.StragglerRule); err == nil {
		return r
	}
	return nil
}
