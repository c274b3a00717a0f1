package coordinator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"berth/internal/core/job"
)

// notifyPatience is how long the end of a command of --notify is waited for, so that its failure is told. It may go on after that.
const notifyPatience = 20 * time.Second

// notified is the file in a run's folder that takes what the command of --notify prints. It is there once that command was started.
const notified = "notified"

// notify runs the command that the user wants to be run when the job is over, with the job's summary as its standard input. Whatever
// becomes of coordinators meanwhile, it is run once. That it fails is told, and changes nothing.
func (e *ending) notify() {
	command := e.l.Spec.Request.Notify
	if command == "" {
		return
	}
	path := filepath.Join(e.l.run.Dir, notified)
	err := e.runNotify(command, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return
	}
	text := fmt.Sprintf("the command of --notify failed: %v", err)
	if b, err := os.ReadFile(path); err == nil {
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		text = strings.TrimSuffix(text+": "+lines[len(lines)-1], ": ")
	}
	e.s.log.Error(text, "job", e.l.run.ID)
	e.view.Notes = append(slices.Clone(e.view.Notes), job.Shorten(text, 300))
	_ = e.l.writeSummary(e.view) // the log has it
}

// runNotify starts the command and waits for its end, but not for long.
func (e *ending) runNotify(command, path string) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer out.Close() // what is not written is not told
	in, err := os.Open(e.l.run.Summary())
	if err != nil {
		return err
	}
	defer in.Close() // only read
	spec := e.l.Spec
	cmd := exec.Command(job.PosixShell, "-c", command)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = spec.Dir, in, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends the coordinator leaves it alone
	if spec.Bag != nil {
		cmd.Env = spec.Bag.Env
	} else {
		cmd.Env = spec.MapReduce.Env
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(notifyPatience):
	case <-e.s.stopped:
	}
	return err
}
