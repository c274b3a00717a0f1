// Package input finds the input files of a MapReduce job, cuts them into splits, and
// reads the lines of a split, plain or compressed, as Hadoop's input formats do.
//
// It reads files and writes none. It also knows the codecs of compressed files, which
// part files are written with.
package input
