package worker

import (
	"errors"
	"io"
	"path/filepath"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/node/process"
)

// prints are the files that take what an attempt prints where that is collected with what others print, by collect.Stream. nil: that stream is discarded.
type prints [2]*process.Capture

// capture opens the files that take what the task prints.
func (t *bagTask) capture() error {
	bag := t.a.work.spec.Bag
	t.prints = &prints{}
	err := t.captureOne(collect.Stdout, bag.Stdout, &t.out)
	if err != nil {
		return err
	}
	if err = t.captureOne(collect.Stderr, bag.Stderr, &t.err); err != nil {
		return errors.Join(err, t.prints.endOne(collect.Stdout, &t.out))
	}
	t.open = true
	if at := t.a.id; at.N > 1 && t.a.start.Commit { // no other attempt lives
		t.dropOthers(at.N - 1)
	}
	return nil
}

func (t *bagTask) captureOne(s collect.Stream, template string, to *process.Output) (err error) {
	if template == job.Discard {
		*to, err = process.OpenOutput(template, t.a.id)
		return err
	}
	c, err := t.w.prints.Acquire()
	if err != nil {
		return process.ScratchFailure(t.w.scratch.tasks(), err)
	}
	t.prints[s], to.FD = c, c.FD
	return nil
}

// end ends the writing of both streams.
func (p *prints) end(out, err *process.Output) error {
	return errors.Join(p.endOne(collect.Stdout, out), p.endOne(collect.Stderr, err))
}

func (p *prints) endOne(s collect.Stream, o *process.Output) error {
	c := p[s]
	if c == nil {
		return o.Close()
	}
	err := c.End()
	o.Bytes = c.Size
	return err
}

// tail returns the last lines of standard error.
func (p *prints) tail() string {
	if c := p[collect.Stderr]; c != nil {
		return c.Tail()
	}
	return ""
}

// give gives the files back once the attempt needs them no more.
func (p *prints) give(w *worker) {
	if p == nil {
		return
	}
	for _, c := range p {
		if c != nil {
			w.prints.Release(c)
		}
	}
}

// collect adds what the task printed to the file of its job.
func (t *bagTask) collect() error {
	var outputs [2]*io.SectionReader
	for s, c := range t.prints {
		if c != nil && c.Size > 0 {
			outputs[s] = io.NewSectionReader(c, 0, c.Size)
		}
	}
	path, err := t.a.work.collected.Add(t.a.id, outputs)
	if err != nil {
		return process.OutputError(path, err)
	}
	t.w.durable.NoteShared(path)
	return nil
}

// openLive lets the task write straight to the command that submitted it. It reports whether that command is there.
func (t *bagTask) openLive() bool {
	dir := t.a.work.runDir
	out, err := process.OpenReader(filepath.Join(dir, job.LiveStdout))
	if err != nil {
		return false
	}
	if t.err, err = process.OpenReader(filepath.Join(dir, job.LiveStderr)); err != nil {
		_ = out.Close() // nothing was written
		return false
	}
	t.out = out
	return true
}
