package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/yamux"
	"golang.org/x/sys/unix"

	"berth/internal/driver"
	"berth/internal/job"
	"berth/internal/private"
	"berth/internal/transfer"
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
	keys, err := keep(&s)
	if err != nil {
		return err
	}
	defer removeOwn(keys, s.Bundle)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &Tunnel{session: session, nodes: newArrivals(s.Config.Node)}
	if !seesToken(s.Config) {
		if err := t.apart(&s.Config); err != nil {
			return err
		}
	}
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

// apart readies a worker whose host does not see the folders of the machine from which it is held: it works in folders of the host's own.
func (t *Tunnel) apart(c *wire.WorkerConfig) error {
	base, err := cacheFolder()
	if err != nil {
		return err
	}
	if named := c.Remote.Scratch; named != "" {
		base = driver.ScratchIn(named)
		if err := private.Folder(base); err != nil {
			return hostError(c, named, "the scratch folder cannot be used there", err)
		}
	}
	if t.Cache, err = transfer.OpenCache(filepath.Join(base, "files"), c.Remote.Host.Name); err != nil {
		return hostError(c, base, "files cannot be kept there", err)
	}
	c.Scratch = filepath.Join(base, "scratch")
	c.Disk, c.Token, c.Nodes = c.Scratch, "", ""
	t.Files = transfer.NewClient(func(context.Context) (net.Conn, error) { return open(t.session, forFiles) })
	return nil
}

// hostError is about a folder of the host's.
func hostError(c *wire.WorkerConfig, dir, what string, err error) error {
	return &job.Error{Class: job.Transient, Code: job.CodeIO, Where: "host " + c.Remote.Host.Name + ", " + dir, What: what, Err: err, Do: "make room there, or name another folder with --scratch"}
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

// seesToken reports whether this host sees the allocation's folder, and so the file system of the machine from which the worker is held.
func seesToken(c wire.WorkerConfig) bool {
	path := filepath.Join(c.Scratch, wire.TokenName)
	for until := time.Now().Add(tokenPatience); ; time.Sleep(tokenPatience / 20) {
		b, err := private.ReadFile(path, wire.MaxToken)
		if err == nil && string(b) == c.Token {
			return true
		}
		if time.Now().After(until) {
			return false
		}
		_, _ = os.ReadDir(c.Scratch) // has the folder looked at anew
	}
}

// cacheFolder returns the folder of this host in which berth keeps copies of itself, keys and files, made if it is missing.
func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(cache, "berth")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	return dir, nil
}

// keep writes the worker's keys to a file of this host, and has the config name it. The name is the same for a worker that takes this one's place.
func keep(s *start) (path string, err error) {
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "keys")
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
