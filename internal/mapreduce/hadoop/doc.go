// Package hadoop holds the rules of Hadoop by which a job's records are told apart, put in
// order and shared out: where the key of a line ends, comparators, partitioners, options on
// key fields, and the reducer "aggregate" of Hadoop Streaming. Part files are the same as
// Hadoop's because of what is here.
//
// It is pure: functions of bytes and of the job's spec, without files or memory of its own.
package hadoop
