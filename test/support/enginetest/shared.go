package enginetest

import "berth/internal/core/job"

// Shared returns which tasks read the same file. The characters of reads are the tasks' files; 0: the task shares none.
func Shared(reads string) (shared []job.DataHost) {
	by := make(map[rune]int)
	for task, f := range reads {
		if f == '0' {
			continue
		}
		k, known := by[f]
		if !known {
			k, by[f] = len(shared), len(shared)
			shared = append(shared, job.DataHost{})
		}
		shared[k].Tasks = append(shared[k].Tasks, int32(task))
	}
	return shared
}
