// Package dfs does what Hadoop's file system shell does ("hadoop fs"), on the folders of this machine
// and those that it shares with others: the commands that scripts and clients use, with their output,
// messages and exit codes.
//
// A path without a scheme and a file: URI name a file of the machine. An hdfs: URI, whatever host it
// names, is a path below one folder, the root.
package dfs
