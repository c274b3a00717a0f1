// Package hadoop contains Hadoop's rules for the records of a job: where the key of a line ends, comparators,
// partitioners, options about fields of keys, and the reducers "aggregate" and FieldSelectionMapReduce of Hadoop
// Streaming. With them, part files are the same as Hadoop's.
//
//	order, err := hadoop.NewComparator(spec)
//	partition, err := hadoop.NewPartitioner(spec, reduces)
//
// The package is pure: it has functions of bytes and of the job's spec, without files and without state.
package hadoop
