package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/registry"
	"berth/internal/node/process"
	"berth/internal/server/leader"
	"berth/internal/sys/disk"
	"berth/internal/sys/procattr"
	"berth/internal/sys/statedir"
)

// ReadyFD is the file descriptor to which a coordinator that was started in the background writes Ready or an error (a
// job.Error), and which it then closes.
const ReadyFD = 3

// Ready is the message of a coordinator that accepts connections.
const Ready = "ready\n"

type noticeKey struct{}

// WithNotice returns a context in which calls of this package, and Tell, call notice with messages to the user.
func WithNotice(ctx context.Context, notice func(string)) context.Context {
	return context.WithValue(ctx, noticeKey{}, notice)
}

// Tell tells the user something, if the context is one of WithNotice.
func Tell(ctx context.Context, text string) {
	if notice, ok := ctx.Value(noticeKey{}).(func(string)); ok {
		notice(text)
	}
}

// Moment is how long somebody waits for what usually takes less, before being told why.
const Moment = time.Second

// inBatchJob reports whether this process is part of a batch job. A command there does not replace a stand-in, because
// its own coordinator would end with the job.
func inBatchJob() bool { return registry.Inside(os.Environ()) != "" }

// Ensure returns a client of the user's coordinator. If none runs, it starts one with these flags of "berth server
// run". A stand-in yields to the coordinator that is started, and the user is told (WithNotice).
func Ensure(ctx context.Context, h statedir.Home, flags ...string) (*Client, error) {
	c := NewClient(h)
	hello, err := c.Hello(ctx)
	if err == nil && (!hello.StandIn || inBatchJob()) {
		return c, nil
	}
	if err != nil && !errors.Is(err, ErrNoServer) && !errors.Is(err, ErrLost) {
		return nil, err
	}
	switch o, _ := leader.Of(h).Holder(); { // an error of the lock is reported when it is taken
	case o == nil:
	case o.StandIn:
		Tell(ctx, fmt.Sprintf("your coordinator runs on node %s as a stand-in; taking over", o.Host))
	default:
		told := time.AfterFunc(Moment, func() {
			Tell(ctx, fmt.Sprintf("waiting for your coordinator (process %d on %s), which ends once its files and requests are in order, or is starting; its log is %s",
				o.PID, o.Host, h.ServerLog()))
		})
		defer told.Stop()
	}
	if err := launch(h, flags...); err != nil {
		return nil, err
	}
	_, err = c.Hello(ctx)
	return c, err
}

// maxTries is how often one call is repeated when the coordinator ends. With the pauses in between that takes half a
// minute, enough for a coordinator to end.
const maxTries = 25

// Again repeats a call while its error is ErrLost: a coordinator that dies or is ending closes its connections, and
// another one may follow.
func Again(ctx context.Context, call func() error) error {
	for tries := 0; ; tries++ {
		err := call()
		if !errors.Is(err, ErrLost) || tries == maxTries {
			return err
		}
		select {
		case <-time.After(time.Duration(tries) * 100 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Call makes a call to the user's coordinator, which is started if none runs. If the coordinator ends before it
// answers, the next one is started and called: it knows all that its predecessor had accepted.
func Call(ctx context.Context, h statedir.Home, call func(*Client) error) error {
	return Again(ctx, func() error {
		c, err := Ensure(ctx, h)
		if err == nil {
			err = call(c)
		}
		if errors.Is(err, ErrNoServer) {
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
		return err
	})
}

// launch starts a coordinator in a session of its own, and waits until it or another one accepts connections.
func launch(h statedir.Home, flags ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find berth's own program: %w", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	defer r.Close()
	cmd, err := spawn(h, exe, w, flags)
	_ = w.Close()
	if err != nil {
		return err
	}
	said, err := io.ReadAll(r)
	if err == nil && string(said) == Ready {
		return cmd.Process.Release()
	}
	_ = cmd.Wait()
	var why job.Error
	if json.Unmarshal(said, &why) == nil && why.What != "" {
		if why.Do == "" {
			why.Do = "its log is " + h.ServerLog()
		}
		return &why
	}
	// The coordinator was killed before it could write an error, so another try may succeed.
	return fmt.Errorf("%w as it started; its log is %s", ErrLost, h.ServerLog())
}

// spawn starts a coordinator that writes to its log, and to ready when it accepts connections.
func spawn(h statedir.Home, exe string, ready *os.File, flags []string) (*exec.Cmd, error) {
	log, err := os.OpenFile(h.ServerLog(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, job.IOError(job.Fatal, h.ServerLog(), "cannot open the coordinator's log", err).Advice(disk.Advice(err))
	}
	defer log.Close()
	cmd := exec.Command(exe, append([]string{"server", "run", "--ready-fd"}, flags...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.Env = serverEnv(os.Environ())
	cmd.ExtraFiles = []*os.File{ready} // becomes ReadyFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := startNeutral(cmd); err != nil {
		return nil, job.FatalError(exe, "cannot start the coordinator", err)
	}
	return cmd, nil
}

// serverEnv returns the environment of a coordinator, which runs in another folder than this command. Tasks have that of the command.
func serverEnv(env []string) []string {
	env = slices.DeleteFunc(env, process.OfTask) // a task's worker ends all that carry its mark
	if tmp, _ := job.LookupEnv(env, "TMPDIR"); tmp != "" {
		if abs, err := filepath.Abs(tmp); err == nil {
			env = append(env, "TMPDIR="+abs)
		}
	}
	return env
}

// startNeutral starts a process that outlives this command and serves later ones, which may run with other attributes. So
// it inherits none of those that this command was given.
func startNeutral(cmd *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine
		procattr.NeutralThread()
		started <- cmd.Start()
	}()
	return <-started
}
