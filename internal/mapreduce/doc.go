// Package mapreduce runs the attempts of a MapReduce job: RunMap takes a split through the mapper
// into a map output, RunReduce takes the segments of a partition through the reducer into a part
// file. It also makes, commits and aborts the job's output.
//
// It works on files, readers and programs that it is given. It knows no coordinator and starts no
// processes: a Program is handed in by the worker. The parts of the data path are packages of
// their own: input, hadoop, extsort, shuffle.
package mapreduce
