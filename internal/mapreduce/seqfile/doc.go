// Package seqfile reads and writes Hadoop's SequenceFiles, version 6 (org.apache.hadoop.io.SequenceFile): plain files, files
// in which each value is compressed, and files in which blocks of records are compressed.
//
// A file is a header and groups of records. Each group except the first begins with a sync mark of 20 bytes: the number -1
// and 16 bytes that the header contains. A reader finds the first group behind any offset by its mark, so that a file can be
// read in ranges. Lengths have 4 bytes, big-endian, or are of Hadoop's variable length (WritableUtils).
//
// [ReadHeader] and [NewReader] read a range of a file, [NewWriter] writes one. The package contains no codecs: the caller
// passes them as [Unpacker] and [Packer].
package seqfile
