package results

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"berth/internal/core/job"
	"berth/internal/mapreduce"
	"berth/internal/node/collect"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// Options say which results are printed in which form.
type Options struct {
	InOrder bool // in the order of the tasks, not in that of their ends
	Tag     bool // the task's entry and a tab precede each line
	Early   bool // the first tasks, as far as they are done, are printed while the journal is read (Known)
}

// Printer prints the outputs of a bag's tasks.
type Printer struct {
	Options
	Out io.Writer // receives the standard output of tasks; nil: it is not printed
	Err io.Writer // receives their standard error; nil: it is not printed

	id    job.ID
	spec  *job.Spec
	tasks statedir.Tasks

	known []known // by task, of an open bag as many as were heard of
	next  int     // with InOrder and Early: the first task that is not printed
	over  []int   // else: tasks that are over and not printed

	collected *collect.Index // nil unless the output of the bag is collected
	lost      []int          // then: tasks whose output is missing or damaged
	why       error          // the error of the last one of them
	buf       []byte         // through which outputs are copied
}

// known is what is known of a task. There may be millions.
type known struct {
	attempt             int32 // that ended it, or else the last one that has ended; 0: none
	done, over, printed bool
}

// NewPrinter returns the printer of a bag.
func NewPrinter(spec *job.Spec, tasks statedir.Tasks, o Options) *Printer {
	p := &Printer{Options: o, id: spec.ID, spec: spec, tasks: tasks}
	p.grow(tasks.Entries.Len())
	if spec.Bag.Collect {
		p.collected = collect.NewIndex(spec.Bag.CollectFolder(spec.ID))
	}
	return p
}

// grow notes that the bag has so many tasks.
func (p *Printer) grow(n int) {
	if more := n - len(p.known); more > 0 {
		p.known = append(p.known, make([]known, more)...)
	}
}

// Over records that a task is over, so that PrintOver prints its output.
func (p *Printer) Over(e report.End) {
	if p.grow(e.Task + 1); p.known[e.Task].printed {
		return
	}
	if p.ended(e); !p.InOrder {
		p.over = append(p.over, e.Task)
	}
}

// PrintOver prints the outputs of tasks that are over: in order those up to the first task that is not, else all. Outputs on
// another machine may become visible later than the message that the task is over; they are left to the next call.
func (p *Printer) PrintOver() error {
	for p.InOrder && p.next < len(p.known) && p.known[p.next].over && p.there(p.next) {
		if err := p.Print(p.next); err != nil {
			return err
		}
		p.next++
	}
	over := p.over
	p.over = nil
	for _, task := range over {
		if p.known[task].printed { // it was over twice
			continue
		}
		if !p.there(task) {
			p.over = append(p.over, task)
			continue
		}
		if err := p.Print(task); err != nil {
			return err
		}
	}
	return nil
}

// printDone prints the first tasks if they are done, which no later record changes.
func (p *Printer) printDone() error {
	for p.Early && p.next < len(p.known) && p.known[p.next].done {
		if err := p.Print(p.next); err != nil {
			return err
		}
		p.next++
	}
	return nil
}

// Printed returns how many of the first tasks are printed (Early).
func (p *Printer) Printed() int { return p.next }

// Rest prints the tasks that are over and wait for earlier ones that will not end any more.
func (p *Printer) Rest() error {
	for task, k := range p.known {
		if k.over && !k.printed {
			if err := p.Print(task); err != nil {
				return err
			}
		}
	}
	return nil
}

// Print prints one task's output.
func (p *Printer) Print(task int) error {
	p.known[task].printed = true
	err := p.copy(p.Out, collect.Stdout, task, 0)
	if err != nil && p.collected == nil {
		return err
	}
	return errors.Join(err, p.copy(p.Err, collect.Stderr, task, 0))
}

// copy copies what a task printed to a stream, from an offset on, and behind it what its other ranks did if each has a file of its own.
func (p *Printer) copy(to io.Writer, s collect.Stream, task int, offset int64) (err error) {
	for rank := 0; rank < p.files(s, task) && err == nil && to != nil; rank++ {
		err = p.copyRank(to, s, task, rank, offset)
		offset = 0
	}
	return err
}

// copyRank copies what a rank of a task printed. There is nothing if the task failed before it started, or if its output was discarded.
func (p *Printer) copyRank(to io.Writer, s collect.Stream, task, rank int, offset int64) error {
	from, path, err := p.open(s, task, rank)
	if err != nil || from == nil {
		return err
	}
	if c, is := from.(io.Closer); is {
		defer c.Close() // only read
	}
	if offset > 0 {
		if _, err := from.Seek(offset, io.SeekStart); err != nil {
			return readError(path, err)
		}
	}
	return p.passOn(to, from, task, path)
}

// passOn copies the output of a task, with the task's entry before each line if Tag is set.
func (p *Printer) passOn(to io.Writer, from io.Reader, task int, path string) error {
	if p.Tag {
		_, entry, _ := p.tasks.Of(p.spec, task)
		return tag(to, from, strings.Join(entry, " ")+"\t", path)
	}
	if p.buf == nil {
		p.buf = make([]byte, 1<<16)
	}
	return pass(to, from, path, p.buf)
}

// pass copies a file by way of a buffer, which there may be none. Errors of reading name the file, unlike those of writing.
func pass(to io.Writer, from io.Reader, path string, buf []byte) error {
	r := &reading{from: from}
	if _, err := io.CopyBuffer(struct{ io.Writer }{to}, r, buf); r.err != nil { // a file would take another buffer each time
		return readError(path, r.err)
	} else if err != nil {
		return writeError(err)
	}
	return nil
}

// reading keeps the error of a reader, so that it can be distinguished from errors of writing.
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

// tag copies lines and writes the text before each.
func tag(to io.Writer, from io.Reader, text, path string) error {
	in, out := bufio.NewReaderSize(from, 1<<16), bufio.NewWriterSize(to, 1<<16)
	for begins := true; ; {
		part, err := in.ReadSlice('\n')
		if len(part) > 0 {
			if begins {
				_, _ = out.WriteString(text) // Flush returns the error
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

// Parts prints the part files of a MapReduce job's output in their order.
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
		err = pass(to, f, path, nil)
		_ = f.Close() // only read
		if err != nil {
			return err
		}
	}
	return nil
}

// Find returns the tasks with these names, which are array indices, or numbers from 1, as the job uses them. Without
// names it returns all tasks.
func (p *Printer) Find(names []string) ([]int, error) {
	n, err := p.tasks.Len()
	if err != nil {
		return nil, err
	}
	p.grow(n)
	if len(names) > 0 {
		return report.FindTasks(p.id, names, n, p.Name)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all, nil
}

func readError(path string, err error) error {
	return job.IOError(job.User, path, "the output cannot be read", err)
}

func writeError(err error) error {
	return job.IOError(job.User, "standard output", "it cannot be written", err).Advice("the results are in the tasks' files; berth cat prints them again")
}
