package job

// NameOf returns the name of a task in messages. Work does not have the names of a bag's tasks, so these
// are called "a task"; reports of failures add their names.
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

// Count returns n and the word in singular or plural: "1 map", "2,000 maps".
func Count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return FormatCount(n) + " " + word
}
