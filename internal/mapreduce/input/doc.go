// Package input finds the input files of a MapReduce job, cuts them into splits, and reads the
// records of a split as Hadoop's input formats do, from plain and from compressed files.
//
// The coordinator's side calls [PlanSplits] when a job is submitted. A map attempt calls
// [OpenSplit] and reads lines, each with its newline. The package writes no files. It also has
// the codecs with which part files are compressed.
package input
