package job

import "fmt"

// NameOf names a task as its user knows it. What the tasks of a bag are called the work
// does not say; failures are told with their names besides.
func (w *Work) NameOf(task int) string {
	switch k := w.TaskKind(task); k {
	case BagTask:
		return "a task"
	case ReduceTask:
		return TaskName(k, task-w.Tasks)
	default:
		return TaskName(k, task)
	}
}

// Plural returns the word for one or several things.
func Plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Number returns a number of things: "1 map", "2 maps".
func Number(n int, word string) string { return fmt.Sprintf("%d %s", n, Plural(n, word)) }
