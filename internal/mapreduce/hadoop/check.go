package hadoop

import "berth/internal/job"

// Check finds what is wrong with a job's order and partitioning before anything runs.
func Check(spec *job.MapReduceSpec) error {
	if _, err := NewComparator(spec); err != nil {
		return err
	}
	_, err := NewPartitioner(spec, 1)
	return err
}
