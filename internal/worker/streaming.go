package worker

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/probe"
)

// command is a streaming mapper, combiner or reducer: a mapreduce.Program that
// runs an executable. Several may run for one attempt, one after the other or at once.
type command struct {
	w      *worker
	a      *attempt
	args   []string
	env    []string
	dir    string // the attempt's folder: the program's working directory
	stderr *errorLog
	lax    bool   // a non-zero exit is no failure
	role   string // put before the reason of its failure, where it is not the task's main program
}

// run is one run of a command.
type run struct {
	c        *command
	p        *program
	in, out  *pipeEnd
	err      *os.File // our end of its standard error
	cancel   *canceller
	activity activity
	eof      chan struct{} // closed when its standard output has ended

	mu    sync.Mutex
	fault error // input or output failed, not the program
}

// Run runs the program over in until it has ended and out has all it wrote.
func (c *command) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	path, err := c.a.work.findCommand(c.args[0], c.dir, c.env)
	if err != nil {
		return err
	}
	r := &run{c: c, eof: make(chan struct{})}
	theirs, err := r.open()
	if err != nil {
		return err
	}
	defer r.close()
	over, err := r.start(path, theirs)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, r.p.kill)
	defer stop()
	var pumps sync.WaitGroup
	pumps.Go(func() { r.feed(in) })
	pumps.Go(r.listen)
	r.collect(out)
	close(r.eof)
	e := <-over
	r.cancel.cancel() // nobody reads its input any more, whoever may hold it
	_ = r.err.SetReadDeadline(time.Now().Add(c.w.cfg.Grace))
	pumps.Wait()
	c.a.drop(r.p)
	c.a.account(r.p, e)
	return r.outcome(ctx, e)
}

// open makes the program's pipes and returns its ends of them.
func (r *run) open() (theirs []int, err error) {
	var ours []int
	for i, size := range []int{pipeSize, pipeSize, 0} {
		mine, other, err := pipe(i > 0, size)
		if err != nil {
			closeAll(append(ours, theirs...))
			return nil, err
		}
		ours, theirs = append(ours, mine), append(theirs, other)
	}
	if r.cancel, err = newCanceller(); err != nil {
		closeAll(append(ours, theirs...))
		return nil, err
	}
	r.in = &pipeEnd{fd: ours[0], cancel: r.cancel, activity: &r.activity}
	r.out = &pipeEnd{fd: ours[1], cancel: r.cancel, activity: &r.activity}
	r.err = os.NewFile(uintptr(ours[2]), "stderr")
	return theirs, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

// close closes our ends but that of its input, which feed has closed.
func (r *run) close() {
	_, _ = r.out.Close(), r.err.Close() // were read only
	r.cancel.close()
}

// start starts the program in a lane, which sends how it ended.
func (r *run) start(path string, theirs []int) (<-chan exited, error) {
	c, started, over := r.c, make(chan error, 1), make(chan exited, 1)
	c.w.lanes.run(nil, c.a.work.umask, func() {
		files := []uintptr{uintptr(theirs[0]), uintptr(theirs[1]), uintptr(theirs[2])}
		path, args := c.a.work.change.Command(path, c.args)
		p, err := spawn(path, args, c.dir, c.env, files, c.w.cfg.Grace)
		if err == nil {
			r.p = &program{process: p, activity: &r.activity}
		}
		started <- err
		if err == nil {
			e := p.reap()
			r.settle()
			over <- e
		}
	})
	err := <-started
	closeAll(theirs) // the program has its own
	if err != nil {
		_ = r.in.Close()
		return nil, err
	}
	c.a.add(r.p)
	return over, nil
}

// settle waits, once the leader is gone, for the others of its group: as long as
// its output is open they may write to it (tee >(filter)), after that they have
// the grace. An output that is held open from outside the group is given up.
func (r *run) settle() {
	const look = 20 * time.Millisecond
	tick := time.NewTicker(look)
	defer tick.Stop()
	for live := true; live; {
		select {
		case <-r.eof:
			r.p.sweep()
			return
		case <-tick.C:
			live = membersLive(r.p.pid)
		}
	}
	select {
	case <-r.eof:
	case <-time.After(r.c.w.cfg.Grace):
		r.cancel.cancel()
	}
}

// buffers are what pumps move data in, unless their partner has its own way.
var buffers = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

// feed writes the task's input to the program, until that wants no more.
func (r *run) feed(in io.Reader) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	defer func() { _ = r.in.Close() }()
	r.activity.busy.Add(1)
	defer r.activity.busy.Add(-1)
	_, err := io.CopyBuffer(r.in, in, *buf)
	switch {
	case err == nil:
		r.p.sawMemory(probe.HighWater(r.p.pid))
	case !enough(err):
		r.fail(err)
	}
}

// collect hands the program's output on, to its end.
func (r *run) collect(out io.Writer) {
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	r.activity.busy.Add(1)
	defer r.activity.busy.Add(-1)
	if _, err := io.CopyBuffer(out, r.out, *buf); err != nil && !enough(err) {
		r.fail(err)
	}
}

// listen takes the program's standard error.
func (r *run) listen() {
	s := &stream{log: r.c.stderr}
	defer s.flush()
	buf := make([]byte, 4<<10)
	for {
		n, err := r.err.Read(buf)
		if n > 0 {
			r.activity.count.Add(1)
			_, _ = s.Write(buf[:n]) // never fails
		}
		if err != nil {
			return
		}
	}
}

// fail ends the program because its input or output failed.
func (r *run) fail(err error) {
	r.mu.Lock()
	if r.fault == nil {
		r.fault = err
	}
	r.mu.Unlock()
	r.p.kill()
	r.cancel.cancel()
}

// outcome says whether the run was good.
func (r *run) outcome(ctx context.Context, e exited) error {
	r.mu.Lock()
	fault := r.fault
	r.mu.Unlock()
	f := exitFailure(e)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fault != nil:
		return fault
	case f == nil:
		return nil
	}
	f.reason = r.c.role + f.reason
	if err := r.c.w.blame(r.c.a, f); err != error(f) || !r.c.lax {
		return err
	}
	return nil
}
