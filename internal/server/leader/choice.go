package leader

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/sys/statedir"
)

// Choice has the user's settings for coordinators: how jobs share allocations, and how long runs are kept. It is stored
// beside the journal, so that it also applies to the coordinator that follows one that died or ended without work. It
// is removed when the user stops the coordinator.
type Choice struct {
	Order string `json:"order,omitempty"` // may be absent: not given
	Keep  *bool  `json:"keep,omitempty"`  // may be absent: not given
	// Scheduler is the name of a sched.Scheduler; empty: not chosen.
	Scheduler string `json:"scheduler,omitempty"` // may be absent: not given
	// KeepRuns is the number of runs that stay on disk when they are over, 0 for all; nil: not chosen.
	KeepRuns *int `json:"keep_runs,omitempty"` // may be absent: not given
	// StragglerRule is the name of the rule that finds stragglers; empty: not chosen.
	StragglerRule string `json:"straggler_rule,omitempty"` // may be absent: not given
	// StandIn says who carries on when no coordinator is left; empty: nothing is chosen.
	StandIn StandIn `json:"stand_in,omitempty"` // may be absent: not given
}

// StandIn says who carries on with the jobs of a batch system when no coordinator is left.
type StandIn string

// The values of StandIn.
const (
	StandInOn    StandIn = "on"    // workers, and a wake-up job where no allocation is left
	StandInNodes StandIn = "nodes" // workers only: nothing is submitted that no job asked for
	StandInOff   StandIn = "off"   // nobody
)

// Or returns the choice, completed by d where c chooses nothing.
func (c Choice) Or(d Choice) Choice {
	return Choice{Order: cmp.Or(c.Order, d.Order), Scheduler: cmp.Or(c.Scheduler, d.Scheduler), StragglerRule: cmp.Or(c.StragglerRule, d.StragglerRule), Keep: cmp.Or(c.Keep, d.Keep), StandIn: cmp.Or(c.StandIn, d.StandIn), KeepRuns: cmp.Or(c.KeepRuns, d.KeepRuns)}
}

// Kept reports whether allocations are kept as long as any job can use them. Otherwise they are given back when the job
// that requested them is done (engine.Config.Yield).
func (c Choice) Kept() bool { return c.Keep != nil && *c.Keep }

// choicePath returns the path of the file with the choice.
func (s Seat) choicePath() string { return filepath.Join(s.home.Server(), "choice") }

// Choice returns the stored choice, or the zero value if there is none.
func (s Seat) Choice() (Choice, error) {
	var c Choice
	if err := statedir.ReadJSON(s.choicePath(), &c); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Choice{}, err
	}
	return c, nil
}

// Choose stores a choice. Settings that c does not choose keep their stored value, unless the stored choice cannot be
// read.
func (s Seat) Choose(c Choice) error {
	before, _ := s.Choice()
	if c = c.Or(before); c == before {
		return nil
	}
	return statedir.WriteJSON(s.choicePath(), c)
}

// Forget removes the stored choice, if any.
func (s Seat) Forget() error {
	return remove(s.choicePath())
}

// remove removes a file, if it exists.
func remove(path string) error {
	return statedir.WriteError(path, os.RemoveAll(path))
}
