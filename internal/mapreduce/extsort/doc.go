// Package extsort sorts lines that do not fit memory: it collects them in a buffer, sorts and
// spills them into scratch files, and merges these, many at once and in several passes where
// there are too many. A combiner may be run over what is spilled and merged.
//
// Order: records are sorted by partition, then by key (byte order, or the job's comparator), and
// among equal keys by the bytes of key and value. The order is total, so a job's output depends on
// its input alone, not on splits, spills or timing.
//
// Memory is what the caller allows and lies outside the Go heap; everything written is compressed
// and checksummed. The package starts no programs and no goroutines and knows no attempts.
package extsort
