package process

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"berth/internal/job"
	"berth/internal/probe"
)

// maxLine bounds what is kept of a line of standard error before it is passed on in pieces.
const maxLine = 64 << 10

// maxLog bounds the log file of an attempt, bytes: a program that floods its standard
// error must not fill the disk that the journals are on.
const maxLog = 256 << 20

// ReportPrefix begins the lines of standard error that report to berth
// (stream.stderr.reporter.prefix in Hadoop Streaming).
const ReportPrefix = "reporter:"

// Log takes the standard error of a streaming task's programs, line by line:
// reports go to the meter, everything else to the task's log file, which is made
// at the first line for it.
type Log struct {
	Path   string
	Prefix string
	Meter  *probe.Meter
	Count  func(group, name string, n int64) // takes what reporter:counter lines tell
	limit  int64                             // bytes of the file; 0: maxLog

	mu     sync.Mutex
	file   *os.File
	size   int64  // of the file
	failed error  // the log file cannot be written: its text is dropped, the task goes on
	tail   []byte // the end of what went to the log
}

// stream is one program's standard error; whole lines of several are kept apart.
type stream struct {
	log     *Log
	line    []byte
	partial bool   // the line's begin was passed on already
	out     []byte // to be written to the log
}

// Stream returns what takes the text of one program.
func (l *Log) Stream() io.Writer { return &stream{log: l} }

// Write takes text as it comes. It never fails: a task is not stopped for its log.
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.line = append(s.line, p...)
			if len(s.line) >= maxLine {
				s.pass(false)
			}
			break
		}
		s.line = append(s.line, p[:i+1]...)
		s.pass(true)
		p = p[i+1:]
	}
	s.emit()
	return n, nil
}

// flush passes on a last line without an end.
func (s *stream) flush() {
	if len(s.line) > 0 {
		s.line = append(s.line, '\n')
		s.pass(true)
		s.emit()
	}
}

// pass hands what was gathered on; whole says that it ends with the line.
func (s *stream) pass(whole bool) {
	if s.partial || !whole || !s.log.report(s.line) {
		s.out = append(s.out, s.line...)
	}
	s.partial = !whole
	s.line = s.line[:0]
}

// emit writes what is for the log at once: a write for each line would take most of
// the time of a program that says much.
func (s *stream) emit() {
	if len(s.out) > 0 {
		s.log.write(s.out)
		s.out = s.out[:0]
	}
}

// report takes "reporter:counter:GROUP,COUNTER,AMOUNT" and "reporter:status:TEXT"
// (Hadoop Streaming, PipeMapRed.MRErrorThread), and says whether the line was one.
// A line that begins like one and is none goes to the log, as there.
func (l *Log) report(text []byte) bool {
	if len(text) < len(l.Prefix) || string(text[:len(l.Prefix)]) != l.Prefix {
		return false
	}
	rest := string(bytes.TrimRight(text[len(l.Prefix):], "\r\n"))
	if status, ok := strings.CutPrefix(rest, "status:"); ok {
		l.Meter.Status(OneLine(status))
		return true
	}
	counter, ok := strings.CutPrefix(rest, "counter:")
	if !ok {
		return false
	}
	columns := strings.Split(strings.TrimSpace(counter), ",")
	if len(columns) != 3 {
		return false
	}
	n, err := strconv.ParseInt(columns[2], 10, 64)
	if err != nil {
		return false
	}
	l.Count(columns[0], columns[1], n)
	return true
}

// write adds to the log file.
func (l *Log) write(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, text...)
	if n := len(l.tail); n > 4*tailBytes {
		l.tail = append(l.tail[:0], l.tail[n-2*tailBytes:]...)
	}
	if l.failed != nil {
		return
	}
	if l.file == nil {
		l.file, l.failed = createLog(l.Path)
	}
	if l.failed == nil && l.size < cmp.Or(l.limit, maxLog) {
		l.failed = l.keep(text)
	}
}

// keep writes text to the file; what goes beyond the limit is cut off, and told.
func (l *Log) keep(text []byte) error {
	if left := cmp.Or(l.limit, maxLog) - l.size; int64(len(text)) > left {
		text = fmt.Appendf(text[:left:left], "\n[berth: cut off here, at %s]\n", job.FormatSize(l.size+left))
	}
	n, err := l.file.Write(text)
	l.size += int64(n)
	return err
}

// createLog makes a log file of mode 0600, as tasks may print what others must not read.
func createLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// Close ends the log and returns its last lines, and what went wrong with its file.
func (l *Log) Close() (tail string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.failed
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	if err != nil {
		err = fmt.Errorf("log of a task: %w", err)
	}
	return LastLines(string(l.tail)), err
}
