package home

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
}

// Or returns the choice, and where it says nothing what the other one says.
func (c Choice) Or(d Choice) Choice {
	return Choice{Order: cmp.Or(c.Order, d.Order), Keep: cmp.Or(c.Keep, d.Keep), KeepRuns: cmp.Or(c.KeepRuns, d.KeepRuns)}
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
