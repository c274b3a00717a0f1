package slurm

import (
	"path/filepath"

	"berth/internal/job"
)

// JobOf returns the id of the Slurm job that is an allocation, by its folder in that of
// all allocations (Options.Dir); "" where none is known.
func JobOf(dir string, id job.AllocID) string {
	a := &alloc{id: id, dir: filepath.Join(dir, string(id))}
	noted, _ := a.noted()
	return noted
}
