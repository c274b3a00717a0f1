package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// standInGrace is how long a worker that was told to end waits for its stand-in, which was told
// the same, to end in order. Batch systems leave more time than that and what the worker itself
// takes between SIGTERM and SIGKILL (Slurm: KillWait, 30 s).
const standInGrace = 15 * time.Second

// standIn starts a coordinator on the worker's node where no other answers. The coordinator
// takes the user's lock, so that at most one of all that are started stays; another ends at
// once, and is tried again later.
type standIn struct {
	cfg    Config
	log    *slog.Logger
	rand   *rand.Rand
	next   time.Duration // how long no coordinator has answered when the next one is started
	cmd    *exec.Cmd     // that was started last; nil: none
	exited chan struct{} // closed when cmd has ended
}

func newStandIn(cfg Config) *standIn {
	s := &standIn{cfg: cfg, log: cfg.Log, rand: cfg.Rand}
	s.next = s.wait()
	return s
}

// wait returns the time until the next try. A third of it is chance, so that of many workers
// one is likely to be alone with the lock.
func (s *standIn) wait() time.Duration {
	if s.cfg.StandIn == nil {
		return 0
	}
	after := max(s.cfg.StandIn.After, time.Millisecond)
	return after + time.Duration(s.rand.Int64N(int64(after)/2+1))
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
		s.log.Warn("no stand-in coordinator can be started", "err", err)
	}
}

// answered takes in that a coordinator has answered.
func (s *standIn) answered() { s.next = s.wait() }

func (s *standIn) start() error {
	log, err := os.OpenFile(s.cfg.StandIn.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(s.cfg.StandInCommand[0], s.cfg.StandInCommand[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.Env = append(os.Environ(), s.cfg.StandIn.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.log.Info("no coordinator answers; a stand-in is started", "pid", cmd.Process.Pid)
	exited := make(chan struct{})
	s.cmd, s.exited = cmd, exited
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it says in the coordinators' log why it ended
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

// outlive waits until the worker's stand-in has ended, as what a batch job leaves behind is
// killed when its last worker ends. Once ctx is done the stand-in is told to end, too.
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
