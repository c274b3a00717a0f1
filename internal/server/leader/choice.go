package leader

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/sys/statedir"
)

// Choice is what a user chose of how coordinators have jobs share allocations, and how long
// they keep what is over. It lies beside
// the journal: the coordinator that follows one which died or had nothing to do goes by it,
// too. It is forgotten when the user stops the coordinator.
type Choice struct {
	Order string `json:"order,omitempty"` // a sched.Order; empty: nothing is chosen
	Keep  *bool  `json:"keep,omitempty"`  // allocations are kept; nil: nothing is chosen
	// Scheduler names a sched.Scheduler; empty: nothing is chosen.
	Scheduler string `json:"scheduler,omitempty"`
	// KeepRuns is how many runs stay on disk once they are over, 0 for all; nil: nothing is chosen.
	KeepRuns *int `json:"keep_runs,omitempty"`
	// StragglerRule names the rule that says which tasks are slow; empty: nothing is chosen.
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
