package process

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"berth/internal/sys/probe"
)

// Program is a command that maps, combines or reduces: it reads from a reader and writes to a
// writer. It can run any number of times, also at the same time.
type Program struct {
	Set     *Set
	Lanes   *Lanes
	Find    func() (path string, err error) // finds the file of the command, before each run
	Command Command                         // without its path
	Log     *Log                            // receives the command's standard error
	Lax     bool                            // a non-zero exit status is not a failure
	Batch   bool                            // a batch system controls this node and may signal its processes
	Role    string                          // prefix of the reason of a failure
}

// Run runs the command with the input in and the output out, until it has ended and all its output
// is in out. An error of in or out ends the command and is returned unchanged. When ctx ends, the
// command is killed and the cause is returned. Any other error is a *Failure of the command.
func (p *Program) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	c := p.Command
	var err error
	if c.Path, err = p.Find(); err != nil {
		return err
	}
	e, err := p.stream(ctx, &c, in, out)
	if err != nil {
		return err
	}
	f := ExitFailure(e)
	if f == nil {
		return nil
	}
	f.Reason = p.Role + f.Reason
	if err := f.Believe(ctx, p.Batch); err != error(f) || !p.Lax {
		return err
	}
	return nil
}

// stream runs a command and returns how it ended, or an error if it was not started or its input or
// output failed.
func (p *Program) stream(ctx context.Context, c *Command, in io.Reader, out io.Writer) (Exit, error) {
	r := &run{grace: c.Grace, eof: make(chan struct{})}
	theirs, err := r.open()
	if err != nil {
		return Exit{}, err
	}
	defer r.close()
	over, err := r.start(p, c, theirs)
	if err != nil {
		return Exit{}, err
	}
	stop := context.AfterFunc(ctx, r.p.kill)
	defer stop()
	var pumps sync.WaitGroup
	pumps.Go(func() { r.feed(in) })
	pumps.Go(func() { r.listen(p.Log) })
	r.collect(out)
	close(r.eof)
	e := <-over
	r.giveUp() // nobody reads the input any more, even if a process still has it open
	_ = r.err.SetReadDeadline(time.Now().Add(c.Grace))
	pumps.Wait()
	p.Set.ended(r.p, e)
	if ctx.Err() != nil {
		return e, context.Cause(ctx)
	}
	return e, r.fault
}

// run is one run of a command.
type run struct {
	p        *Process
	grace    time.Duration
	in, out  *pipeEnd
	err      *os.File // our end of the standard error
	activity activity
	eof      chan struct{} // closed at the end of the standard output

	mu    sync.Mutex
	fault error // the error of the input or output, which is not the program's
}

// start starts the command on a lane. The channel receives how the command ended.
func (r *run) start(p *Program, c *Command, theirs []*os.File) (<-chan Exit, error) {
	started, over := make(chan error, 1), make(chan Exit, 1)
	p.Lanes.Run(c.Change.Mask(), func(ln *Lane) {
		ln.Bind(nil)
		var err error
		r.p, err = p.Set.start(c, []uintptr{theirs[0].Fd(), theirs[1].Fd(), theirs[2].Fd()}, &r.activity)
		started <- err
		if err == nil {
			e := r.p.reap()
			e.Remains = r.awaitRest()
			over <- e
		}
	})
	err := <-started
	closeAll(theirs) // the program has its own descriptors
	return over, err
}

// open creates the program's pipes and returns the program's ends.
func (r *run) open() (theirs []*os.File, err error) {
	var ours []*os.File
	for i, size := range []int{pipeSize, pipeSize, 0} {
		mine, other, err := pipe(i > 0, size)
		if err != nil {
			closeAll(append(ours, theirs...))
			return nil, err
		}
		ours, theirs = append(ours, mine), append(theirs, other)
	}
	r.in, r.out, r.err = newPipeEnd(ours[0], &r.activity), newPipeEnd(ours[1], &r.activity), ours[2]
	return theirs, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written, or Write returned the error
	}
}

// close closes our ends; feed has already closed that of the input.
func (r *run) close() { closeAll([]*os.File{r.in.File, r.out.File, r.err}) }

// giveUp ends all waiting for the program's pipes.
func (r *run) giveUp() {
	r.in.giveUp()
	r.out.giveUp()
}

// awaitRest waits for what is left of the program after it has ended, which may write to the output as long as that is open (as in tee >(filter)).
// An output that is kept open from outside the family is given up.
func (r *run) awaitRest() Remains {
	left := r.p.rest(r.eof)
	select {
	case <-r.eof:
	case <-time.After(r.grace):
		r.giveUp()
	}
	return left
}

// pieceSize is how many bytes are moved at once.
const pieceSize = 256 << 10

// pieces is a pool of buffers of pieceSize bytes.
var pieces = sync.Pool{New: func() any { b := make([]byte, pieceSize); return &b }}

// feed writes the task's input to the program until the program reads no more.
func (r *run) feed(in io.Reader) {
	defer func() { _ = r.in.Close() }()
	r.activity.busy.Add(1)
	defer r.activity.busy.Add(-1)
	switch err := pass(in, r.in); {
	case err == nil:
		r.p.sawMemory(probe.HighWater(r.p.pid))
	case !enough(err):
		r.fail(err)
	}
}

// collect copies the program's output to out until its end.
func (r *run) collect(out io.Writer) {
	r.activity.busy.Add(1)
	defer r.activity.busy.Add(-1)
	if err := pass(r.out, out); err != nil && !enough(err) {
		r.fail(err)
	}
}

// pass copies in to out, piece by piece.
func pass(in io.Reader, out io.Writer) error {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	for {
		n, err := in.Read(*piece)
		if n > 0 {
			if _, err := out.Write((*piece)[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// listen reads the program's standard error.
func (r *run) listen(log *Log) {
	s := &stream{log: log}
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
	r.giveUp()
}
