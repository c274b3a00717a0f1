// Package results copies what tasks wrote to their standard output and error to those of a command, as GNU parallel
// does: the whole output of a task at once, when the task or all tasks before it are over, with the task's entry before
// each line on request. It reads the run's journal and the files of the tasks, or those of package collect; it changes
// none.
package results
