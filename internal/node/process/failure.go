package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// Exit codes of shells for commands that could not be started (POSIX XCU 2.8.2).
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

// Failure is the reason why an attempt did not succeed, as reported in event.AttemptEnded.
type Failure struct {
	Outcome event.Outcome
	Exit    int
	Signal  int
	Lack    event.Lack
	Reason  string // one line of text
	// Returned says that the attempt has not begun, and Cut that its worker was told to end (event.AttemptEnded).
	Returned, Cut bool
	passing       bool // the cause may pass soon: no free file descriptor, or no space on this host
}

func (f *Failure) Error() string { return f.Reason }

func Failed(format string, args ...any) *Failure {
	return &Failure{Outcome: event.Failed, Reason: fmt.Sprintf(format, args...)}
}

// Lost returns the failure of an attempt whose node is gone.
func Lost(format string, args ...any) *Failure {
	return &Failure{Outcome: event.Lost, Reason: fmt.Sprintf(format, args...)}
}

func Broken(format string, args ...any) *Failure {
	return &Failure{Outcome: event.Broken, Reason: fmt.Sprintf(format, args...)}
}

// exited returns the failure of a program with that exit status.
func exited(status int, format string, args ...any) *Failure {
	f := Failed(format, args...)
	f.Exit = status
	return f
}

// maxScarce is the highest attempt number that ends as lost instead of failed when there is no file
// descriptor or no space. The limit stops a task that itself opens too many files, and one for which each disk is too small.
const maxScarce = 10

// scarcePause is how long the worker waits before it reports such a failure, because the task is
// assigned again at once.
const scarcePause = time.Second

// IsScarce reports whether the error is that too many files are open. It says nothing about the task,
// a disk or a folder, and passes when other processes close their files.
func IsScarce(err error) bool {
	return IsAny(err, syscall.EMFILE, syscall.ENFILE)
}

// IsAny reports whether an error is one of these errors of the system.
func IsAny(err error, of ...syscall.Errno) bool {
	return slices.ContainsFunc(of, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// DiskFailure returns the failure of an attempt whose host has no space, or a folder that cannot be used. Another host or a later attempt may succeed.
func DiskFailure(format string, args ...any) *Failure {
	return &Failure{Outcome: event.Lost, Lack: event.LackDisk, passing: true, Reason: fmt.Sprintf(format, args...)}
}

// lack returns the failure of an attempt for which no file could be opened.
func lack(err error) *Failure {
	return &Failure{Outcome: event.Lost, passing: true, Reason: fmt.Sprintf("too many open files (ulimit -n): %v", err)}
}

// FailureOf converts an error to a failure. Permanent errors of the machine (a full disk, a
// read-only file system, no memory) break the job instead of failing the task: another attempt on
// the machine would have the same error, and the job can be resumed when the machine is repaired.
// The same holds for input that is damaged, missing or changed, and for folders that cannot be
// written: the user has to correct these.
func FailureOf(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if IsScarce(err) {
		return lack(err)
	}
	var e *job.Error
	if OfMachine(err) || errors.As(err, &e) && (e.Class == job.Fatal || e.Class == job.User && e.Code == job.CodeIO) {
		return Broken("%v", err)
	}
	return Failed("%v", err)
}

// OfMachine reports whether an error is caused by the machine and not by the task.
func OfMachine(err error) bool {
	return IsAny(err, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENOMEM)
}

// ScratchFailure returns the failure of an attempt that could not use the worker's scratch folder.
func ScratchFailure(dir string, err error) *Failure {
	if IsScarce(err) {
		return lack(err)
	}
	if IsAny(err, syscall.ENOSPC, syscall.EDQUOT) {
		return Broken("no room left in the scratch folder %s; make room or name another with --scratch: %v", dir, err)
	}
	return Broken("scratch folder %s: %v", dir, err)
}

// ExitFailure returns the failure of a program, or nil if it succeeded. The outcome event.Killed means
// that berth may have caused it: the attempt must leave nothing behind, and the task starts again.
func ExitFailure(e Exit) *Failure {
	switch {
	case e.err != nil:
		return Broken("how the task ended cannot be known: %v", e.err)
	case e.planted:
		return &Failure{Outcome: event.Killed,
			Reason: "a signal ended it while entries of its functions were counted; it starts again, and they are not counted any more"}
	case e.starved:
		return &Failure{Outcome: event.Failed, Exit: max(0, e.code), Signal: int(e.signal), Lack: event.LackNodeMemory,
			Reason: "killed by the kernel for lack of memory; ask for more with --mem, which also keeps other tasks off its node"}
	case e.signal != 0:
		return &Failure{Outcome: event.Failed, Signal: int(e.signal),
			Reason: fmt.Sprintf("killed by signal %d (%s)", int(e.signal), unix.SignalName(e.signal))}
	case e.code != 0:
		return exited(e.code, "exit status %d", e.code)
	case e.Unfinished:
		return Failed("what it had started was not finished when it did nothing any more")
	default:
		return nil
	}
}

// Requeued returns the end of an attempt whose program says with this exit status that it is not done and is to start again.
func Requeued(exit int) *Failure {
	return &Failure{Outcome: event.Requeued, Exit: exit, Reason: fmt.Sprintf("not done: it ended with the exit status %d of --requeue-exit", exit)}
}

// Unhandled adds to the reason of a failure by that signal, which --signal sent, that the program does not handle it.
func (f *Failure) Unhandled(s syscall.Signal) {
	if n := int(s); n != 0 && (f.Signal == n || f.Exit == exitSignal+n) {
		f.Reason += "; --signal sends " + unix.SignalName(s) + " before its time is over, and the first process of the task does not handle it"
	}
}

// almostFull is the free space, in bytes, below which a disk counts as full.
const almostFull = 64 << 10

// FullDisk adds to the reason of a failure that the disk of a folder is full: the program may not have been able to say so, as its
// standard error is on that disk, too.
func (f *Failure) FullDisk(dir string) { f.fullDisk(dir, unix.Statfs) }

func (f *Failure) fullDisk(dir string, statfs func(string, *unix.Statfs_t) error) {
	var s unix.Statfs_t
	if statfs(dir, &s) == nil && s.Blocks > 0 && s.Bavail*uint64(s.Bsize) < almostFull {
		f.Reason += "; the disk of " + dir + " is full"
	}
}

// startFailure returns the reason why a program could not be started in dir. The error of ForkExec
// is the same for a missing folder and a missing program.
func startFailure(path, dir string, err error) *Failure {
	if st, serr := os.Stat(dir); serr != nil || !st.IsDir() {
		return exited(exitCannotRun, "the folder %s cannot be entered on this node", dir)
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, path)
	}
	_, statErr := os.Stat(full)
	switch {
	case IsScarce(err):
		return lack(err)
	case errors.Is(err, syscall.ENOENT) && statErr == nil:
		return exited(exitCannotRun, "%s cannot be run: %s", path, interpreterFault(full))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return NotFound(path)
	case errors.Is(err, fs.ErrPermission):
		return exited(exitCannotRun, "%s cannot be run: permission denied; chmod +x it", path)
	case errors.Is(err, syscall.E2BIG):
		return exited(exitCannotRun, "%s cannot be run: its arguments and environment are too long for this machine (getconf ARG_MAX)", path)
	case errors.Is(err, syscall.EAGAIN), OfMachine(err):
		return Broken("%s cannot be started: %v; the machine is out of processes (ulimit -u) or memory", path, err)
	default:
		return exited(exitCannotRun, "%s cannot be run: %v", path, err)
	}
}

// interpreterFault says what is wrong with the interpreter of a script, or with the loader of a
// compiled program.
func interpreterFault(file string) string {
	head := make([]byte, 256) // kernels read this much of the file
	if f, err := os.Open(file); err == nil {
		n, _ := f.Read(head)
		_ = f.Close() // the file was only read
		head = head[:n]
	}
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	words := bytes.Fields(bytes.TrimPrefix(line, []byte("#!")))
	switch {
	case bytes.HasSuffix(line, []byte{'\r'}):
		return `the interpreter in its first line ends with a carriage return, as the file has Windows line ends; take them off: sed -i 's/\r$//'`
	case bytes.HasPrefix(line, []byte("#!")) && len(words) > 0:
		return fmt.Sprintf("the interpreter in its first line, %s, does not exist", words[0])
	default:
		return "the loader it was linked for is not there"
	}
}

func NotFound(name string) *Failure {
	return exited(exitNotFound, "not found: %s (exit status %d)", name, exitNotFound)
}

// NotFound reports whether the program was not started because it does not exist.
func (f *Failure) NotFound() bool { return f.Exit == exitNotFound }

// Ended returns the record of an attempt that ended with err; nil means success.
func Ended(at job.Attempt, err error) event.AttemptEnded {
	if err == nil {
		return event.AttemptEnded{Attempt: at, Outcome: event.Done}
	}
	f := FailureOf(err)
	return event.AttemptEnded{Attempt: at, Outcome: f.Outcome, Exit: f.Exit, Signal: f.Signal, Lack: f.Lack, Returned: f.Returned, Cut: f.Cut, Reason: OneLine(f.Reason)}
}

// AwaitPassing returns the failure of the n-th attempt of a task. If there was no file descriptor
// or no space, it first pauses, so that the task is not tried again without end.
func (f *Failure) AwaitPassing(ctx context.Context, n int) *Failure {
	if !f.passing {
		return f
	}
	pause := scarcePause
	if f.Lack == event.LackDisk {
		pause <<= min(n-1, 2) // where no other host may run it
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

// OutputError returns an error that names the output and, if known, says what to do.
func OutputError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case IsScarce(err):
		return lack(err)
	case IsAny(err, unix.ENOSPC, unix.EDQUOT):
		return Broken("output %s cannot be written: %v; free space there", path, err)
	case OfMachine(err):
		return Broken("output %s cannot be written: %v", path, err)
	default:
		return Failed("output %s cannot be written: %v", path, err)
	}
}
