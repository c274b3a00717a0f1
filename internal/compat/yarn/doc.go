// Package yarn reports on a MapReduce job in Hadoop's words: the messages that "hadoop jar" prints while a job runs,
// its counters, and the logs that YARN and the history server keep. Programs that start Hadoop jobs, such as mrjob,
// find in them the job's id, its counters and the reason of a failure.
//
// Only what berth knows is reported. Ids have Hadoop's form, and consist of the time of submission and the run's
// number. Stack traces name the place in Hadoop's source from which a message comes, because programs recognise errors
// by them.
package yarn
