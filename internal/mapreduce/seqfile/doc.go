// Package seqfile reads and writes Hadoop's SequenceFiles, version 6: plain ones, ones whose values are compressed
// one by one, and ones that are compressed in blocks (org.apache.hadoop.io.SequenceFile).
//
// A file is a header and groups of records. Each group but the first begins with a mark of 20 bytes: the number -1
// and 16 bytes that the header names. By the marks a reader finds the first group behind any offset, so that a
// file is read in ranges. Lengths are of 4 bytes, big-endian, or of Hadoop's variable length (WritableUtils).
//
// The package knows no codecs: who reads or writes hands them in.
package seqfile
