package home

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"berth/internal/job"
)

// Choice is what a user chose of how coordinators have jobs share allocations, and how long
// they keep what is over. It lies beside
// the journal: the coordinator that follows one which died or had nothing to do goes by it,
// too. It is forgotten when the user stops the coordinator.
type Choice struct {
	Order string `json:"order,omitempty"` // a sched.Order; empty: nothing is chosen
	Keep  *bool  `json:"keep,omitempty"`  // allocations are kept; nil: nothing is chosen
	// KeepRuns is how many runs stay on disk once they are over, 0 for all; nil: nothing is chosen.
	KeepRuns *int `json:"keep_runs,omitempty"`
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

// ParseStandIn reads a StandIn, empty where nothing is said.
func ParseStandIn(where, s string) (StandIn, error) {
	switch v := StandIn(s); v {
	case "", StandInOn, StandInNodes, StandInOff:
		return v, nil
	}
	return "", &job.Error{Class: job.User, Code: job.CodeConfig, Where: where, What: fmt.Sprintf("%q says nothing of stand-ins", s),
		Do: "write on, nodes or off"}
}

// Or returns the choice, and where it says nothing what the other one says.
func (c Choice) Or(d Choice) Choice {
	return Choice{Order: cmp.Or(c.Order, d.Order), Keep: cmp.Or(c.Keep, d.Keep), StandIn: cmp.Or(c.StandIn, d.StandIn), KeepRuns: cmp.Or(c.KeepRuns, d.KeepRuns)}
}

// ChoicePath returns the path of the file that remembers the choice.
func (h Home) ChoicePath() string { return filepath.Join(h.Server(), "choice") }

// Choice returns what was chosen, the zero value where nothing was.
func (h Home) Choice() (Choice, error) {
	var c Choice
	err := ReadJSON(h.ChoicePath(), &c)
	if errors.Is(err, fs.ErrNotExist) {
		return Choice{}, nil
	}
	if err != nil {
		return Choice{}, err
	}
	return c, nil
}

// Choose remembers a choice. Of what it says nothing about, what was chosen before stays,
// unless that cannot be read.
func (h Home) Choose(c Choice) error {
	before, _ := h.Choice()
	if c = c.Or(before); c == before {
		return nil
	}
	return WriteJSON(h.ChoicePath(), c)
}

// Forget forgets what was chosen, if anything was.
func (h Home) Forget() error {
	if err := os.Remove(h.ChoicePath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError(h.ChoicePath(), err)
	}
	return nil
}
