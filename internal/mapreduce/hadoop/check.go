package hadoop

import "berth/internal/core/job"

// Check returns an error if the order, the partitioning or the selection of fields of a job is not valid.
func Check(spec *job.MapReduceSpec) error {
	_, err := NewComparator(spec)
	if err == nil {
		_, err = NewPartitioner(spec, 1)
	}
	if err == nil && spec.Mapper.Native == job.NativeSelection {
		_, err = NewFieldSelection(spec, true)
	}
	if err == nil && spec.Reducer != nil && spec.Reducer.Native == job.NativeSelection {
		_, err = NewFieldSelection(spec, false)
	}
	return err
}
