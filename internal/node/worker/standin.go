package worker

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"

	"berth/internal/node/process"
)

// standInGrace is how long a worker that must end waits for its stand-in, which must end too. The time between SIGTERM and
// SIGKILL of a batch system is longer than this and the time that the worker itself needs (Slurm: KillWait, 30 s).
const standInGrace = 15 * time.Second

// standIn starts a coordinator on the worker's node if no other one answers. The coordinator locks the user's state folder,
// so at most one of several stays. Others end at once, and are started again later.
type standIn struct {
	cfg    Config
	next   time.Duration // time without a coordinator after which the next one is started
	cmd    *exec.Cmd     // the last one that was started, or nil
	exited chan struct{} // closed when cmd has ended
}

func newStandIn(cfg Config) *standIn {
	s := &standIn{cfg: cfg}
	s.next = s.wait()
	return s
}

// wait returns the time until the next start. A third of it is random, so that of many workers one probably finds the lock
// free.
func (s *standIn) wait() time.Duration {
	if s.cfg.StandIn == nil {
		return 0
	}
	after := max(s.cfg.StandIn.After, time.Millisecond)
	return after + time.Duration(s.cfg.Rand.Int64N(int64(after)/2+1))
}

// startAfter starts a stand-in if no coordinator has answered for long enough.
func (s *standIn) startAfter(alone time.Duration) {
	if s.cfg.StandIn == nil || alone < s.next {
		return
	}
	s.next = alone + s.wait()
	if s.runs() {
		return
	}
	if err := s.start(); err != nil {
		s.cfg.Log.Warn("no stand-in coordinator can be started", "err", err)
	}
}

// answered notes that a coordinator has answered.
func (s *standIn) answered() { s.next = s.wait() }

func (s *standIn) start() error {
	log, err := os.OpenFile(s.cfg.StandIn.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(s.cfg.StandInCommand[0], s.cfg.StandInCommand[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.Env = append(os.Environ(), s.cfg.StandIn.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := process.StartHelper(cmd, false); err != nil {
		return err
	}
	s.cfg.Log.Info("no coordinator answers; a stand-in is started", "pid", cmd.Process.Pid)
	exited := make(chan struct{})
	s.cmd, s.exited = cmd, exited
	go func() {
		defer close(exited)
		_ = cmd.Wait() // the log of coordinators says why it ended
	}()
	return nil
}

// runs reports whether the stand-in that was started last is alive.
func (s *standIn) runs() bool {
	if s.cmd == nil {
		return false
	}
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// outlive waits until the worker's stand-in has ended, because a batch system kills what is left when the last worker of a
// job ends. When ctx is done, the stand-in is asked to end too.
func (s *standIn) outlive(ctx context.Context) {
	if !s.runs() {
		return
	}
	select {
	case <-s.exited:
		return
	case <-ctx.Done():
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may just have ended
	select {
	case <-s.exited:
	case <-time.After(standInGrace):
	}
}
