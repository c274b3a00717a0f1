package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
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
	Skip    int64                           // a command that has written so many lines may leave its input unread; −1: none may
}

// SkipKey is the job key with the value of Skip for mappers.
const SkipKey = "stream.minRecWrittenToEnableSkip_"

// maxUnread is how many bytes of its input a command may leave unread. Hadoop notices no less, as so much fits into the pipe and into the
// buffer before it.
const maxUnread = 192 << 10

// Run runs the command with the input in and the output out, until it has ended and all its output
// is in out. An error of in or out ends the command and is returned unchanged. When ctx ends, the
// command is killed and the cause is returned. Any other error is a *Failure of the command; one that
// ends before it has read its input has failed, as for Hadoop.
func (p *Program) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	c := p.Command
	var err error
	if c.Path, err = p.Find(); err != nil {
		return err
	}
	counted := &lineCounter{Writer: out}
	if p.Skip > 0 {
		out = counted
	}
	e, unread, err := p.stream(ctx, &c, in, out)
	if err != nil {
		return err
	}
	if f := ExitFailure(e); f != nil {
		f.Reason = p.Role + f.Reason
		if err := f.Believe(ctx, p.Batch); err != error(f) || !p.Lax {
			return err
		}
	}
	return p.judgeUnread(ctx, unread, counted.n)
}

// judgeUnread returns the failure of a command that has not read its input. Less than maxUnread is only counted.
func (p *Program) judgeUnread(ctx context.Context, unread, written int64) error {
	switch {
	case p.Skip >= 0 && written >= p.Skip:
		return nil
	case unread > maxUnread:
		f := Failed("%sended before it had read its input; let it read to the end, for example with cat >/dev/null as its last command"+
			" (-D %s=0 allows a mapper not to)", p.Role, SkipKey)
		return f.Believe(ctx, p.Batch)
	case unread > 0:
		p.Set.Meter.Counter(job.TaskCounterGroup, "UNREAD_INPUT_BYTES", unread)
	}
	return nil
}

// lineCounter counts lines.
type lineCounter struct {
	io.Writer
	n int64
}

func (c *lineCounter) Write(b []byte) (int, error) {
	c.n += int64(bytes.Count(b, []byte{'\n'}))
	return c.Writer.Write(b)
}

// stream runs a command and returns how it ended and how many bytes of its input it has left unread, or
// an error if it was not started or its input or output failed. Above maxUnread the number is a lower bound.
func (p *Program) stream(ctx context.Context, c *Command, in io.Reader, out io.Writer) (Exit, int64, error) {
	r := &run{grace: c.Grace, eof: make(chan struct{})}
	theirs, err := r.open()
	if err != nil {
		return Exit{}, 0, err
	}
	defer r.close()
	over, err := r.start(p, c, theirs)
	if err != nil {
		return Exit{}, 0, err
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
		return e, 0, context.Cause(ctx)
	}
	return e, r.unwritten + inPipe(r.rest), r.fault
}

// inPipe returns how many bytes are in a pipe.
func inPipe(end *os.File) int64 {
	n, err := unix.IoctlGetInt(int(end.Fd()), unix.TIOCINQ) // FIONREAD
	if err != nil {
		return 0
	}
	return int64(n)
}

// run is one run of a command.
type run struct {
	p        *Process
	grace    time.Duration
	in, out  *pipeEnd
	err      *os.File // our end of the standard error
	rest     *os.File // the program's end of the input, which we keep open: what it leaves there stays countable
	activity activity
	eof      chan struct{} // closed at the end of the standard output

	unwritten int64 // bytes of the input that were not written to the program, as far as they were counted

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
	r.rest = theirs[0]
	closeAll(theirs[1:]) // the program has its own descriptors
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
func (r *run) close() { closeAll([]*os.File{r.in.File, r.out.File, r.err, r.rest}) }

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
	defer r.in.Close()
	r.activity.busy.Add(1)
	defer r.activity.busy.Add(-1)
	left, err := pass(in, r.in)
	r.unwritten = int64(left)
	if err != nil && enough(err) {
		err = r.skip(in)
	}
	switch {
	case err != nil:
		r.fail(err)
	case r.unwritten == 0:
		probe.Raise(&r.p.peak, probe.HighWater(r.p.pid))
	}
}

// skip reads the input that the program has not read, up to the limit.
func (r *run) skip(in io.Reader) error {
	n, err := io.Copy(io.Discard, io.LimitReader(in, maxUnread))
	r.unwritten += n
	return err
}

// collect copies the program's output to out until its end.
func (r *run) collect(out io.Writer) {
	r.activity.busy.Add(1)
	defer r.activity.busy.Add(-1)
	if _, err := pass(r.out, out); err != nil && !enough(err) {
		r.fail(err)
	}
}

// pass copies in to out, piece by piece. It returns how many of the bytes that it has read it has not written.
func pass(in io.Reader, out io.Writer) (left int, err error) {
	piece := pieces.Get().(*[]byte)
	defer pieces.Put(piece)
	for {
		n, err := in.Read(*piece)
		if n > 0 {
			if done, err := out.Write((*piece)[:n]); err != nil {
				return n - done, err
			}
		}
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
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
