package statedir

import (
	"errors"
	"io/fs"
	"path/filepath"
)

func (h Home) limits() string { return filepath.Join(h.Server(), "limits") }

// Limits returns how much all tasks of the user together may use of what they share, by name (job.Uses).
func (h Home) Limits() (map[string]int, error) {
	limits := make(map[string]int)
	if err := ReadJSON(h.limits(), &limits); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return limits, nil
}

// SetLimits replaces them.
func (h Home) SetLimits(limits map[string]int) error { return WriteJSON(h.limits(), limits) }
