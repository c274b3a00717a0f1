package results

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/mapreduce"
	"berth/internal/node/collect"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// Options say how results are printed.
type Options struct {
	InOrder bool // of the tasks, not as they end
	Tag     bool // each line begins with the task's entry and a tab
}

// Printer prints the outputs of a bag's tasks.
type Printer struct {
	Options
	Out io.Writer // gets what tasks wrote to their standard output; nil: it is not printed
	Err io.Writer // gets what they wrote to their standard error; nil: it is not printed

	id      job.ID
	bag     *job.BagSpec
	entries []job.Entry

	printed []bool
	waiting []bool // over, and not printed yet
	next    int    // first task that is not printed, in order

	collected *collect.Index // of a bag whose output is collected, else nil
	ends      []report.End   // then: how tasks came to their end; the zero value: not yet
	late      []int          // then: tasks that are over and whose output is not there yet
}

// NewPrinter returns the printer of a bag.
func NewPrinter(id job.ID, bag *job.BagSpec, tasks statedir.Tasks, o Options) *Printer {
	n := len(tasks.Entries)
	p := &Printer{Options: o, id: id, bag: bag, entries: tasks.Entries, printed: make([]bool, n), waiting: make([]bool, n)}
	if bag.Collect {
		p.collected, p.ends = collect.NewIndex(bag.CollectFolder(id)), make([]report.End, n)
	}
	return p
}

// Over takes in that a task is over, and prints what can be printed now.
func (p *Printer) Over(e report.End) error {
	task := e.Task
	if task >= len(p.entries) || p.printed[task] {
		return nil
	}
	p.ended(e)
	if p.waiting[task] = true; p.InOrder {
		return p.inOrder()
	}
	if !p.there(task) {
		p.late = append(p.late, task)
		return nil
	}
	return p.Print(task)
}

// inOrder prints the tasks behind the last one printed, up to one that is not over.
func (p *Printer) inOrder() error {
	for p.next < len(p.entries) && p.waiting[p.next] && p.there(p.next) {
		if err := p.Print(p.next); err != nil {
			return err
		}
		p.next++
	}
	return nil
}

// Late prints what can be printed by now: what another machine wrote may come later than the news that the task is over.
func (p *Printer) Late() error {
	if p.InOrder {
		return p.inOrder()
	}
	late := p.late
	p.late = nil
	for i, task := range late {
		if !p.there(task) {
			p.late = append(p.late, task)
			continue
		}
		if err := p.Print(task); err != nil {
			p.late = append(p.late, late[i+1:]...)
			return err
		}
	}
	return nil
}

// Rest prints the tasks that are over and wait for others, which do not end any more.
func (p *Printer) Rest() error {
	for task := range p.entries {
		if p.waiting[task] && !p.printed[task] {
			if err := p.Print(task); err != nil {
				return err
			}
		}
	}
	return nil
}

// Print prints one task's output.
func (p *Printer) Print(task int) error {
	p.printed[task] = true
	if p.collected != nil {
		return errors.Join(p.copyCollected(p.Out, p.bag.Stdout, collect.Stdout, task), p.copyCollected(p.Err, p.bag.Stderr, collect.Stderr, task))
	}
	if err := p.copy(p.Out, p.bag.Stdout, task); err != nil {
		return err
	}
	return p.copy(p.Err, p.bag.Stderr, task)
}

// copy copies a file of a task. One that is not there had nothing to hold: the task failed before it began, or its output was discarded.
func (p *Printer) copy(to io.Writer, template string, task int) error {
	path := p.bag.OutputPath(template, p.id, p.entries[task], task)
	if to == nil || path == job.Discard || strings.HasPrefix(path, "/dev/") {
		return nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return readError(path, err)
	}
	defer f.Close() // only read
	return p.passOn(to, f, task, path)
}

// passOn copies what a task wrote.
func (p *Printer) passOn(to io.Writer, from io.Reader, task int, path string) error {
	if p.Tag {
		return tag(to, from, strings.Join(p.entries[task], " ")+"\t", path)
	}
	return pass(to, from, path)
}

// pass copies a file, and tells errors of reading, of which a user can be told the file, from those of writing.
func pass(to io.Writer, from io.Reader, path string) error {
	r := &reading{from: from}
	if _, err := io.Copy(to, r); r.err != nil {
		return readError(path, r.err)
	} else if err != nil {
		return writeError(err)
	}
	return nil
}

// reading keeps the error of a reader.
type reading struct {
	from io.Reader
	err  error
}

func (r *reading) Read(b []byte) (int, error) {
	n, err := r.from.Read(b)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// tag copies lines with a text before each.
func tag(to io.Writer, from io.Reader, text, path string) error {
	in, out := bufio.NewReaderSize(from, 1<<16), bufio.NewWriterSize(to, 1<<16)
	for begins := true; ; {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 {
			if begins {
				_, _ = out.WriteString(text) // the error comes back from Flush
			}
			_, _ = out.Write(part)
			begins = bytes.HasSuffix(part, []byte("\n"))
		}
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if !begins {
				_ = out.WriteByte('\n')
			}
			if err := out.Flush(); err != nil {
				return writeError(err)
			}
			return nil
		default:
			return readError(path, err)
		}
	}
}

// Parts prints the part files of a MapReduce job's output, in order.
func Parts(ctx context.Context, to io.Writer, m *job.MapReduceSpec) error {
	if job.IsObject(m.Output) {
		return objectParts(ctx, to, m)
	}
	all, err := os.ReadDir(m.Output)
	if err != nil {
		return readError(m.Output, err)
	}
	for _, e := range all {
		if !mapreduce.IsPart(e.Name()) {
			continue
		}
		path := filepath.Join(m.Output, e.Name())
		f, err := os.Open(path)
		if err != nil {
			return readError(path, err)
		}
		err = pass(to, f, path)
		_ = f.Close() // only read
		if err != nil {
			return err
		}
	}
	return nil
}

// Find returns the tasks that a user names as the job does: by array index, or by number from 1; all where none is named.
func (p *Printer) Find(names []string) ([]int, error) {
	byName := make(map[string]int, len(p.entries))
	all := make([]int, len(p.entries))
	for i, e := range p.entries {
		all[i] = i
		byName[p.bag.TaskID(e, i)] = i
	}
	if len(names) == 0 {
		return all, nil
	}
	found := all[:0:0]
	for _, name := range names {
		i, there := byName[name]
		if !there {
			return nil, job.ArgumentError(string(p.id), "it has no task "+name, "tasks are named as in berth report "+string(p.id)+" --tasks")
		}
		found = append(found, i)
	}
	return slices.Clip(found), nil
}

func readError(path string, err error) error {
	return &job.Error{Class: job.User, Code: job.CodeIO, Where: path, What: "the output cannot be read", Err: err}
}

func writeError(err error) error {
	return &job.Error{Class: job.User, Code: job.CodeIO, Where: "standard output", What: "it cannot be written", Err: err,
		Do: "the results are in the tasks' files; berth cat prints them again"}
}
