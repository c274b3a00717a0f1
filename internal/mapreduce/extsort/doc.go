// Package extsort sorts lines that do not fit into memory. It collects them in a buffer, sorts the
// buffer when it is full, and writes it to a scratch file (a spill). It then merges the files, many
// at once, and in several passes if there are too many. A combiner may run over spills and merges.
//
// Order: records are sorted by partition, then by key (byte order, or the job's comparator), and
// among equal keys by the bytes of key and value. The order is total, so a job's output depends on
// its input alone, not on splits, spills or timing.
//
// A map attempt uses a [Space], the scratch folder and memory of one attempt, in this way:
//
//	space, err := extsort.NewSpace(ctx, config)
//	sorter := space.NewSorter(records) // write the mapper's output to it, then call Finish
//	file, err := space.MergeSpills(sorter.Files())
//
// A reduce attempt calls [Space.Narrow] and reads the merged records with [Space.Lines].
//
// The caller says how much memory may be used. It lies outside the Go heap. All files are
// compressed and have checksums. The package starts no programs and no goroutines, and it does not
// know about tasks and attempts.
package extsort
