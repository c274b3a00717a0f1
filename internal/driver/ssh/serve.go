package ssh

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/yamux"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/node/transfer"
	"berth/internal/sys/private"
	"berth/internal/sys/procattr"
	"berth/internal/wire"
)

// Serve runs a worker for a Hold at the other end of standard input and output. It removes both from this process, so that no task gets
// them. run is the worker. Its context ends when Hold asks for it or the connection ends.
func Serve(ctx context.Context, run func(ctx context.Context, c wire.WorkerConfig, t *Tunnel) error) error {
	in, out, err := procattr.DetachStdio()
	if err != nil {
		return fmt.Errorf("detach standard input and output: %w", err)
	}
	if _, err := io.WriteString(out, greeting); err != nil {
		return fmt.Errorf("write the greeting: %w", err)
	}
	session, err := yamux.Server(&ends{in, out, in.Close}, tunnelConfig())
	if err != nil {
		return err
	}
	defer session.Close()
	s, err := receive(session)
	if err != nil {
		return fmt.Errorf("receive the worker's config: %w", err)
	}
	keys, err := storeKeys(&s)
	if err != nil {
		return err
	}
	defer removeOwn(keys, s.Bundle)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &Tunnel{session: session, nodes: newArrivals(s.Config.Node)}
	if !wire.SeesToken(s.Config.Scratch, s.Config.Token) {
		if err := t.useOwnFolders(&s.Config); err != nil {
			return err
		}
	}
	go func() {
		t.attend(cancel)
		removeOwn(keys, s.Bundle) // a later worker may replace this one
		cancel()
	}()
	return run(ctx, s.Config, t)
}

// attend accepts the streams that Hold opens, until the session has ended.
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

// useOwnFolders makes the worker use folders of its host, as the host does not see the folders of the holder's machine.
func (t *Tunnel) useOwnFolders(c *wire.WorkerConfig) error {
	base, err := cacheFolder()
	if err != nil {
		return err
	}
	if named := c.Remote.Scratch; named != "" {
		base = driver.ScratchIn(named)
		if err := private.Folder(base); err != nil {
			return hostError(c, named, "the scratch folder cannot be used on the host", err)
		}
	}
	if t.Cache, err = transfer.OpenCache(filepath.Join(base, "files"), c.Remote.Host.Name); err != nil {
		return hostError(c, base, "files cannot be kept on the host", err)
	}
	c.Scratch = filepath.Join(base, "scratch")
	c.Disk, c.Token, c.Nodes = c.Scratch, "", ""
	t.Files = transfer.NewClient(func(context.Context) (net.Conn, error) { return open(t.session, forFiles) })
	return nil
}

// hostError returns an error about a folder on the host.
func hostError(c *wire.WorkerConfig, dir, what string, err error) error {
	return job.IOError(job.Transient, "host "+c.Remote.Host.Name+", "+dir, what, err).Advice("free space on the host, or name another folder with --scratch")
}

// cacheFolder returns the folder of this host for copies of berth, keys and files. It creates the folder if it is missing.
func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	dir := filepath.Join(cache, "berth")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create the cache folder: %w", err)
	}
	return dir, nil
}

// storeKeys writes the worker's keys to a file of this host and its path to the config. A worker that replaces this one uses the same path.
func storeKeys(s *start) (path string, err error) {
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "keys")
	if err := private.Folder(dir); err != nil {
		return "", fmt.Errorf("create the folder for keys: %w", err)
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, s.Config.Scratch) // never fails
	path = filepath.Join(dir, fmt.Sprintf("%s-%016x.pem", strings.ReplaceAll(string(s.Config.Node), "/", "-"), h.Sum64()))
	_ = os.Remove(path) // usually there is no file of an earlier worker
	if err := private.WriteFile(path, string(s.Bundle)); err != nil {
		return "", fmt.Errorf("write the keys: %w", err)
	}
	s.Config.Bundle = path
	return path, nil
}

// removeOwn removes the keys, unless a later worker has written its own.
func removeOwn(path string, own []byte) {
	if b, err := os.ReadFile(path); err == nil && bytes.Equal(b, own) {
		_ = os.Remove(path)
	}
}
