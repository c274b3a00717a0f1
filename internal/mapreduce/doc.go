// Package mapreduce runs the attempts of a MapReduce job. [RunMap] passes the records of a split
// through the mapper and writes a map output. [RunReduce] fetches the segments of a partition, passes
// their records through the reducer and writes a part file. The package also prepares, commits and
// aborts the job's output ([PrepareOutput], [CommitJob], [AbortJob]).
//
// A worker calls RunMap or RunReduce with a [MapTask] or a [ReduceTask]. The caller provides the
// program, the memory, the scratch folder and the grants. The package starts no processes and does
// not talk to the coordinator. The parts of the data path are packages of their own: input (splits
// and lines), hadoop (keys, partitions, order), extsort (sort and merge), shuffle (segments) and
// seqfile (SequenceFiles).
package mapreduce
