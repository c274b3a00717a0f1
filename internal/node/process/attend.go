package process

import (
	"context"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"berth/internal/core/event"
)

// Stays is the Command.Idle of a command of Attend that may leave processes which serve launchers of ranks: they go on until the set is killed.
const Stays time.Duration = math.MaxInt64

// Attend runs a command with the input in and the outputs out and errs, and returns how it ended once nothing writes to these any more. What it
// leaves is ended as with Run, or stays (Stays, AwaitAll). If ctx ends before, the command is killed with all that it has started. It runs on the
// cores; nil: all of the worker's. An error means that it was not started.
func (s *Set) Attend(ctx context.Context, lanes *Lanes, cores []int, c *Command, in io.Reader, out, errs io.Writer) (Exit, error) {
	var ours, theirs [3]*os.File
	for i := range ours {
		var err error
		if ours[i], theirs[i], err = pipe(i > 0, 0); err != nil {
			closeAll(append(ours[:i], theirs[:i]...))
			return Exit{}, err
		}
	}
	defer closeAll(ours[1:])
	p, over, err := s.startApart(lanes, cores, c, theirs)
	closeAll(theirs[:])
	if err != nil {
		_ = ours[0].Close()
		return Exit{}, err
	}
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	go func() {
		_, _ = io.Copy(ours[0], in) // a program may leave its input unread
		_ = ours[0].Close()
	}()
	var pumps sync.WaitGroup
	pumps.Go(func() { _, _ = io.Copy(out, ours[1]) }) // if nobody takes the output any more, ctx ends
	pumps.Go(func() { _, _ = io.Copy(errs, ours[2]) })
	e := <-over
	unblock := context.AfterFunc(ctx, func() { // a process that is not of the family may have the output open
		for _, f := range ours[1:] {
			_ = f.SetReadDeadline(time.Now().Add(c.Grace))
		}
	})
	defer unblock()
	pumps.Wait()
	return e, nil
}

// startApart starts a command on a lane, which stays with it until nothing is left of it. The channel receives how the program itself ended.
func (s *Set) startApart(lanes *Lanes, cores []int, c *Command, files [3]*os.File) (p *Process, over <-chan Exit, err error) {
	started, ended := make(chan error, 1), make(chan Exit, 1)
	s.mu.Lock()
	if s.killed { // AwaitAll may have returned
		s.mu.Unlock()
		return nil, nil, &Failure{Outcome: event.Killed, Reason: "the task has ended"}
	}
	s.apart.Add(1)
	s.mu.Unlock()
	lanes.Run(c.Change.Mask(), func(ln *Lane) {
		defer s.apart.Done()
		ln.Bind(cores)
		var err error
		p, err = s.start(c, []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()}, nil)
		started <- err
		if err != nil {
			return
		}
		e := p.reap()
		if c.Idle == Stays {
			ended <- e
		}
		rest := p.rest(nil)
		if c.Idle != Stays { // else it is no surprise that it was ended
			e.Remains = rest
			ended <- e
		}
		s.ended(p, e)
	})
	err = <-started
	return p, ended, err
}

// AwaitAll waits until nothing is left of the programs that Attend has started. The set was killed before.
func (s *Set) AwaitAll() { s.apart.Wait() }

// Use returns the processor time of the programs that have ended, and the most memory that all programs used at once.
func (s *Set) Use() (cpu time.Duration, memory int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cpu, s.most
}
