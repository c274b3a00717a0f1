package worker

import (
	"bytes"
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

// failure is why an attempt did not succeed, as its AttemptEnded tells it.
type failure struct {
	outcome event.Outcome
	exit    int
	signal  int
	reason  string // one line
	scarce  bool   // for want of a file descriptor
}

func (f *failure) Error() string { return f.reason }

func failed(format string, args ...any) *failure {
	return &failure{outcome: event.Failed, reason: fmt.Sprintf(format, args...)}
}

func broken(format string, args ...any) *failure {
	return &failure{outcome: event.Broken, reason: fmt.Sprintf(format, args...)}
}

// maxScarce is up to which attempt of a task one that found no free descriptor is lost and
// not failed: a task that itself needs more files than there may be shall not go on for ever.
const maxScarce = 10

// scarcePause is how long the worker waits then before it tells, as it is asked again at once.
const scarcePause = time.Second

// scarce reports whether an error is that too many files are open. The task is not to blame,
// and no disk or folder: it passes when others close theirs.
func scarce(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// lack is the failure of an attempt for which no file could be opened.
func lack(err error) *failure {
	return &failure{outcome: event.Lost, scarce: true, reason: fmt.Sprintf("too many open files (ulimit -n): %v", err)}
}

// failureOf says how an attempt ended that ended with err. What the machine
// refuses for good (a full disk, a file system that went read-only, no more
// memory) breaks the job, which can be resumed once that is mended: trying again
// elsewhere on the machine would only repeat it. So does input that is damaged,
// gone or changed, and a folder that cannot be written: errors of input and output
// that are the user's to mend.
func failureOf(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	if scarce(err) {
		return lack(err)
	}
	var e *job.Error
	if ofMachine(err) || errors.As(err, &e) && (e.Class == job.Fatal || e.Class == job.User && e.Code == job.CodeIO) {
		return broken("%v", err)
	}
	return failed("%v", err)
}

// ofMachine reports whether an error is the machine's and not the task's.
func ofMachine(err error) bool {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// scratchFailure says that the worker's own folder let it down.
func scratchFailure(dir string, err error) *failure {
	if scarce(err) {
		return lack(err)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return broken("no room left in the scratch folder %s; make room or name another with --scratch: %v", dir, err)
	}
	return broken("scratch folder %s: %v", dir, err)
}

// exitFailure says how a program failed, nil if it did not.
func exitFailure(e exited) *failure {
	switch {
	case e.err != nil:
		return broken("how the task ended cannot be known: %v", e.err)
	case e.signal != 0:
		return &failure{outcome: event.Failed, signal: int(e.signal),
			reason: fmt.Sprintf("killed by signal %d (%s)", int(e.signal), unix.SignalName(e.signal))}
	case e.code != 0:
		return &failure{outcome: event.Failed, exit: e.code, reason: fmt.Sprintf("exit status %d", e.code)}
	default:
		return nil
	}
}

// startFailure says why a program could not be started in dir. ForkExec does not
// tell a missing folder from a missing program.
func startFailure(path, dir string, err error) *failure {
	if st, serr := os.Stat(dir); serr != nil || !st.IsDir() {
		return &failure{outcome: event.Failed, exit: exitCannotRun,
			reason: fmt.Sprintf("cannot enter the folder %s on this node", dir)}
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, path)
	}
	_, statErr := os.Stat(full)
	f := &failure{outcome: event.Failed, exit: exitCannotRun}
	switch {
	case scarce(err):
		return lack(err)
	case errors.Is(err, syscall.ENOENT) && statErr == nil:
		f.reason = fmt.Sprintf("%s cannot be run: %s", path, interpreterFault(full))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return notFound(path)
	case errors.Is(err, fs.ErrPermission):
		f.reason = fmt.Sprintf("%s cannot be run: permission denied; chmod +x it", path)
	case errors.Is(err, syscall.E2BIG):
		f.reason = fmt.Sprintf("%s cannot be run: its arguments and environment are too long for this machine (getconf ARG_MAX)", path)
	case errors.Is(err, syscall.EAGAIN), ofMachine(err):
		return broken("%s cannot be started: %v; the machine is out of processes (ulimit -u) or memory", path, err)
	default:
		f.reason = fmt.Sprintf("%s cannot be run: %v", path, err)
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

func notFound(name string) *failure {
	return &failure{outcome: event.Failed, exit: exitNotFound,
		reason: fmt.Sprintf("not found: %s (exit status %d)", name, exitNotFound)}
}

// ended makes the record of an attempt that ended with err, nil for success.
func ended(at job.Attempt, err error) event.AttemptEnded {
	if err == nil {
		return event.AttemptEnded{Attempt: at, Outcome: event.Done}
	}
	f := failureOf(err)
	return event.AttemptEnded{Attempt: at, Outcome: f.outcome, Exit: f.exit, Signal: f.signal, Reason: oneLine(f.reason)}
}
