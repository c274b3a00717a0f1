package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/event"
	"berth/internal/job"
)

// Exit codes that shells give to commands that did not start (POSIX XCU 2.8.2).
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// Failure is why an attempt did not succeed, as its AttemptEnded tells it.
type Failure struct {
	Outcome event.Outcome
	Exit    int
	Signal  int
	Reason  string // one line
	passing bool   // for want of what may be there again soon: a file descriptor, room on this host
	slowly  bool   // and rather on another host: the pause before it is told grows with the attempts of the task
}

func (f *Failure) Error() string { return f.Reason }

func Failed(format string, args ...any) *Failure {
	return &Failure{Outcome: event.Failed, Reason: fmt.Sprintf(format, args...)}
}

func Broken(format string, args ...any) *Failure {
	return &Failure{Outcome: event.Broken, Reason: fmt.Sprintf(format, args...)}
}

// maxScarce is up to which attempt of a task one that found no free descriptor or no room is lost and
// not failed: a task that itself needs more files than there may be shall not go on for ever.
const maxScarce = 10

// scarcePause is how long the worker waits then before it tells, as it is asked again at once.
const scarcePause = time.Second

// maxDoublings bounds the pause of a host without room, which has about three minutes so in all, in which others take the task.
const maxDoublings = 5

// scarce reports whether an error is that too many files are open. The task is not to blame,
// and no disk or folder: it passes when others close theirs.
func scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Passing is the failure of an attempt whose host lacks something for the moment: another host, or a later attempt, may have it.
func Passing(format string, args ...any) *Failure {
	return &Failure{Outcome: event.Lost, passing: true, slowly: true, Reason: fmt.Sprintf(format, args...)}
}

// IsFailure reports whether the error is a Failure, which says how the attempt ended.
func IsFailure(err error) bool { return errors.As(err, new(*Failure)) }

// lack is the failure of an attempt for which no file could be opened.
func lack(err error) *Failure {
	return &Failure{Outcome: event.Lost, passing: true, Reason: fmt.Sprintf("too many open files (ulimit -n): %v", err)}
}

// FailureOf says how an attempt ended that ended with err. What the machine
// refuses for good (a full disk, a file system that went read-only, no more
// memory) breaks the job, which can be resumed once that is mended: trying again
// elsewhere on the machine would only repeat it. So does input that is damaged,
// gone or changed, and a folder that cannot be written: errors of input and output
// that are the user's to mend.
func FailureOf(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if scarce(err) {
		return lack(err)
	}
	var e *job.Error
	if OfMachine(err) || errors.As(err, &e) && (e.Class == job.Fatal || e.Class == job.User && e.Code == job.CodeIO) {
		return Broken("%v", err)
	}
	return Failed("%v", err)
}

// OfMachine reports whether an error is the machine's and not the task's.
func OfMachine(err error) bool {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// ScratchFailure says that the worker's own folder let it down.
func ScratchFailure(dir string, err error) *Failure {
	if scarce(err) {
		return lack(err)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return Broken("no room left in the scratch folder %s; make room or name another with --scratch: %v", dir, err)
	}
	return Broken("scratch folder %s: %v", dir, err)
}

// ExitFailure says how a program failed, nil if it did not.
func ExitFailure(e Exit) *Failure {
	switch {
	case e.err != nil:
		return Broken("how the task ended cannot be known: %v", e.err)
	case e.starved:
		return &Failure{Outcome: event.Failed, Signal: int(e.signal),
			Reason: "killed by the kernel for lack of memory; ask for more with --mem, which also keeps other tasks off its node"}
	case e.signal != 0:
		return &Failure{Outcome: event.Failed, Signal: int(e.signal),
			Reason: fmt.Sprintf("killed by signal %d (%s)", int(e.signal), unix.SignalName(e.signal))}
	case e.code != 0:
		return &Failure{Outcome: event.Failed, Exit: e.code, Reason: fmt.Sprintf("exit status %d", e.code)}
	default:
		return nil
	}
}

// startFailure says why a program could not be started in dir. ForkExec does not
// tell a missing folder from a missing program.
func startFailure(path, dir string, err error) *Failure {
	if st, serr := os.Stat(dir); serr != nil || !st.IsDir() {
		return &Failure{Outcome: event.Failed, Exit: exitCannotRun,
			Reason: fmt.Sprintf("cannot enter the folder %s on this node", dir)}
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, path)
	}
	_, statErr := os.Stat(full)
	f := &Failure{Outcome: event.Failed, Exit: exitCannotRun}
	switch {
	case scarce(err):
		return lack(err)
	case errors.Is(err, syscall.ENOENT) && statErr == nil:
		f.Reason = fmt.Sprintf("%s cannot be run: %s", path, interpreterFault(full))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return NotFound(path)
	case errors.Is(err, fs.ErrPermission):
		f.Reason = fmt.Sprintf("%s cannot be run: permission denied; chmod +x it", path)
	case errors.Is(err, syscall.E2BIG):
		f.Reason = fmt.Sprintf("%s cannot be run: its arguments and environment are too long for this machine (getconf ARG_MAX)", path)
	case errors.Is(err, syscall.EAGAIN), OfMachine(err):
		return Broken("%s cannot be started: %v; the machine is out of processes (ulimit -u) or memory", path, err)
	default:
		f.Reason = fmt.Sprintf("%s cannot be run: %v", path, err)
	}
	return f
}

// interpreterFault says what is wrong with the interpreter that a script names, or
// with the loader of a compiled program.
func interpreterFault(file string) string {
	head := make([]byte, 256) // what kernels look at
	if f, err := os.Open(file); err == nil {
		n, _ := f.Read(head)
		_ = f.Close() // only read
		head = head[:n]
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	words := bytes.Fields(bytes.TrimPrefix(line, []byte("#!")))
	switch {
	case bytes.HasSuffix(line, []byte{'\r'}):
		return `the interpreter in its first line ends with a carriage return, as the file has Windows line ends; take them off: sed -i 's/\r$//'`
	case bytes.HasPrefix(line, []byte("#!")) && len(words) > 0:
		return fmt.Sprintf("the interpreter in its first line, %s, is not there", words[0])
	default:
		return "the loader it was linked for is not there"
	}
}

func NotFound(name string) *Failure {
	return &Failure{Outcome: event.Failed, Exit: exitNotFound,
		Reason: fmt.Sprintf("not found: %s (exit status %d)", name, exitNotFound)}
}

// Ended makes the record of an attempt that ended with err, nil for success.
func Ended(at job.Attempt, err error) event.AttemptEnded {
	if err == nil {
		return event.AttemptEnded{Attempt: at, Outcome: event.Done}
	}
	f := FailureOf(err)
	return event.AttemptEnded{Attempt: at, Outcome: f.Outcome, Exit: f.Exit, Signal: f.Signal, Reason: OneLine(f.Reason)}
}

// AwaitPassing returns the failure of the n-th attempt of a task. One that found no free
// descriptor, or no room, waits for a moment first, so that it is not tried again all the time.
func (f *Failure) AwaitPassing(ctx context.Context, n int) *Failure {
	if !f.passing {
		return f
	}
	pause := scarcePause
	if f.slowly {
		pause <<= min(n-1, maxDoublings)
	}
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
	if n > maxScarce {
		return Failed("%s", f.Reason)
	}
	return f
}
