package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/renameio/v2"

	"berth/internal/core/job"
	"berth/internal/mapreduce"
)

// index returns the index of a task of a MapReduce job among its maps or reduces.
func (sv *served) index(task int) (job.TaskKind, int) {
	kind := sv.spec.Kind.TaskKind(len(sv.splits), task)
	if kind == job.ReduceTask {
		task -= len(sv.splits)
	}
	return kind, task
}

// part takes one file of what an attempt of a MapReduce job leaves, which is then on the disk. The landing's lock is held.
func (s *Server) part(sv *served, l *landing, at job.Attempt, name string, body io.Reader) (any, error) {
	delete(l.parts, name)
	_, index := sv.index(at.Task)
	file, err := mapreduce.CreateLeft(sv.spec.MapReduce, at, index, name)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, h), body)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name(), errors.Join(err, os.Remove(file.Name())))
	}
	l.parts[name] = true
	return Received{Size: n, Sum: hex.EncodeToString(h.Sum(nil)), Clock: s.clock.now()}, nil
}

// logFile takes what the programs of an attempt of a MapReduce job wrote to their standard error, in place of what it sent before.
func (s *Server) logFile(_ http.ResponseWriter, r *http.Request) (any, error) {
	sv, at, err := s.attempt(r)
	if err != nil {
		return nil, err
	}
	if sv.spec.MapReduce == nil {
		return nil, fmt.Errorf("%s is no MapReduce job, whose attempts have logs", at.Job)
	}
	kind, index := sv.index(at.Task)
	path := filepath.Join(sv.logs, job.TaskName(kind, index)+"."+strconv.Itoa(at.N)+".stderr")
	if err := os.MkdirAll(sv.logs, 0o700); err != nil {
		return nil, err
	}
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Cleanup() }() // does nothing once the file is in place
	if _, err := io.Copy(file, r.Body); err != nil {
		return nil, err
	}
	return struct{}{}, file.CloseAtomicallyReplace()
}

// SendLog sends the file with what the programs of an attempt wrote to their standard error.
func (c *Client) SendLog(ctx context.Context, at job.Attempt, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return err
	}
	a, err := c.request(ctx, http.MethodPut, attemptPath(at)+"/log", io.LimitReader(f, st.Size()), st.Size())
	if err != nil {
		return err
	}
	return a.Body.Close()
}
