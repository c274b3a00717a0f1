package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/job/task"
)

// Lines are tasks as lines of JSON describe them.
type Lines struct {
	From  string            // name of the input, for errors
	Tasks []task.Spec       // of a whole bag, checked as far as that is possible without the nodes; nil: they are not parsed
	Texts []json.RawMessage // by line of the input from 1, nil for an empty one
	Open  bool              // the bag gets further tasks
}

// ReadLines reads the tasks of a file; - is standard input.
func ReadLines(name string, stdin io.Reader) (*Lines, error) {
	var text []byte
	var err error
	from := name
	if name == "-" {
		from = "standard input"
		text, err = io.ReadAll(stdin)
	} else {
		text, err = os.ReadFile(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, job.ArgumentError("--tasks", "there is no file "+name, "name a file with a JSON object on each line, or - for standard input")
	}
	if err != nil {
		return nil, job.IOError(job.User, "--tasks "+name, "it cannot be read", err)
	}
	l := &Lines{From: from, Texts: task.Lines(text)}
	for _, line := range l.Texts {
		if line != nil && (line[0] != '{' || !json.Valid(line)) { // it could not be sent
			return nil, l.parse()
		}
	}
	return l, nil
}

func (l *Lines) parse() (err error) {
	l.Tasks, err = task.Parse(l.From, l.Texts)
	return err
}

// finish makes a bag of the lines: an open one, to which they are added. It returns an error if they do not make a whole bag.
func (l *Lines) finish(spec *job.Spec, sources *parse.BagSources) error {
	if !sources.None() {
		return job.ArgumentError(sources.Where, "there are entries, and tasks from "+l.From, "keep one of both")
	}
	if err := l.parse(); err != nil {
		return err
	}
	l.Open, spec.Bag.Open = spec.Bag.Open, true
	if len(l.Tasks) == 0 && !l.Open {
		return job.InputError(l.From, "there is no task, so there is nothing to run", "")
	}
	for i := range l.Tasks {
		if err := l.Tasks[i].CheckIn(l.From, spec); err != nil {
			return err
		}
	}
	_, err := task.Order(l.From, l.Tasks, 0, func(string) (int, bool) { return 0, false })
	return err
}

// takeTasks takes [[task]] tables, each as the line of JSON with the same keys would be. The objects stand on the lines of their tables, so
// that errors name these.
func (f *File) takeTasks(v value) error {
	list, ok := v.is.([]any)
	if !ok {
		return v.wrong("tables, [[task]]")
	}
	var text bytes.Buffer
	at := 1
	for i, item := range list {
		if _, ok := item.(map[string]any); !ok {
			return v.of(item).wrong("tables, [[task]]")
		}
		object, err := json.Marshal(item)
		where := v.table.Where(v.key + "[" + strconv.Itoa(i) + "]")
		if err != nil {
			return job.ConfigError(where, fmt.Sprintf("a value of the task is not possible in JSON: %v", err), "")
		}
		line, err := strconv.Atoi(where[strings.LastIndexByte(where, ':')+1:])
		for ; err == nil && at < line; at++ {
			text.WriteByte('\n')
		}
		text.Write(object)
		text.WriteByte('\n')
		at++
	}
	f.tasks = &Lines{From: f.name, Texts: task.Lines(text.Bytes())}
	return f.tasks.parse()
}
