package worker

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"berth/internal/node/process"
	"berth/internal/sys/private"
)

// guard is a shell that waits beside the worker. If the worker is killed, the kernel kills the programs of its tasks but not what these
// have started, which would go on, and be done perhaps, until the next worker of the node kills it: while the task runs again elsewhere,
// or as a second time that a command runs to its end. So the shell becomes a berth that kills those processes at once (Sweep).
type guard struct{ line io.WriteCloser } // its standard input: at its end the worker is dead

// waitForEnd ends with the worker's word that it ends in order.
const waitForEnd = `read -r ends && exit; exec "$@"`

// newGuard starts a guard for a node's folder, by the command that sweeps. Without one, the next worker does it alone.
func newGuard(cfg Config, dir string) guard {
	if len(cfg.SweepCommand) == 0 {
		return guard{}
	}
	cmd := exec.Command("/bin/sh", append(append([]string{"-c", waitForEnd, "sh"}, cfg.SweepCommand...), dir)...)
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends the worker's group leaves it alone
	line, err := cmd.StdinPipe()
	if err == nil {
		err = process.StartHelper(cmd, true)
	}
	if err != nil {
		cfg.Log.Warn("nothing kills processes of tasks if the worker is killed, until the next one starts", "err", err)
		return guard{}
	}
	go func() { _ = cmd.Wait() }()
	return guard{line}
}

// dismiss ends the guard, as the worker ends in order.
func (g guard) dismiss() {
	if g.line != nil {
		_, _ = fmt.Fprintln(g.line)
		_ = g.line.Close()
	}
}

// Sweep kills the processes that the tasks of a dead worker have left, which had that folder. It does nothing if another worker of the
// node has begun, which does so itself. One that begins meanwhile kills this process as it would kill a worker (takeLock).
func Sweep(dir string, v process.BatchVariables, log *slog.Logger) error {
	f, err := private.Open(filepath.Join(dir, "lock"), os.O_RDWR)
	if err != nil {
		return nil //nolint:nilerr // the folder was removed: the worker has ended in order
	}
	defer f.Close() // releases the lock
	if err := setLock(f); err != nil {
		return nil //nolint:nilerr // another worker has it, or there are no locks, and then the next worker must do it
	}
	n, err := readNote(f)
	if err != nil || n.cookie == "" {
		return err
	}
	return n.cookie.KillAll(v, n.bare, log)
}
