package transfer

import (
	"cmp"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"

	"berth/internal/core/job"
	"berth/internal/node/files"
)

// maxShared is the number of tasks of a bag up to which their files are compared before the bag starts.
const maxShared = 100_000

// Shared returns which tasks of a bag need the same file, the largest file first. If a task shares several files with others, the largest counts,
// and folders before files. What all tasks need does not count. at returns the entry of a task.
func Shared(spec *job.Spec, tasks int, at func(i int) job.Entry) (shared []job.DataHost) {
	if tasks > maxShared {
		return nil
	}
	by := make(map[string][]int32) // tasks by the names in their commands and inputs
	for i := range tasks {
		names := spec.Bag.InputPatterns(at(i), i)
		for _, w := range spec.Bag.Words(at(i), i) {
			if w.Own { // others are the same for all tasks
				names = append(names, path.Clean(w.Text))
			}
		}
		for _, name := range names {
			by[name] = append(by[name], int32(i))
		}
	}
	sizes, outputs := make(map[string]int64), spec.Bag.OutputShapes()
	for name, of := range by {
		by[name] = slices.Compact(of) // a task may name it several times
		if n := len(by[name]); n == 1 || n == tasks || !job.Below(name) || files.Leaves(outputs, name) {
			continue
		}
		if st, err := os.Stat(filepath.Join(spec.Dir, name)); err == nil { // else it is no file, or the task creates it
			sizes[name] = st.Size()
			if st.IsDir() {
				sizes[name] = math.MaxInt64
			}
		}
	}
	taken := make([]bool, tasks)
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) }) {
		d := job.DataHost{}
		for _, task := range by[name] {
			if !taken[task] {
				taken[task], d.Tasks = true, append(d.Tasks, task)
			}
		}
		if d.Tasks != nil {
			shared = append(shared, d)
		}
	}
	return shared
}
