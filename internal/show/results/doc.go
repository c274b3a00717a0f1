// Package results copies what tasks wrote to the standard output and error of a command, as GNU parallel does: the whole output of
// a task at once, when the task is over or when those before it are, with its entry before each line where that is wanted. It reads
// the run's journal and the tasks' files, or those in which output is collected; it changes none.
package results
