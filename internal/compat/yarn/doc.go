// Package yarn tells of a MapReduce job in Hadoop's words: the messages that "hadoop jar"
// writes while a job runs, its counters, and the logs that YARN and the history server keep. Programs that
// start jobs of Hadoop, mrjob say, find the job's id, its counters and why it failed in them.
//
// What is told is what berth knows. Ids have Hadoop's form and are made of the time of submission
// and the run's number; lines of a stack name the place in Hadoop's source where a message
// comes from there, as programs know an error by them.
package yarn
