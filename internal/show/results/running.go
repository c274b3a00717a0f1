package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/server/report"
)

// Running says which attempts run and what their tasks have printed so far. The coordinator knows (package control).
type Running interface {
	Attempts(ctx context.Context) ([]report.RunningAttempt, error)
	// Printed returns a part of what was printed from an offset on; it is empty at the end of what was printed so far.
	Printed(ctx context.Context, of job.Attempt, stderr bool, offset int64) ([]byte, error)
}

// lookAgain is how often a command that follows a task asks for more of its output.
const lookAgain = 200 * time.Millisecond

// PrintRunning prints what a running task has printed so far.
func (p *Printer) PrintRunning(ctx context.Context, from Running, a report.RunningAttempt) error {
	for s, to := range []io.Writer{collect.Stdout: p.Out, collect.Stderr: p.Err} {
		if to == nil {
			continue
		}
		r := &printed{ctx: ctx, from: from, of: job.Attempt{Job: p.id, Task: a.Task, N: a.Attempt}, stderr: s == int(collect.Stderr)}
		if err := p.passOn(to, r, a.Task, p.what(a.Task)); err != nil {
			return err
		}
	}
	return nil
}

func (p *Printer) what(task int) string { return fmt.Sprintf("task %s of %s", p.Name(task), p.id) }

// printed reads what a running attempt has printed so far.
type printed struct {
	ctx    context.Context
	from   Running
	of     job.Attempt
	stderr bool
	offset int64 // of what was read
	data   []byte
}

// Read returns io.EOF at the end of what was printed so far. It may be called again then.
func (r *printed) Read(b []byte) (n int, err error) {
	if len(r.data) == 0 {
		if r.data, err = r.from.Printed(r.ctx, r.of, r.stderr, r.offset); err != nil {
			return 0, err
		}
		if len(r.data) == 0 {
			return 0, io.EOF
		}
	}
	n = copy(b, r.data)
	r.data, r.offset = r.data[n:], r.offset+int64(n)
	return n, nil
}

// Tail prints the output of one task as it is written, until the task has ended. look brings what is known of the ends
// of tasks up to date (Known) and reports whether the job is over. note tells the user that another attempt
// of the task begins.
func (p *Printer) Tail(ctx context.Context, task int, from Running, look func() (over bool, err error), note func(string)) error {
	to, stream := p.Out, collect.Stdout
	if to == nil {
		to, stream = p.Err, collect.Stderr
	}
	r := &printed{ctx: ctx, from: from, of: job.Attempt{Job: p.id, Task: task}, stderr: stream == collect.Stderr}
	for {
		a, err := attemptOf(ctx, from, task, r.of.N)
		if err != nil {
			return err
		}
		over, err := look()
		if err != nil {
			return err
		}
		k := p.known[task]
		switch {
		case a > 0:
			if r.of.N != a {
				if r.of.N > 0 {
					note(fmt.Sprintf("attempt %d of %s follows; its output begins here", a, p.what(task)))
				}
				r.of.N, r.offset = a, 0
			}
			if err := pass(to, r, p.what(task), nil); err != nil {
				return err
			}
		case over || k.over:
			if int(k.attempt) != r.of.N {
				r.offset = 0 // all of another attempt is printed
			}
			return p.copy(to, stream, task, r.offset)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookAgain):
		}
	}
}

// attemptOf returns the number of a running attempt of the task, of the given one if it still runs; 0: there is none.
func attemptOf(ctx context.Context, from Running, task, before int) (n int, err error) {
	all, err := from.Attempts(ctx)
	for _, a := range all {
		if a.Task == task && (n == 0 || a.Attempt == before) {
			n = a.Attempt
		}
	}
	return n, err
}

// template returns the template of the files to which tasks of a bag print a stream.
func template(b *job.BagSpec, s collect.Stream) string {
	return [...]string{collect.Stdout: b.Stdout, collect.Stderr: b.Stderr}[s]
}

// files returns to how many files a task prints a stream: one for each rank if their names have its number.
func (p *Printer) files(s collect.Stream, task int) int {
	if !p.spec.Bag.EachRank {
		return 1
	}
	own, _, _ := p.tasks.Of(p.spec, task)
	if own.Bag.Collect || !own.Bag.OfEachRank(template(own.Bag, s)) {
		return 1
	}
	return max(1, own.Bag.Ranks)
}

// open opens what a rank of a task that has ended printed to a stream; nil: there is nothing.
func (p *Printer) open(s collect.Stream, task, rank int) (io.ReadSeeker, string, error) {
	own, entry, _ := p.tasks.Of(p.spec, task)
	template := template(own.Bag, s)
	if own.Bag.Collect {
		return p.openCollected(template, s, task)
	}
	path := own.Bag.OutputPath(template, p.id, entry, task, rank)
	if path == job.Discard || strings.HasPrefix(path, "/dev/") { // it cannot be read from a device
		return nil, path, nil
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, path, nil
	case err != nil:
		return nil, path, readError(path, err)
	}
	return f, path, nil
}
