// Package task reads the tasks that are added to an open bag, each as the line of JSON that describes it, and finds out
// which of them come after which others:
//
//	tasks, err := task.Parse("tasks.jsonl", task.Lines(text))
//	after, err := task.Order("tasks.jsonl", tasks, first, names)
//
// Every error is a *job.Error that names the line. What a line does not say is as for the other tasks of the bag.
package task
