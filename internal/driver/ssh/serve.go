package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"berth/internal/job"
	"berth/internal/private"
	"berth/internal/wire"
)

// Serve runs a worker that a Hold at the other end of standard input and output holds. It takes both away from this process, so that no task has
// them. run is the worker; its context ends when Hold says so or is gone.
func Serve(ctx context.Context, run func(ctx context.Context, c wire.WorkerConfig, t *Tunnel) error) error {
	in, out, err := takeStdio()
	if err != nil {
		return fmt.Errorf("take standard input and output: %w", err)
	}
	if _, err := io.WriteString(out, greeting); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	session, err := yamux.Server(&ends{in, out, in.Close}, tunnelConfig())
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	s, err := receive(session)
	if err != nil {
		return fmt.Errorf("what is to be run did not arrive: %w", err)
	}
	if err := seesToken(s.Config); err != nil {
		return err
	}
	keys, err := keep(&s)
	if err != nil {
		return err
	}
	defer removeOwn(keys, s.Bundle)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &Tunnel{session: session, nodes: newArrivals(s.Config.Node)}
	go func() {
		t.attend(cancel)
		removeOwn(keys, s.Bundle) // another worker may take this one's place
		cancel()
	}()
	return run(ctx, s.Config, t)
}

// attend takes the streams that Hold opens, until the session has ended.
func (t *Tunnel) attend(end func()) {
	for {
		stream, err := t.session.AcceptStream()
		if err != nil {
			return
		}
		go func() {
			switch purpose, err := purposeOf(stream); {
			case err == nil && purpose == forOutputs:
				t.nodes.put(stream)
				return
			case err == nil && purpose == forEnd:
				end()
			}
			_ = stream.Close()
		}()
	}
}

// takeStdio returns this process's standard input and output. What it had there it has no more: /dev/null, and standard error.
func takeStdio() (in, out *os.File, err error) {
	take := func(fd, instead int, name string) (*os.File, error) {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(unix.SetNonblock(own, true), unix.Dup3(instead, fd, 0)); err != nil {
			return nil, err
		}
		return os.NewFile(uintptr(own), name), nil
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = null.Close() }()
	if in, err = take(0, int(null.Fd()), "standard input"); err == nil {
		out, err = take(1, 2, "standard output")
	}
	return in, out, err
}

// tokenPatience is how long the token is looked for: a network file system may answer from its cache that it is not there.
const tokenPatience = 2 * time.Second

// seesToken returns an error where this host does not see the folder that all hosts are to see.
func seesToken(c wire.WorkerConfig) error {
	path := filepath.Join(c.Scratch, wire.TokenName)
	for until := time.Now().Add(tokenPatience); ; time.Sleep(tokenPatience / 20) {
		b, err := private.ReadFile(path, wire.MaxToken)
		if err == nil && string(b) == c.Token {
			return nil
		}
		if time.Now().After(until) {
			host, _ := os.Hostname() // "" will do
			return &job.Error{Class: job.User, Code: job.CodeIO, Where: c.Scratch, Err: err,
				What: fmt.Sprintf("host %s (%s) does not see this folder, which all hosts have to share", c.Remote.Host.Name, host),
				Do:   "name a folder on a shared file system with --scratch, or leave the host out"}
		}
		_, _ = os.ReadDir(c.Scratch) // has the folder looked at anew
	}
}

// keep writes the worker's keys to a file of this host, and has the config name it. The name is the same for a worker that takes this one's place.
func keep(s *start) (path string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(cache, "berth", "keys")
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", fmt.Errorf("make the folder for keys: %w", err)
	}
	if err := private.Folder(dir); err != nil {
		return "", fmt.Errorf("make the folder for keys: %w", err)
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, s.Config.Scratch) // never fails
	path = filepath.Join(dir, fmt.Sprintf("%s-%016x.pem", strings.ReplaceAll(string(s.Config.Node), "/", "-"), h.Sum64()))
	_ = os.Remove(path) // there is none of an earlier worker, mostly
	f, err := private.Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return "", fmt.Errorf("write the keys: %w", err)
	}
	if _, err := f.Write(s.Bundle); err != nil {
		return "", errors.Join(fmt.Errorf("write the keys: %w", err), f.Close())
	}
	s.Config.Bundle = path
	return path, f.Close()
}

// removeOwn removes the keys, unless they are those of a later worker.
func removeOwn(path string, own []byte) {
	if b, err := os.ReadFile(path); err == nil && bytes.Equal(b, own) {
		_ = os.Remove(path)
	}
}
