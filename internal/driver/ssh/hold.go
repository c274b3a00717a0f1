package ssh

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
	"github.com/klauspost/compress/gzip"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// ownProgram is the program of this process, even if its file was replaced or removed.
const ownProgram = "/proc/self/exe"

// copyTime is the longest time for copying the program to a host.
const copyTime = 15 * time.Minute

// Hold runs the worker of a config on the host that the config names, until the worker has ended or ctx ends. When ctx ends, the worker has killAfter to report to the
// coordinator how its tasks ended. If the host does not see the job's folder, files serves the worker's requests for files. Errors name the host.
func Hold(ctx context.Context, c wire.WorkerConfig, files http.Handler, log *slog.Logger) error {
	name, err := ownName()
	if err != nil {
		return err
	}
	m, err := examine(ctx, c.Remote, name, "")
	if err != nil {
		return err
	}
	if !m.has {
		log.Info("copying berth to the host", "host", c.Remote.Host.Name)
		if err := install(ctx, c.Remote, name); err != nil {
			return err
		}
	}
	has := m.capacity(c.Remote.Host)
	c.Capacity.CPUs, c.Capacity.GPUs, c.Capacity.GPUType = has.CPUs, has.GPUs, has.GPUType
	if c.Capacity.Mem == 0 || c.Capacity.Mem > m.mem {
		c.Capacity.Mem = m.mem
	}
	c.SortMemory = min(c.SortMemory, c.Capacity.Mem/2)
	h := &holder{config: c, files: files, log: log}
	return h.run(ctx, name)
}

// ownName returns the name of this program's copy on hosts. It contains a hash of the program.
func ownName() (string, error) {
	f, err := os.Open(ownProgram)
	if err != nil {
		return "", fmt.Errorf("open berth's own program: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("read berth's own program: %w", err)
	}
	return fmt.Sprintf("berth-%x", sum.Sum(nil)), nil
}

// install copies the program to a host. The copy appears there complete or not at all. Copies that were not changed for a month are removed.
// It is compressed here, as ssh's own compression (-C) takes three times the processor time for the whole copy.
func install(ctx context.Context, r *wire.Remote, name string) error {
	ctx, cancel := context.WithTimeout(ctx, copyTime)
	defer cancel()
	f, err := os.Open(ownProgram)
	if err != nil {
		return fmt.Errorf("open berth's own program: %w", err)
	}
	defer f.Close()
	sum := strings.TrimPrefix(name, "berth-")
	script := `d="` + cacheText + `"; umask 077; mkdir -p "$d" && t=$(mktemp "$d/new.XXXXXX") || exit; trap "rm -f \"$t\"" EXIT; gzip -dc >"$t" || exit; ` +
		`s=$(sha256sum <"$t"); [ "${s%% *}" = ` + sum + ` ] || { echo "the copy of berth is damaged" >&2; exit 1; }; ` +
		`find "$d" -name "berth-*" -type f -mtime +30 -exec rm -f {} +; chmod 700 "$t" && mv "$t" "$d/` + name + `"`
	cmd := command(ctx, r, script)
	var errs strings.Builder
	packed := compressed(f)
	defer packed.Close()
	cmd.Stdin, cmd.Stderr = packed, &errs
	if err := cmd.Run(); err != nil {
		return unreached(r, err, errs.String())
	}
	return nil
}

// compressed returns what gzip -dc makes r of. It must be closed.
func compressed(r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		large := bufio.NewWriterSize(in, 1<<16) // ssh sends a packet for each write, and gzip writes 240 bytes at a time
		w, err := gzip.NewWriterLevel(large, gzip.BestSpeed)
		if err == nil {
			_, err = io.Copy(w, r)
			err = errors.Join(err, w.Close(), large.Flush())
		}
		in.CloseWithError(err) // nil: the end
	}()
	return out
}

// holder holds the connection to one worker.
type holder struct {
	config wire.WorkerConfig
	files  http.Handler
	log    *slog.Logger
	met    sync.Once
}

// run runs the worker with the host's copy of this program.
func (h *holder) run(ctx context.Context, name string) error {
	bundle, err := os.ReadFile(h.config.Bundle)
	if err != nil {
		return job.IOError(job.Fatal, h.config.Bundle, "cannot read the worker's keys", err)
	}
	living, end := context.WithCancel(context.Background())
	defer end()
	stderr := &tail{to: os.Stderr}
	cmd := command(living, h.config.Remote, `exec "`+cacheText+`/`+name+`" worker --stdio`)
	cmd.Stderr = stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return unreached(h.config.Remote, err, "")
	}
	serveErr := h.serve(ctx, in, out, bundle)
	return h.ended(cmd, end, serveErr, stderr)
}

// serve exchanges streams with the worker's end until the connection ends.
func (h *holder) serve(ctx context.Context, in io.WriteCloser, out io.ReadCloser, bundle []byte) error {
	asked := time.AfterFunc(2*connectTime, func() { _ = out.Close() })
	r := bufio.NewReader(out)
	if err := awaitGreeting(r); err != nil {
		_ = in.Close()
		return err
	}
	asked.Stop()
	session, err := yamux.Client(&ends{r, in, out.Close}, tunnelConfig())
	if err != nil {
		return err
	}
	defer session.Close()
	if err := h.meet(session); err != nil {
		return err
	}
	if err := send(session, start{Config: h.config, Bundle: bundle}); err != nil {
		return err
	}
	h.log.Info("the worker was started", "host", h.config.Remote.Host.Name)
	stop := context.AfterFunc(ctx, func() {
		_, _ = open(session, forEnd) // on an error the session has ended, and the worker ends with it
		time.AfterFunc(killAfter, func() { _ = session.Close() })
	})
	defer stop()
	h.attend(session)
	return nil // the program's status says how the worker ended
}

// attend accepts the streams that the worker opens, until the session has ended.
func (h *holder) attend(session *yamux.Session) {
	l := newArrivals(h.config.Node)
	defer l.Close()
	server := &http.Server{Handler: h.files, ReadHeaderTimeout: 2 * connectTime, ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelDebug)}
	go func() { _ = server.Serve(l) }() // until l is closed
	defer server.Close()
	for {
		stream, err := session.AcceptStream()
		if err != nil {
			return
		}
		go h.handle(session, stream, l)
	}
}

// handle handles a stream of the worker according to its purpose.
func (h *holder) handle(session *yamux.Session, stream net.Conn, files *arrivals) {
	purpose, err := purposeOf(stream)
	if err == nil && purpose == forFiles {
		files.put(stream) // the HTTP server closes it
		return
	}
	defer stream.Close()
	if err != nil {
		return
	}
	if addr, is := strings.CutPrefix(purpose, forNode); is {
		h.reach(stream, addr)
	} else if purpose == forCoordinator {
		h.pass(session, stream)
	}
}

// pass passes a connection of the worker on to the coordinator, at the coordinator's present address.
func (h *holder) pass(session *yamux.Session, stream net.Conn) {
	b, err := wire.LoadBundle(h.config.Bundle)
	if err != nil {
		if _, serr := os.Stat(h.config.Bundle); errors.Is(serr, fs.ErrNotExist) {
			h.log.Info("the worker's keys were removed, so its allocation has ended")
			_ = session.Close()
		}
		return
	}
	h.met.Do(h.up)
	for _, addr := range b.Addrs {
		c, err := wire.Reach(context.Background(), addr)
		if err != nil {
			h.log.Debug("coordinator not reached", "addr", addr, "err", err)
			continue
		}
		join(c, stream)
		return
	}
}

// up records that the worker is up.
func (h *holder) up() {
	if path := h.config.Remote.Up; path != "" {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			h.log.Warn("cannot record that the worker is up", "err", err)
		}
	}
}

// ended waits for the program that reached the host. It returns an error unless the worker ended normally.
func (h *holder) ended(cmd *exec.Cmd, kill func(), serveErr error, stderr *tail) error {
	timer := time.AfterFunc(killAfter, kill)
	defer timer.Stop()
	err := cmd.Wait()
	if err == nil && serveErr == nil {
		return nil
	}
	return unreached(h.config.Remote, errors.Join(err, serveErr), stderr.String())
}

// tail passes on what is written to it, and keeps the end.
type tail struct {
	to io.Writer

	mu  sync.Mutex
	end []byte
}

// maxTail is the number of bytes that are kept.
const maxTail = 4 << 10

// Write writes all of p and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.end = append(t.end, p...)
	t.end = t.end[max(0, len(t.end)-maxTail):]
	t.mu.Unlock()
	_, _ = t.to.Write(p) // a log that cannot be written does not end the worker
	return len(p), nil
}

// String returns the end of what was written.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.end)
}
