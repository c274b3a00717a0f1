package hadoop

import "berth/internal/core/job"

// Check returns an error if the order, the partitioning or the selection of fields of a job is not valid.
func Check(spec *job.MapReduceSpec) error {
	if _, err := NewComparator(spec); err != nil {
		return err
	}
	if _, err := NewPartitioner(spec, 1); err != nil {
		return err
	}
	if spec.Mapper.Native == job.NativeSelection {
		if _, err := NewFieldSelection(spec, true); err != nil {
			return err
		}
	}
	if spec.Reducer != nil && spec.Reducer.Native == job.NativeSelection {
		_, err := NewFieldSelection(spec, false)
		return err
	}
	return nil
}
