package report

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// joblogHeader is the first line of a log of GNU parallel's --joblog.
const joblogHeader = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"

// Joblog writes a bag's attempts in the format of GNU parallel's --joblog (version 20221122,
// print_joblog), so that programs that read the one can read the other. It writes a line in
// one piece when an attempt ends by itself: done, failed or broken. Its methods block as long
// as the write to the file does. It is not safe for concurrent use.
type Joblog struct {
	file *os.File
	have map[joblogKey]struct{} // lines that an earlier coordinator wrote
}

// joblogKey identifies a line: no two attempts of a task start in the same millisecond.
type joblogKey struct {
	seq int64
	ms  int64 // start
}

// CreateJoblog creates an empty log at path, or empties the one there; ContinueJoblog opens it.
// It does nothing if path is no regular file, such as a named pipe: a reader would take the
// close of the pipe for the end of the log.
func CreateJoblog(path string) error {
	if IsStream(path) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { // as for the tasks' output
		return joblogError(path, err)
	}
	l, err := openJoblog(path, os.O_CREATE|os.O_RDWR|os.O_TRUNC)
	if err != nil {
		return err
	}
	return l.Close()
}

// IsStream reports whether path is something that keeps no bytes: a pipe or a device.
func IsStream(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// ContinueJoblog opens the log at path to append to it, or creates it. Attempts that are
// already in it are not written again, so the caller can pass all attempts of a journal when a
// coordinator starts or a job is resumed. An incomplete last line is removed. A pipe or a device
// gets the whole log from the beginning.
//
// It blocks as long as the file system does, and on a named pipe until a process reads from it.
func ContinueJoblog(path string) (*Joblog, error) {
	if IsStream(path) {
		return openJoblog(path, os.O_WRONLY)
	}
	return openJoblog(path, os.O_CREATE|os.O_RDWR|os.O_APPEND)
}

func openJoblog(path string, flags int) (*Joblog, error) {
	f, err := os.OpenFile(path, flags, 0o666)
	if err != nil {
		return nil, joblogError(path, err)
	}
	l := &Joblog{file: f}
	if flags&os.O_RDWR != 0 {
		err = l.load()
	} else {
		_, err = f.WriteString(joblogHeader)
	}
	if err != nil {
		return nil, errors.Join(joblogError(path, err), f.Close())
	}
	return l, nil
}

// load reads the lines of the file, removes an incomplete last line, and writes the header to an empty file.
func (l *Joblog) load() error {
	l.have = map[joblogKey]struct{}{}
	whole, err := l.read()
	if err == nil {
		err = l.file.Truncate(whole)
	}
	if err == nil && whole == 0 {
		_, err = l.file.WriteString(joblogHeader)
	}
	return err
}

// read notes the keys of all lines and returns the length of the complete lines in bytes.
func (l *Joblog) read() (whole int64, err error) {
	r := bufio.NewReaderSize(l.file, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, nil
		}
		if err != nil {
			return 0, err
		}
		whole += int64(len(line))
		if k, ok := parseJoblogKey(line); ok {
			l.have[k] = struct{}{}
		}
	}
}

func parseJoblogKey(line []byte) (joblogKey, bool) {
	fields := bytes.SplitN(line, []byte{'\t'}, 4)
	if len(fields) < 4 {
		return joblogKey{}, false
	}
	seq, errSeq := strconv.ParseInt(string(fields[0]), 10, 64)
	ms, errStart := strconv.ParseInt(strings.Replace(string(fields[2]), ".", "", 1), 10, 64)
	return joblogKey{seq, ms}, errSeq == nil && errStart == nil
}

// Attempt writes the line of an attempt that ended by itself, and ignores others. command is
// the command line of the task as the user would type it.
func (l *Joblog) Attempt(row AttemptRow, command string) error {
	switch row.Outcome {
	case event.Lost.String(), event.Killed.String():
		return nil
	}
	line := joblogLine(row, command)
	if k, ok := parseJoblogKey(line); ok && l.have != nil {
		if _, there := l.have[k]; there {
			delete(l.have, k)
			return nil
		}
	}
	n, err := l.file.Write(line)
	if err == nil {
		return nil
	}
	if st, serr := l.file.Stat(); serr == nil && l.have != nil && n > 0 {
		err = errors.Join(err, l.file.Truncate(st.Size()-int64(n))) // so that the log never ends in the middle of a line
	}
	return joblogError(l.file.Name(), err)
}

// joblogLine formats the line. Start and run time are those of the compute phase. A failure
// without an exit code or a signal gets the exit value −1, as a timeout does in GNU parallel.
// Line ends in the command become NUL.
func joblogLine(row AttemptRow, command string) []byte {
	start, took := row.Started, row.Ended.Sub(row.Started)
	var send, receive int64
	for _, p := range row.Phases {
		switch p.Phase {
		case job.PhaseFetch.String():
			send = p.BytesIn
		case job.PhaseCompute.String():
			start, took, receive = p.Start, p.End.Sub(p.Start), p.BytesOut
		}
	}
	exit := row.Exit
	if row.Outcome != event.Done.String() && exit == 0 && row.Signal == 0 {
		exit = -1
	}
	ms := start.Round(time.Millisecond).UnixMilli()
	return fmt.Appendf(nil, "%d\t%s\t%d.%03d\t%10.3f\t%d\t%d\t%d\t%d\t%s\n",
		row.Task+1, cmp.Or(row.Host, ":"), ms/1000, ms%1000, took.Seconds(), send, receive, exit, row.Signal,
		strings.ReplaceAll(command, "\n", "\x00"))
}

// Removed reports whether the file was removed since it was opened, so that what was written is lost.
func (l *Joblog) Removed() bool {
	_, err := os.Stat(l.file.Name())
	return l.have != nil && errors.Is(err, fs.ErrNotExist)
}

// Close closes the log.
func (l *Joblog) Close() error { return l.file.Close() }

func joblogError(path string, err error) error {
	return job.IOError(job.User, path, "cannot write the joblog", err).Advice("give --joblog a file that can be written")
}
