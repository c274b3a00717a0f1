// Package dfs implements Hadoop's file system shell ("hadoop fs") on the folders of this machine and those that it
// shares with others: the commands that scripts and clients use, with their output, messages and exit codes.
//
// A path without a scheme or a file: URI names a file of the machine. An hdfs: URI is a path below one folder, the
// root, whatever host it names.
package dfs
